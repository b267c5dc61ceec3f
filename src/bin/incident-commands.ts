/** The operator's tools for what has to be looked at: the list, and the word that something has been. */
import type { Command } from 'commander'
import { endIncidents, type Incident, listIncidents } from '../storage/work/incidents.ts'
import { noteCommand } from './acting.ts'
import { systemClock } from './clock.ts'
import { ConfigError } from './config.ts'
import { type Output, readId, readWhole, say, sayList, tool, utcOf, withPlatform } from './tool.ts'

/** Adds incidents list and end. */
export function addIncidentCommands(incidents: Command): void {
  tool(incidents, 'list', 'those that nobody has ended, the newest first')
    .option('--limit <n>', 'how many', (text) => readWhole('--limit', text, 1), 50)
    .option('--all', 'also those that have been ended')
    .action(list)
  tool(incidents, 'end <incidentId>', 'it was looked at')
    .option('--and-before', 'and all of smaller numbers with it')
    .action(end)
}

const list = ({ limit, all = false, ...output }: Output & { limit: number; all?: boolean }): Promise<void> =>
  withPlatform(async (db) => {
    const found = await listIncidents(db.read, { limit, withEnded: all })
    sayList(output, { incidents: found.map(factsOf) }, found.map(lineOf), 'Nothing to look at.')
  })

const factsOf = ({ id, kind, detail, occurredAt, endedAt }: Incident): object => ({
  id,
  kind,
  occurredUtc: utcOf(occurredAt),
  detail,
  ...(endedAt !== null && { endedUtc: utcOf(endedAt) }),
})

const lineOf = ({ id, kind, detail, occurredAt, endedAt }: Incident): string =>
  `${id}  ${utcOf(occurredAt)}  ${kind}${endedAt === null ? '' : ' (ended)'}  ${JSON.stringify(detail)}`

const end = (
  text: string,
  { andBefore = false, ...output }: Output & { andBefore?: boolean },
): Promise<void> =>
  withPlatform(async (db) => {
    const order = { id: readId(text), andBefore, now: systemClock.now() }
    const ended = await db.transaction(async (tx) => {
      const ids = await endIncidents(tx, order)
      if (ids.length === 0) throw new ConfigError(`no incident ${text} waits to be looked at`)
      await noteCommand(tx, ...ids.map((id) => `incident ${id}`))
      return ids
    })
    say(
      output,
      { ended },
      ended.map((id) => `Incident ${id} is ended.`),
    )
  })
