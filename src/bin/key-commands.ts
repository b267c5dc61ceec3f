/** The operator's tools for access keys: issued once, with limits and in a form of their own where that is asked for. */
import type { Command } from 'commander'
import { dayLength } from '../domain/time.ts'
import { isRefused, type Refused } from '../operations/context.ts'
import { issueKey } from '../operations/keys.ts'
import { readWindows } from '../operations/limits.ts'
import { findTenant } from '../storage/people/access.ts'
import { deleteKey, listLivingKeys } from '../storage/people/keys.ts'
import { ConfigError } from './config.ts'
import { environments } from './environment.ts'
import { openSecrets } from './secrets.ts'
import { type Output, readId, readWhole, say, sayList, tool, utcOf, withPlatform } from './tool.ts'

interface IssueOptions extends Output {
  person: number
  comment: string
  days: number
  limits?: Record<string, number>
  uuid?: boolean
}

/** Adds keys issue, list and revoke. */
export function addKeyCommands(keys: Command): void {
  tool(keys, 'issue', 'issue a key; it is shown once')
    .requiredOption('--person <id>', 'whose key it is', readId)
    .option('--comment <text>', 'what it is for', '')
    .option('--days <n>', 'how long it lives', (text) => readWhole('--days', text, 1, 36_500), 365)
    .option(
      '--limits <list>',
      "seconds and calls in them, as 10:100,3600:3000; the platform's without it; those of its address hold as well",
      readLimits,
    )
    .option('--uuid', 'in the form of older programs; only hosts of the compat dialect take it')
    .action(issue)
  tool(keys, 'list', 'the living keys of a person, the oldest first')
    .requiredOption('--person <id>', 'whose keys', readId)
    .action(list)
  tool(keys, 'revoke <keyId>', 'end a key; every process refuses it within a second').action(
    (keyId: string, output: Output) =>
      withPlatform(async (db) => {
        const revoked = await deleteKey(db.write, keyId, Date.now())
        if (!revoked) throw new ConfigError(`there is no living key ${keyId}`)
        say(output, { revoked: keyId }, `Key ${keyId} is revoked.`)
      }),
  )
}

const issue = ({ person, comment, days, limits, uuid, ...output }: IssueOptions): Promise<void> =>
  withPlatform(async (db, config) => {
    const now = Date.now()
    const life = { now, expiresAt: now + days * dayLength }
    const special = { ...(limits && { limits }), ...(uuid && { form: 'uuid' as const }) }
    const order = {
      personId: person,
      keyEnvironment: environments(config).keys,
      comment,
      ...life,
      ...special,
    }
    const secrets = await openSecrets(config, db)
    const issued = await db.transaction((tx) => issueKey(tx, secrets, order))
    if (isRefused(issued)) throw new ConfigError(whyNot(issued, person))
    say(output, { key: issued.key, keyId: issued.keyId }, issued.key)
  })

/** A person whose keys are lost gets one when another is revoked, and it has to be found for that. */
const whyNot = ({ message }: Refused, person: number): string =>
  message === undefined
    ? `there is no living person ${person}`
    : `${message}: "keys list --person ${person}" shows them, "keys revoke" ends one`

const list = ({ person, ...output }: Output & { person: number }): Promise<void> =>
  withPlatform(async (db) => {
    if (!(await findTenant(db.read, person))) throw new ConfigError(`there is no living person ${person}`)
    const keys = (await listLivingKeys(db.read, person, Date.now())).map(
      ({ createdAt, expiresAt, ...key }) => ({
        ...key,
        createdUtc: utcOf(createdAt),
        expiresUtc: utcOf(expiresAt),
      }),
    )
    const lines = keys.map((key) =>
      `${key.keyId}  ${key.createdUtc} to ${key.expiresUtc}  ${key.comment}`.trim(),
    )
    sayList(output, { keys }, lines, `Person ${person} has no living key.`)
  })

/** Seconds to calls in them. Throws ConfigError. */
function readLimits(text: string): Record<string, number> {
  const windows = readWindows(text)
  if (typeof windows === 'string') throw new ConfigError(`--limits: ${windows}`)
  return Object.fromEntries(windows.map(({ seconds, limit }) => [seconds, limit]))
}
