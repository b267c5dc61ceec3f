/** The operator's tools for orders that wait for their account holder's word. */
import type { Command } from 'commander'
import {
  confirmOrder,
  declineOrder,
  listWaitingOrders,
  type WaitingOrder,
} from '../storage/mirror/order-confirmations.ts'
import { noteCommand } from './acting.ts'
import { systemClock } from './clock.ts'
import { ConfigError } from './config.ts'
import { type Output, readId, say, tool, utcOf, withDatabase } from './tool.ts'

/** Adds orders waiting, confirm and decline. */
export function addOrderCommands(orders: Command): void {
  tool(orders, 'waiting', 'what account holders are to confirm').action((output: Output) =>
    withDatabase(async (db) => {
      const waiting = await listWaitingOrders(db.read, systemClock.now())
      const facts = waiting.map(({ confirmBy, ...order }) => ({ ...order, confirmByUtc: utcOf(confirmBy) }))
      say(output, { waiting: facts }, waiting.length === 0 ? 'No order waits.' : waiting.map(lineOf))
    }),
  )
  tool(orders, 'confirm <orderId>', 'its holder says yes: it is sent').action((id: string, output: Output) =>
    decide(id, confirmOrder, output, 'confirmed'),
  )
  tool(orders, 'decline <orderId>', 'its holder says no: it ends').action((id: string, output: Output) =>
    decide(id, declineOrder, output, 'declined'),
  )
}

const lineOf = (order: WaitingOrder): string =>
  [
    `${order.id}: account ${order.account} at broker ${order.brokerId}, strategy ${order.strategyId}:`,
    `${order.side === '1' ? 'buy' : 'sell'} ${order.quantity} ${order.symbol}`,
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
  withDatabase(async (db) => {
    const orderId = readId(id)
    await db.transaction(async (tx) => {
      if (!(await decision(tx, orderId, systemClock.now())))
        throw new ConfigError(`no order ${id} waits for its holder's word`)
      await noteCommand(tx, `account_order ${id}`)
    })
    say(output, { orderId, [done]: true }, `Order ${id} is ${done}.`)
  })
