/** The operator's tools for requests that wait for their broker: what it has enabled, and what it has refused. */
import type { Command } from 'commander'
import { settleAtBroker } from '../operations/approvals.ts'
import { listAwaitingBroker } from '../storage/mirror/approvals.ts'
import { ConfigError } from './config.ts'
import { type Output, readWords, say, sayList, tableOf, tool, utcOf, withPlatform } from './tool.ts'

/** Adds approvals list, complete and fail. */
export function addApprovalCommands(approvals: Command): void {
  tool(approvals, 'list', 'requests that wait for their broker').action((output: Output) =>
    withPlatform(async (db) => {
      const waiting = (await listAwaitingBroker(db.read)).map((row) => ({
        requestId: row.id,
        account: row.account,
        broker: row.brokerName,
        personId: row.personId,
        strategyId: row.strategyId,
        askedUtc: utcOf(row.createdAt),
      }))
      const lines = tableOf(
        waiting.map((row) => ({
          request: row.requestId,
          account: row.account,
          broker: row.broker,
          person: row.personId,
          strategy: row.strategyId,
          asked: row.askedUtc,
        })),
      )
      sayList(output, { waiting }, lines, 'Nothing waits for a broker.')
    }),
  )
  tool(approvals, 'complete <requestId>', 'the broker has enabled the account: trading starts').action(
    (requestId: string, output: Output) => settle(requestId, { isEnabled: true }, output),
  )
  tool(approvals, 'fail <requestId>', 'the broker has refused')
    .requiredOption('--reason <text>', 'what the customer is told')
    .action((requestId: string, options: Output & { reason: string }) =>
      settle(requestId, { isEnabled: false, reason: readWords('--reason', options.reason) }, options),
    )
}

const settle = (
  requestId: string,
  word: Parameters<typeof settleAtBroker>[2],
  output: Output,
): Promise<void> =>
  withPlatform(async (db) => {
    const settled = await settleAtBroker(db, requestId, word, Date.now())
    if (!settled) throw new ConfigError(`no request ${requestId} waits for its broker`)
    say(output, { settled: requestId }, `Request ${requestId} is settled.`)
  })
