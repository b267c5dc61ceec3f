/** The operator's tools for brokers: which there are, what they ask for, and sessions that begin anew. */
import type { Command } from 'commander'
import { requestFixReset } from '../storage/brokers/fix-sessions.ts'
import { markAccounts } from '../storage/mirror/sync-due.ts'
import { changeBroker, insertLiveBroker } from '../storage/operating/provision.ts'
import { kindOf } from './brokers.ts'
import { ConfigError } from './config.ts'
import {
  type Output,
  onOrOff,
  readBrokerId,
  readChanges,
  readWords,
  say,
  tool,
  withDatabase,
  withPlatform,
} from './tool.ts'

/** Adds brokers create, restart-session and set. */
export function addBrokerCommands(brokers: Command): void {
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
    withPlatform(async (db) => {
      if (!(await requestFixReset(db.write, connection)))
        throw new ConfigError(`there is no FIX session ${connection}`)
      say(output, { connection }, `${connection} begins anew at its next log-on.`)
    }),
  )
  tool(brokers, 'set <brokerId>', 'change what a broker asks for')
    .option('--authorization <onOrOff>', 'it enables accounts one by one')
    .option('--credentials <onOrOff>', 'it signs in as its customers')
    .option('--enabled <onOrOff>', 'Autotrade may use it')
    .action((brokerId: string, options: BrokerOptions) => setBroker(readBrokerId(brokerId), options))
}

interface BrokerOptions extends Output {
  authorization?: string
  credentials?: string
  enabled?: string
}

async function setBroker(
  id: number,
  { authorization, credentials, enabled, ...output }: BrokerOptions,
): Promise<void> {
  const wanted = readChanges({
    needsAuthorization: onOrOff('--authorization', authorization),
    needsCredentials: onOrOff('--credentials', credentials),
    isEnabled: onOrOff('--enabled', enabled),
  })
  await withPlatform(async (db) => {
    const now = Date.now()
    if ((await changeBroker(db.write, id, wanted, now)) === 0)
      throw new ConfigError(`there is no broker ${id}`)
    if (wanted.isEnabled) await markAccounts(db, now, id)
    say(output, { changed: id }, `Broker ${id} is changed.`)
  })
}
