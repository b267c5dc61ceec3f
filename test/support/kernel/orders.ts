/**
 * The order rules as ops over plain JSON: order.apply for one event, order.run for a log of them.
 */
import type { OrdStatus } from '../../../src/domain/codes.ts'
import { dec, zero } from '../../../src/domain/decimal.ts'
import { applyToChain, type ChainOrder } from '../../../src/domain/orders/order-chain.ts'
import {
  applyExecution,
  type Execution,
  type ExecutionApplied,
} from '../../../src/domain/orders/order-execution.ts'
import {
  averageFillPrice,
  leavesQuantity,
  newOrder,
  type OrderEvent,
} from '../../../src/domain/orders/order-state.ts'
import { oneOf, statusOf } from './codes.ts'
import type { KernelOp } from './types.ts'

interface EventInput {
  event: OrderEvent['event']
  order?: string
  qty?: number
  px?: number
  execId?: string
  newId?: string
  live?: boolean
  reason?: string | number
}

interface ApplyInput {
  order: {
    status: OrdStatus
    orderQuantity: number
    filledQuantity?: number
    acknowledged?: boolean
    held?: boolean
    executions?: { execId: string; qty: number; px?: number; busted?: boolean }[]
    replacement?: { orderQuantity: number; status: OrdStatus; filledQuantity?: number } | null
  }
  event: EventInput
}

interface RunInput {
  order: { qty: number; held?: boolean }
  steps: EventInput[]
}

const eventNames = [
  'ACK',
  'REJECT',
  'FILL',
  'CANCEL_REQUEST',
  'CANCEL_ACK',
  'CANCEL_REJECT',
  'REPLACE_REQUEST',
  'REPLACE_ACK',
  'REPLACE_REJECT',
  'EXPIRE',
  'UNSOLICITED_CANCEL',
  'BUST',
] as const

type Orders = readonly ChainOrder<string>[]
type Executions = ReadonlyMap<string, Execution<string>>

/** Numbers in, one domain event out, on the order that it names. A fill without an id counts as new. */
function step(chain: Orders, executions: Executions, input: EventInput): ExecutionApplied<string> {
  const orderId = input.order ?? 'X'
  const order = chain.find((candidate) => candidate.id === orderId)
  if (!order) return { outcome: 'ignored', chain }
  const execId = input.execId ?? `unnamed ${executions.size}`
  const event = oneOf('event', input.event, eventNames)
  switch (event) {
    case 'FILL': {
      if (input.qty === undefined) throw new Error('qty of the FILL is missing')
      const fill = { execId, orderId, quantity: dec(input.qty), price: dec(input.px ?? 0) }
      return applyExecution(chain, executions.get(execId), { event: 'FILL', ...fill })
    }
    case 'BUST':
      return applyExecution(chain, executions.get(execId), {
        event: 'BUST',
        execId,
        live: input.live ?? true,
      })
    case 'CANCEL_REJECT': {
      const unknownOrder = /^1$|unknown/i.test(String(input.reason ?? ''))
      return applyToChain(chain, orderId, { event: 'CANCEL_REJECT', unknownOrder })
    }
    case 'REPLACE_REQUEST': {
      const quantity = input.qty === undefined ? order.orderQuantity : dec(input.qty)
      return applyToChain(chain, orderId, {
        event: 'REPLACE_REQUEST',
        quantity,
        newId: input.newId ?? `${orderId}+`,
      })
    }
    case 'ACK':
    case 'REJECT':
    case 'CANCEL_REQUEST':
    case 'CANCEL_ACK':
    case 'REPLACE_ACK':
    case 'REPLACE_REJECT':
    case 'EXPIRE':
    case 'UNSOLICITED_CANCEL':
      return applyToChain(chain, orderId, { event })
  }
}

function apply({ order, event }: ApplyInput): unknown {
  const executions = new Map<string, Execution<string>>()
  for (const { execId, qty, px, busted = false } of order.executions ?? [])
    executions.set(execId, { execId, orderId: 'X', quantity: dec(qty), price: dec(px ?? 0), busted })
  const booked = [...executions.values()].filter(({ busted }) => !busted)
  const filledValue = booked.reduce((sum, { quantity, price }) => sum.plus(quantity.times(price)), zero)
  const filledQuantity = dec(
    order.filledQuantity ?? booked.reduce((sum, { quantity }) => sum.plus(quantity), zero),
  )
  const named: ChainOrder<string> = {
    id: 'X',
    status: statusOf(order.status),
    orderQuantity: dec(order.orderQuantity),
    filledQuantity,
    filledValue,
    acknowledged:
      impliesAcknowledged(order.status) ||
      filledQuantity.greaterThan(zero) ||
      (order.acknowledged ?? order.status !== 'A'),
    held: order.held ?? false,
  }
  const chain = order.replacement ? [named, replacementFrom(order.replacement, named)] : [named]
  const { outcome, chain: after } = step(chain, executions, { newId: 'requested', ...event, order: 'X' })
  return {
    status: after[0]?.status,
    outcome,
    replacementStatus: after.findLast(({ replaces }) => replaces === 'X')?.status ?? null,
  }
}

const impliesAcknowledged = (status: OrdStatus): boolean => ['0', '1', '2', 'E'].includes(status)

/** A replacement shows the totals of the chain: while nothing else is said, what the replaced order filled. */
function replacementFrom(
  input: { orderQuantity: number; status: OrdStatus; filledQuantity?: number },
  named: ChainOrder<string>,
): ChainOrder<string> {
  const orderQuantity = dec(input.orderQuantity)
  const filledQuantity =
    input.filledQuantity !== undefined
      ? dec(input.filledQuantity)
      : input.status === '2'
        ? orderQuantity
        : named.filledQuantity
  const state = {
    ...newOrder(orderQuantity, false),
    status: statusOf(input.status),
    acknowledged: input.status !== 'A',
  }
  return { ...state, id: 'Y', replaces: 'X', filledQuantity, filledValue: named.filledValue }
}

function run({ order, steps }: RunInput): unknown {
  let chain: Orders = [{ ...newOrder(dec(order.qty), order.held ?? false), id: 'X' }]
  const executions = new Map<string, Execution<string>>()
  return {
    steps: steps.map((event) => {
      const applied = step(chain, executions, event)
      chain = applied.chain
      if (applied.execution) executions.set(applied.execution.execId, applied.execution)
      return {
        outcome: applied.outcome,
        orders: Object.fromEntries(chain.map((one) => [one.id, shown(one)])),
      }
    }),
  }
}

const shown = (order: ChainOrder<string>) => ({
  status: order.status,
  orderQuantity: order.orderQuantity.toNumber(),
  filledQuantity: order.filledQuantity.toNumber(),
  leaves: leavesQuantity(order).toNumber(),
  avgFillPrice: averageFillPrice(order)?.toNumber() ?? null,
})

export const orderOps: Record<string, KernelOp> = { 'order.apply': apply, 'order.run': run }
