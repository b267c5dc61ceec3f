/** Quotes and arriving orders, merged by time, quotes first, run through the quote simulation. */
import type { OrdType, PositionEffect, Side } from '../../../src/domain/codes.ts'
import { dec, zero } from '../../../src/domain/decimal.ts'
import { isFresh, type LastQuote, observeQuote } from '../../../src/domain/market/quote.ts'
import {
  defaultFillConfig,
  type FillConfig,
  type FillPort,
  type SimulatedFill,
  type WorkingOrder,
} from '../../../src/domain/orders/fill.ts'
import { fillAgainstQuote } from '../../../src/domain/orders/fill-quotes.ts'
import { openCloseOf, sideOf, typeOf } from './codes.ts'
import { momentOf, type Num, optional, print, type Time } from './numbers.ts'

export interface OrderInput {
  id: string | number
  side: Side
  type: OrdType
  qty: Num
  t?: Time | null
  limit?: Num | null
  stop?: Num | null
  openClose?: PositionEffect | null
}

export interface ConfigInput {
  tick?: Num | null
  slippageTicks?: Num | null
  slippageBps?: Num | null
  participation?: Num | null
  maxQuoteAgeSec?: number | null
  maxTriggerSpread?: Num | null
}

interface QuoteInput {
  t: Time
  bid: Num
  ask: Num
  bidSize?: Num | null
  askSize?: Num | null
  open?: boolean | null
}

interface Input {
  orders?: OrderInput[]
  quotes?: QuoteInput[]
  config?: ConfigInput | null
}

export const configOf = (config: ConfigInput): FillConfig => ({
  tick: optional(config.tick),
  slippageTicks: dec(config.slippageTicks ?? 0),
  slippageBps: dec(config.slippageBps ?? 0),
  participation: optional(config.participation),
  maxQuoteAgeSec: config.maxQuoteAgeSec ?? defaultFillConfig('CS', null).maxQuoteAgeSec,
  maxTriggerSpread: optional(config.maxTriggerSpread),
})

/** A limit or stop order without its price could only wait for ever. */
const priceMember = { '1': undefined, '2': 'limit', '3': 'stop' } as const

function checkedType(order: OrderInput): OrdType {
  const type = typeOf(order.type)
  const member = priceMember[type]
  if (member && optional(order[member]) === null) throw new Error(`${member} is missing`)
  return type
}

export const workingOrderOf = (order: OrderInput): WorkingOrder => ({
  id: String(order.id),
  side: sideOf(order.side),
  type: checkedType(order),
  positionEffect: openCloseOf(order.openClose) ?? 'O',
  leaves: dec(order.qty),
  limit: optional(order.limit),
  stop: optional(order.stop),
  acceptedAt: momentOf(order.t),
  workingSince: momentOf(order.t),
  triggered: false,
  exitOf: null,
})

interface Book {
  readonly orders: readonly WorkingOrder[]
  readonly fills: readonly SimulatedFill[]
}

const change = (book: Book, id: string, next: (order: WorkingOrder) => WorkingOrder): Book => ({
  ...book,
  orders: book.orders.map((order) => (order.id === id ? next(order) : order)),
})

/** A book without positions: every fill is taken as it comes. */
const plainBook: FillPort<Book> = {
  working: (book) => book.orders,
  find: (book, id) => book.orders.find((order) => order.id === id),
  trigger: (book, id) => change(book, id, (order) => ({ ...order, triggered: true })),
  fill: (book, fill) => ({
    book: change({ ...book, fills: [...book.fills, fill] }, fill.orderId, (order) => ({
      ...order,
      leaves: order.leaves.minus(fill.quantity),
    })),
    quantity: fill.quantity,
  }),
}

export function fillQuotes({ orders = [], quotes = [], config: given }: Input) {
  const config = configOf(given ?? {})
  const events = [
    ...quotes.map((quote) => ({ quote, t: quote.t, at: momentOf(quote.t) })),
    ...orders.map((order) => ({ order, t: order.t ?? null, at: momentOf(order.t) })),
  ].sort((a, b) => a.at - b.at || 0)
  const times: (Time | null)[] = []
  let book: Book = { orders: [], fills: [] }
  let last: LastQuote | null = null
  for (const event of events) {
    if ('quote' in event) {
      const before: LastQuote | null = last
      const seen = { at: event.at, inSession: event.quote.open ?? true }
      last = observeQuote(before, quoteOf(event.quote), seen, config.participation)
      if (last && last !== before) ({ book, last } = fillAgainstQuote(book, plainBook, last, config))
    } else {
      const order = workingOrderOf(event.order)
      book = { ...book, orders: [...book.orders, order] }
      if (last && isFresh(last, event.at, config.maxQuoteAgeSec)) {
        ;({ book, last } = fillAgainstQuote(book, plainBook, last, config, [order.id]))
      }
    }
    while (times.length < book.fills.length) times.push(event.t)
  }
  const leaves = book.orders.filter((order) => order.leaves.greaterThan(zero))
  return {
    fills: book.fills.map((fill, index) => ({
      orderId: idOf(orders, fill.orderId),
      qty: print(fill.quantity),
      price: print(fill.price),
      t: times[index] ?? null,
    })),
    working: Object.fromEntries(leaves.map((order) => [order.id, print(order.leaves)])),
  }
}

const quoteOf = (quote: QuoteInput) => ({
  bid: dec(quote.bid),
  ask: dec(quote.ask),
  bidSize: optional(quote.bidSize),
  askSize: optional(quote.askSize),
})

/** The id as it came: a number stays one. */
export const idOf = (orders: readonly OrderInput[], id: string): string | number =>
  orders.find((order) => String(order.id) === id)?.id ?? id
