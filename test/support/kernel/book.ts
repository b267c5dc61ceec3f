/** The order book of one strategy in one symbol over plain JSON: book.run. */

import type { OrdType, PositionEffect, Side } from '../../../src/domain/codes.ts'
import { type Decimal, dec } from '../../../src/domain/decimal.ts'
import { fillOrder } from '../../../src/domain/orders/book-fill.ts'
import {
  cancelOrder,
  expireOrder,
  rejectOrder,
  replaceOrder,
} from '../../../src/domain/orders/book-request.ts'
import { submitOrder } from '../../../src/domain/orders/book-submit.ts'
import {
  type BookContext,
  type BookResult,
  emptyBook,
  type OrderBook,
} from '../../../src/domain/orders/order-book.ts'
import { leavesQuantity } from '../../../src/domain/orders/order-state.ts'
import { oneOf, openCloseOf, sideOf, typeOf } from './codes.ts'
import { type Num, optional, print } from './numbers.ts'
import type { KernelOp } from './types.ts'

type Id = string | number

interface Step {
  op: 'submit' | 'fill' | 'cancel' | 'expire' | 'reject' | 'replace'
  id: Id
  side?: Side | number
  type?: OrdType | number
  qty?: Num
  price?: Num | null
  openClose?: PositionEffect | null
  parent?: Id | null
  profitTarget?: Num | null
  stopLoss?: Num | null
  doNotCreateOCAGroup?: boolean | null
  ids?: { pt?: Id; sl?: Id; oca?: Id } | null
  openId?: Id | null
  newId?: Id
}

/** Ids as they came: a number stays one. */
type Names = ReadonlyMap<string, Id>

function namesOf(steps: readonly Step[]): Names {
  const given = steps.flatMap(({ id, newId, openId, ids }) => [id, newId, openId, ids?.pt, ids?.sl, ids?.oca])
  return new Map(given.flatMap((id) => (id === undefined || id === null ? [] : [[String(id), id]])))
}

function run({ position, steps = [] }: { position?: Num | null; steps?: Step[] }): unknown {
  const names = namesOf(steps)
  let book = emptyBook(dec(position ?? 0))
  return {
    steps: steps.map((step, index) => {
      const result = apply(book, step, contextOf(step, index))
      book = result.book
      const { outcome, refusal, events, alerts } = result
      return { outcome, refusal, position: print(book.position), orders: shown(book, names), events, alerts }
    }),
  }
}

/** Time is the number of the step. Ids that the step does not give are made from the order's. */
function contextOf({ op, ids, openId }: Step, index: number): BookContext {
  const given = { profitTarget: ids?.pt, stopLoss: ids?.sl, ocaGroup: ids?.oca, reversal: openId }
  const suffix = { profitTarget: 'pt', stopLoss: 'sl', ocaGroup: 'oca', reversal: 'open' }
  return {
    at: index,
    newId: (kind, orderId) =>
      String(given[kind] ?? `${orderId}.${suffix[kind]}${op === 'submit' ? '' : `.${index}`}`),
    rejection: () => null,
  }
}

function apply(book: OrderBook, step: Step, context: BookContext): BookResult {
  const id = String(step.id)
  switch (oneOf('op', step.op, ['submit', 'fill', 'cancel', 'expire', 'reject', 'replace'])) {
    case 'submit':
      return submit(book, id, step, context)
    case 'fill':
      return fillOrder(book, id, { quantity: dec(step.qty ?? 0), price: dec(step.price ?? 0) }, context)
    case 'cancel':
      return cancelOrder(book, id, context)
    case 'expire':
      return expireOrder(book, id, context)
    case 'reject':
      return rejectOrder(book, id, null, context)
    case 'replace':
      return replace(book, id, step, context)
  }
}

function submit(book: OrderBook, id: string, step: Step, context: BookContext): BookResult {
  const type = typeOf(step.type ?? '1')
  const draft = {
    id,
    side: sideOf(step.side),
    type,
    timeInForce: '1',
    quantity: dec(step.qty ?? 0),
    ...pricesOf(type, optional(step.price)),
    positionEffect: openCloseOf(step.openClose),
    parent: step.parent === null || step.parent === undefined ? null : String(step.parent),
    isParked: false,
    mid: null,
    profitTarget: optional(step.profitTarget),
    stopLoss: optional(step.stopLoss),
    doNotCreateOcaGroup: step.doNotCreateOCAGroup ?? false,
  } as const
  return submitOrder(book, draft, context)
}

function replace(book: OrderBook, id: string, step: Step, context: BookContext): BookResult {
  const order = book.orders.get(id)
  const price = optional(step.price) ?? order?.limit ?? order?.stop ?? null
  const type = order?.type ?? '1'
  const replacement = {
    newId: String(step.newId ?? `${id}+`),
    quantity: step.qty === undefined ? (order?.orderQuantity ?? dec(0)) : dec(step.qty),
    type,
    timeInForce: order?.timeInForce ?? '1',
    ...pricesOf(type, price),
  } as const
  return replaceOrder(book, id, replacement, context)
}

const pricesOf = (type: OrdType, price: Decimal | null) => ({
  limit: type === '2' ? price : null,
  stop: type === '3' ? price : null,
})

const nameOf = (id: string | null, names: Names): Id | null => id && (names.get(id) ?? id)

const shown = (book: OrderBook, names: Names) =>
  Object.fromEntries(
    [...book.orders.values()].map((order) => [
      order.id,
      {
        status: order.status,
        orderQuantity: print(order.orderQuantity),
        filledQuantity: print(order.filledQuantity),
        leaves: print(leavesQuantity(order)),
        openClose: order.positionEffect,
        parentSignalId: nameOf(order.parent, names),
        ocaGroup: nameOf(order.ocaGroup, names),
        info: order.info,
      },
    ]),
  )

export const bookOps: Record<string, KernelOp> = { 'book.run': run }
