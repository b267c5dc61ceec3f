/** The operator's answer to whoever asks why an account got an order, or got none. */
import type { Command } from 'commander'
import { clientOrderId } from '../domain/orders/client-order-id.ts'
import {
  type DecidedOrder,
  type DecidedSignal,
  type Decision,
  findDecidedSignal,
  listOwnDecisions,
  listSignalDecisions,
} from '../storage/mirror/decisions.ts'
import { type Config, ConfigError } from './config.ts'
import { environments } from './environment.ts'
import { deedOf, type Output, readId, readWords, say, tool, utcOf, withPlatform } from './tool.ts'

interface Wish extends Output {
  account?: string
}

/** Adds orders why. */
export function addReasonCommand(orders: Command): void {
  tool(
    orders,
    'why <signalId>',
    'who got an order from a signal and who got none, with the numbers behind it',
  )
    .option('--account <number>', 'of this account alone')
    .action(explain)
}

const explain = (id: string, { account, ...output }: Wish): Promise<void> =>
  withPlatform(async (db, config) => {
    const signalId = readId(id)
    const among = account === undefined ? null : readWords('--account', account)
    const signal = await findDecidedSignal(db.read, signalId)
    const decisions = signal
      ? await listSignalDecisions(db.read, signalId, among)
      : await listOwnDecisions(db.read, signalId, among)
    if (!signal && decisions.length === 0) {
      const whose = among === null ? '' : ` for account ${among}`
      throw new ConfigError(`nothing is listed under the number ${id}${whose}`)
    }
    const facts = decisions.map(({ decidedAt, order, ...decision }) => ({
      ...decision,
      decidedUtc: utcOf(decidedAt),
      order: order && { clientOrderId: idOf(config, decision, order), ...order },
    }))
    const lines = decisions.map((decision) => lineOf(config, decision))
    say(
      output,
      { signal: signal ? factsOf(signal) : null, decisions: facts },
      signal ? [headOf(signal), ...lines, ...restOf(signal, decisions, among)] : lines,
    )
  })

const idOf = (
  config: Config,
  { setupId }: Pick<Decision, 'setupId'>,
  { source, sourceId, revision }: DecidedOrder,
): string => clientOrderId({ environment: environments(config).orders, setupId, source, sourceId, revision })

const factsOf = ({ postedAt, ...signal }: DecidedSignal): object => ({
  ...signal,
  postedUtc: utcOf(postedAt),
})

const types = { '1': 'at the market', '2': 'limit', '3': 'stop' }
const outcome = (status: string, filled: string, price: string | null, note: string | null): string =>
  `status ${status}, ${filled} filled${price === null ? '' : ` at ${price}`}${note === null ? '' : ` (${note})`}`

const headOf = (signal: DecidedSignal): string =>
  [
    `Signal ${signal.id} of strategy ${signal.strategyId}, ${utcOf(signal.postedAt)}`,
    signal.requestId === null ? '' : `, request ${signal.requestId}`,
    `: ${deedOf(signal.side)} ${signal.quantity} ${signal.symbol} ${types[signal.type]}`,
    ...[signal.limit, signal.stop].map((price) => (price === null ? '' : ` ${price}`)),
    `; ${outcome(signal.status, signal.filled, signal.averagePrice, signal.note)}`,
  ].join('')

/** What was done, and behind it what that was decided from. */
function lineOf(config: Config, decision: Decision): string {
  const { order, limit, referencePrice, reason } = decision
  const what = order
    ? `${deedOf(order.side)} ${order.quantity} ${order.symbol} as ${idOf(config, decision, order)}, ${outcome(order.status, order.filled, order.averagePrice, order.note)}${reason === null ? '' : `, ${reason}`}`
    : `no order, ${reason}`
  const numbers = [
    `the strategy to hold ${decision.strategyQuantity}`,
    `${decision.scalingPercentage} % of it`,
    `${decision.held} held`,
    ...(limit === null ? [] : [`a limit of ${limit}`]),
    ...(referencePrice === null ? [] : [`a price of ${referencePrice}`]),
  ]
  return `${decision.account} at broker ${decision.brokerId}: ${what}; from ${numbers.join(', ')}`
}

/** What has to be said of those that are not there. */
function restOf(signal: DecidedSignal, decisions: readonly Decision[], account: string | null): string[] {
  if (!signal.isDecided) return ['Not all of its followers are decided on yet.']
  if (decisions.length > 0) return []
  return [account === null ? 'Nobody followed it.' : `Account ${account} did not follow it.`]
}
