/** The operator's tools for orders that wait for a word: their account holder's, or the operator's own. */
import type { Command } from 'commander'
import { type Decimal, dec } from '../domain/decimal.ts'
import { readGapWords } from '../domain/orders/order-gap.ts'
import type { NotSettled } from '../domain/orders/order-settlement.ts'
import { settleOrder } from '../execution/reports/settle-order.ts'
import { type DifferingOrder, listDifferingOrders } from '../storage/brokers/sent-orders.ts'
import {
  confirmOrder,
  declineOrder,
  listWaitingOrders,
  type WaitingOrder,
} from '../storage/mirror/order-confirmations.ts'
import { noteCommand } from './acting.ts'
import { systemClock } from './clock.ts'
import { ConfigError } from './config.ts'
import { environments } from './environment.ts'
import { addReasonCommand } from './order-reasons.ts'
import { deedOf, type Output, readId, say, sayList, tool, utcOf, withPlatform } from './tool.ts'

/** Adds orders waiting, confirm, decline, differing, settle and why. */
export function addOrderCommands(orders: Command): void {
  tool(orders, 'waiting', 'what account holders are to confirm').action((output: Output) =>
    withPlatform(async (db) => {
      const waiting = await listWaitingOrders(db.read, systemClock.now())
      const facts = waiting.map(({ confirmBy, ...order }) => ({ ...order, confirmByUtc: utcOf(confirmBy) }))
      sayList(output, { waiting: facts }, waiting.map(lineOf), 'No order waits.')
    }),
  )
  tool(orders, 'confirm <orderId>', 'its holder says yes: it is sent').action((id: string, output: Output) =>
    decide(id, confirmOrder, output, 'confirmed'),
  )
  tool(orders, 'decline <orderId>', 'its holder says no: it ends').action((id: string, output: Output) =>
    decide(id, declineOrder, output, 'declined'),
  )
  tool(orders, 'differing', 'whose broker and we disagree, and no rule decides').action(listDiffering)
  tool(orders, 'settle <orderId>', 'it works no more at its broker: ends it as the broker has it')
    .option('--executed <quantity>', 'what it executed in all, under its own id, in the units of today')
    .option('--average <price>', 'at what average price, where that is more than is booked')
    .action(settle)
  addReasonCommand(orders)
}

const lineOf = (order: WaitingOrder): string =>
  [
    `${order.id}: account ${order.account} at broker ${order.brokerId}, strategy ${order.strategyId}:`,
    `${deedOf(order.side)} ${order.quantity} ${order.symbol}`,
    ...(order.limitPx === null ? [] : [`limit ${order.limitPx}`]),
    ...(order.stopPx === null ? [] : [`stop ${order.stopPx}`]),
    `until ${utcOf(order.confirmBy)}`,
  ].join(' ')

const decide = (
  id: string,
  decision: typeof declineOrder,
  output: Output,
  done: 'confirmed' | 'declined',
): Promise<void> =>
  withPlatform(async (db) => {
    const orderId = readId(id)
    await db.transaction(async (tx) => {
      if (!(await decision(tx, orderId, systemClock.now())))
        throw new ConfigError(`no order ${id} waits for its holder's word`)
      await noteCommand(tx, `account_order ${id}`)
    })
    say(output, { orderId, [done]: true }, `Order ${id} is ${done}.`)
  })

const listDiffering = (output: Output): Promise<void> =>
  withPlatform(async (db) => {
    const orders = await listDifferingOrders(db.read, systemClock.now(), null)
    sayList(output, { differing: orders.map(factsOf) }, orders.map(differenceOf), 'No order differs.')
  })

const bookedOf = ({ restated, executed }: DifferingOrder): string => dec(restated?.[0] ?? executed).toFixed()

const factsOf = (order: DifferingOrder): object => {
  const { id, accountId, account, brokerId, symbol, side, status, told, since } = order
  return {
    id,
    accountId,
    account,
    brokerId,
    symbol,
    side,
    status,
    booked: bookedOf(order),
    broker: readGapWords(told),
    sinceUtc: utcOf(since),
  }
}

const differenceOf = (order: DifferingOrder): string => {
  const { gaps, status, cumQty } = readGapWords(order.told)
  return [
    `${order.id}: account ${order.account} at broker ${order.brokerId}, ${deedOf(order.side)}`,
    `${order.symbol}: here status ${order.status} and ${bookedOf(order)} executed, at the broker`,
    status === null ? 'unknown' : `status ${status} and ${cumQty}`,
    `(${gaps.join(', ')}) since ${utcOf(order.since)}`,
  ].join(' ')
}

const reasons: Record<NotSettled | 'notDiffering', string> = {
  notDiffering: 'its broker and we do not disagree on it (orders differing)',
  nothingToSettle: 'it has ended here, and nothing is missing: cancel it at its broker',
  totalUnsaid: 'its broker counts more than is booked: say what it --executed',
  bookedMore: 'more than that is booked: what a broker took back is told by its reports',
  aboveQuantity: 'that is more than the order was for',
  noPrice: 'what is missing has a price above 0: say its --average',
}

interface SettleWish extends Output {
  executed?: string
  average?: string
}

const settle = (id: string, { executed, average: price, ...output }: SettleWish): Promise<void> =>
  withPlatform(async (db, config) => {
    const orderId = readId(id)
    const average = price === undefined ? null : readAmount('--average', price)
    const total = executed === undefined ? null : { quantity: readAmount('--executed', executed), average }
    if (average && !total) throw new ConfigError('--average is that of what it --executed')
    await db.transaction(async (tx) => {
      const about = { environment: environments(config).orders, now: systemClock.now() }
      const refusal = await settleOrder(tx, about, { orderId, total })
      if (refusal) throw new ConfigError(`order ${id} is not settled: ${reasons[refusal]}`)
      await noteCommand(tx, `account_order ${id}`)
    })
    say(output, { orderId, settled: true }, `Order ${id} is settled.`)
  })

/** A quantity or price as it is typed. Throws ConfigError. */
function readAmount(name: string, text: string): Decimal {
  if (!/^\d{1,12}(\.\d{1,8})?$/.test(text))
    throw new ConfigError(`${name} is a number with at most 8 decimals`)
  return dec(text)
}
