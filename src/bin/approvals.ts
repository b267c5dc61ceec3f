/** The operator's part with brokers: which there are, what they ask for, and what they have enabled. */
import type { Command } from 'commander'
import { settleAtBroker } from '../operations/approvals.ts'
import { listAwaitingBroker } from '../storage/approvals.ts'
import type { Database } from '../storage/database.ts'
import { requestFixReset } from '../storage/fix-sessions.ts'
import { changeBroker, insertLiveBroker } from '../storage/provision.ts'
import { markAccounts } from '../storage/sync-due.ts'
import { kindOf } from './brokers.ts'
import { systemClock } from './clock.ts'
import { type Config, ConfigError } from './config.ts'
import { readBrokerId, readWords, utcOf } from './tool.ts'

interface Output {
  json?: boolean
}

/** How the tools of the command line run and speak. */
export interface Tools {
  tool(parent: Command, name: string, says: string): Command
  withDatabase(work: (db: Database, config: Config) => Promise<void>): Promise<void>
  say(output: Output, facts: object, text: string | readonly string[]): void
}

/** Adds approvals list, complete and fail. */
export function addApprovalCommands({ tool, withDatabase, say }: Tools, approvals: Command): void {
  tool(approvals, 'list', 'requests that wait for their broker').action((output: Output) =>
    withDatabase(async (db) => {
      const waiting = (await listAwaitingBroker(db.read)).map((row) => ({
        ...{ requestId: row.id, account: row.account, broker: row.brokerName, personId: row.personId },
        ...{ strategyId: row.strategyId, askedUtc: utcOf(row.createdAt) },
      }))
      const lines = waiting.map((row) => Object.values(row).join('  '))
      say(output, { waiting }, lines.length === 0 ? 'Nothing waits for a broker.' : lines)
    }),
  )
  tool(approvals, 'complete <requestId>', 'the broker has enabled the account: trading starts').action(
    (requestId: string, output: Output) => settle(requestId, { isEnabled: true }, output),
  )
  tool(approvals, 'fail <requestId>', 'the broker has refused')
    .requiredOption('--reason <text>', 'what the customer is told')
    .action((requestId: string, options: Output & { reason: string }) =>
      settle(requestId, { isEnabled: false, reason: options.reason }, options),
    )

  const settle = (requestId: string, word: Parameters<typeof settleAtBroker>[2], output: Output) =>
    withDatabase(async (db) => {
      const settled = await settleAtBroker(db, requestId, word, Date.now())
      if (!settled) throw new ConfigError(`no request ${requestId} waits for its broker`)
      say(output, { settled: requestId }, `Request ${requestId} is settled.`)
    })
}

const onOff = (text: string): boolean => {
  if (text !== 'on' && text !== 'off') throw new ConfigError('say on or off')
  return text === 'on'
}

/** Adds brokers create, restart-session and set. */
export function addBrokerCommands({ tool, withDatabase, say }: Tools, brokers: Command): void {
  tool(brokers, 'create <name>', 'add a broker that a connection of LOCKSTEP_BROKERS leads to')
    .requiredOption('--connection <name>', 'which of them')
    .action((name: string, { connection, ...output }: Output & { connection: string }) =>
      withDatabase(async (db, config) => {
        const needsCredentials = kindOf(config, connection).signsInAsCustomers
        const called = { name: readWords('the name', name), connectionName: connection, adapter: connection }
        const brokerId = await insertLiveBroker(db.write, { ...called, needsCredentials })
        if (brokerId === undefined) throw new ConfigError(`there is a broker named ${name} already`)
        say(output, { brokerId }, `Broker ${brokerId} is ${name}.`)
      }),
    )
  tool(
    brokers,
    'restart-session <connection>',
    'let both sides of a FIX session count anew from the next log-on',
  ).action((connection: string, output: Output) =>
    withDatabase(async (db) => {
      if (!(await requestFixReset(db.write, connection)))
        throw new ConfigError(`there is no FIX session ${connection}`)
      say(output, { connection }, `${connection} begins anew at its next log-on.`)
    }),
  )
  tool(brokers, 'set <brokerId>', 'change what a broker asks for')
    .option('--authorization <on|off>', 'it enables accounts one by one', onOff)
    .option('--credentials <on|off>', 'it signs in as its customers', onOff)
    .option('--enabled <on|off>', 'Autotrade may use it', onOff)
    .action(
      (
        brokerId: string,
        options: Output & { authorization?: boolean; credentials?: boolean; enabled?: boolean },
      ) =>
        withDatabase(async (db) => {
          const { authorization, credentials, enabled } = options
          const wanted = {
            needsAuthorization: authorization,
            needsCredentials: credentials,
            isEnabled: enabled,
          }
          const id = readBrokerId(brokerId)
          if ((await changeBroker(db.write, id, wanted)) === 0)
            throw new ConfigError(`there is no broker ${brokerId}`)
          if (enabled) await markAccounts(db, systemClock.now(), id)
          say(options, { changed: Number(brokerId) }, `Broker ${brokerId} is changed.`)
        }),
    )
}
