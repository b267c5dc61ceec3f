/** What must hold of any book, whatever its owner, the market and the venue did to it. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { directionOf, isLive, type OrdStatus, type Side } from '../codes.ts'
import { type Decimal, dec, sum, zero } from '../decimal.ts'
import { fillOrder } from './book-fill.ts'
import { cancelOrder, expireOrder, rejectOrder, replaceOrder } from './book-request.ts'
import { submitOrder } from './book-submit.ts'
import {
  type BookContext,
  type BookOrder,
  type BookResult,
  emptyBook,
  type OrderBook,
  withoutEnded,
} from './order-book.ts'
import { leavesQuantity } from './order-state.ts'

const command = fc.record({
  kind: fc.constantFrom('submit', 'submit', 'fill', 'fill', 'fill', 'cancel', 'expire', 'reject', 'replace'),
  /** Picks an order of the book. */
  pick: fc.nat(30),
  side: fc.constantFrom<Side>('1', '2'),
  quantity: fc.integer({ min: 1, max: 20 }),
  positionEffect: fc.constantFrom(null, null, 'O' as const, 'C' as const),
  hasParent: fc.boolean(),
  target: fc.boolean(),
  loss: fc.boolean(),
  doNotCreateOcaGroup: fc.boolean(),
})
type Command = typeof command extends fc.Arbitrary<infer T> ? T : never

const contextAt = (at: number): BookContext => ({
  at,
  newId: (kind, id) => `${id}.${kind}.${at}`,
  rejection: () => null,
})

const at = (book: OrderBook, pick: number): BookOrder | undefined => {
  const orders = [...book.orders.values()]
  return orders[pick % Math.max(1, orders.length)]
}

function submit(book: OrderBook, command: Command, index: number): BookResult {
  const isLong = command.side === '1'
  const draft = {
    id: `o${index}`,
    side: command.side,
    type: '1',
    timeInForce: '1',
    quantity: dec(command.quantity),
    limit: null,
    stop: null,
    positionEffect: command.positionEffect,
    parent: command.hasParent ? (at(book, command.pick)?.id ?? null) : null,
    isParked: false,
    mid: null,
    profitTarget: command.target ? dec(isLong ? 60 : 40) : null,
    stopLoss: command.loss ? dec(isLong ? 40 : 60) : null,
    doNotCreateOcaGroup: command.doNotCreateOcaGroup,
  } as const
  return submitOrder(book, draft, contextAt(index))
}

function run(book: OrderBook, command: Command, index: number): BookResult {
  const order = at(book, command.pick)
  if (command.kind === 'submit' || !order) return submit(book, command, index)
  const quantity = dec(command.quantity)
  const context = contextAt(index)
  switch (command.kind) {
    case 'fill':
      return fillOrder(book, order.id, { quantity, price: dec(50) }, context)
    case 'cancel':
      return cancelOrder(book, order.id, context)
    case 'expire':
      return expireOrder(book, order.id, context)
    case 'reject':
      return rejectOrder(book, order.id, null, context)
    case 'replace': {
      const terms = { type: '1', timeInForce: '1', limit: order.limit, stop: order.stop } as const
      return replaceOrder(book, order.id, { newId: `o${index}`, quantity, ...terms }, context)
    }
  }
}

const histories = fc.array(command, { maxLength: 40, size: 'max' })
const position = fc.integer({ min: -20, max: 20 }).map(dec)
const ordersOf = (book: OrderBook): BookOrder[] => [...book.orders.values()]

const legal: Record<OrdStatus, string> = {
  A: '012456 8C',
  '0': '12468CE',
  '1': '0246CE',
  '2': '014',
  '4': '2',
  '5': '',
  '6': '012458ACE',
  '8': '12',
  C: '2',
  E: '0124568C',
}

function checkTransitions(before: OrderBook, result: BookResult): void {
  const known = new Map(ordersOf(before).map(({ id, status }) => [id, status]))
  for (const { orderId, event, status } of result.events) {
    const from = known.get(orderId)
    if (event === 'NEW') expect([from, status]).toEqual([undefined, 'A'])
    else if (from !== status) expect(legal[from!], `${orderId} ${event} ${from} ${status}`).toContain(status)
    known.set(orderId, status)
  }
  for (const { id, status } of result.book.orders.values()) expect(known.get(id)).toBe(status)
}

function checkFamilies(book: OrderBook): void {
  for (const order of ordersOf(book)) {
    const parent = order.parent === null ? undefined : book.orders.get(order.parent)
    if (order.held && order.status === 'A') {
      expect(parent && isLive(parent.status), `${order.id} waits for nothing`).toBe(true)
      if (order.exit) expect(parent?.filledQuantity.isZero()).toBe(true)
    }
    if (book.position.isZero() && (order.status === '0' || order.status === '1')) {
      expect([order.positionEffect, order.status], `${order.id} at work when flat`).toEqual(['O', '0'])
    }
  }
}

describe('any history', () => {
  test('closing only reduces, opening only increases, and the position is the sum of what traded', () => {
    fc.assert(
      fc.property(position, histories, (held, commands) => {
        let book = emptyBook(held)
        commands.forEach((command, index) => {
          const before = book.position
          const order = at(book, command.pick)
          const result = run(book, command, index)
          book = result.book
          const traded = 'quantity' in result ? (result.quantity as Decimal) : zero
          if (traded.isZero() || !order) {
            expect(book.position.equals(before)).toBe(true)
            return
          }
          expect(book.position.equals(before.plus(traded.times(directionOf(order.side))))).toBe(true)
          const change = order.positionEffect === 'C' ? traded.negated() : traded
          expect(book.position.abs().equals(before.abs().plus(change))).toBe(true)
        })
        const own = ordersOf(book).map(({ replaces, filledQuantity, side }) => {
          const earlier = replaces === undefined ? undefined : book.orders.get(replaces)
          return filledQuantity.minus(earlier?.filledQuantity ?? zero).times(directionOf(side))
        })
        // A fill that reaches a replaced order counts on both, so chains are compared by their differences.
        expect(held.plus(sum(own)).equals(book.position)).toBe(true)
      }),
    )
  })

  test('moves orders as the table allows, tells every step and leaves no family behind', () => {
    fc.assert(
      fc.property(position, histories, (held, commands) => {
        let book = emptyBook(held)
        commands.forEach((command, index) => {
          const result = run(book, command, index)
          checkTransitions(book, result)
          checkFamilies(result.book)
          if (result.outcome === 'refused' || result.outcome === 'ignored') expect(result.book).toBe(book)
          book = result.book
        })
      }),
    )
  })

  test('goes on alike without the orders that have ended', () => {
    const liveOf = (book: OrderBook) => ordersOf(book).filter(({ status }) => isLive(status))
    fc.assert(
      fc.property(position, histories, (held, commands) => {
        let [whole, short] = [emptyBook(held), emptyBook(held)]
        commands.forEach((given, index) => {
          const live = liveOf(whole)
          const target = live[given.pick % Math.max(1, live.length)]
          const pickIn = (book: OrderBook) => ordersOf(book).findIndex(({ id }) => id === target?.id)
          const kind = target ? given.kind : 'submit'
          const hasParent = given.hasParent && target !== undefined
          const results = [whole, short].map((book) =>
            run(book, { ...given, kind, hasParent, pick: Math.max(0, pickIn(book)) }, index),
          )
          const [one, other] = results as [BookResult, BookResult]
          expect(other.outcome).toBe(one.outcome)
          expect(other.events).toEqual(one.events)
          whole = one.book
          short = withoutEnded(other.book)
          expect(liveOf(short)).toEqual(liveOf(whole))
          expect(short.position).toEqual(whole.position)
        })
      }),
    )
  })

  test('run again gives the same, and changes no book that was there before', () => {
    const shown = (book: OrderBook) => JSON.stringify([book.position, ordersOf(book)])
    fc.assert(
      fc.property(position, histories, (held, commands) => {
        const books = [emptyBook(held)]
        const texts = [shown(books[0]!)]
        commands.forEach((command, index) => {
          books.push(run(books[index]!, command, index).book)
          texts.push(shown(books[index + 1]!))
        })
        expect(books.map(shown)).toEqual(texts)
        expect(commands.map((command, index) => shown(run(books[index]!, command, index).book))).toEqual(
          texts.slice(1),
        )
      }),
    )
  })
})

describe('entries with exits that nobody touches', () => {
  /** Entries of one side are sent, canceled, expired and replaced; they and their exits fill, also late. */
  const step = fc.record({
    kind: fc.constantFrom('submit', 'fill', 'fill', 'fill', 'fill', 'cancel', 'expire', 'replace'),
    pick: fc.nat(30),
    quantity: fc.integer({ min: 1, max: 20 }),
    target: fc.boolean(),
  })

  function act(
    book: OrderBook,
    { kind, pick, quantity, target }: typeof step extends fc.Arbitrary<infer T> ? T : never,
    index: number,
  ) {
    const order = at(book, pick)
    const draft = {
      kind: 'submit',
      pick,
      side: '1',
      quantity,
      positionEffect: 'O',
      hasParent: false,
      target,
      loss: true,
      doNotCreateOcaGroup: false,
    } as const
    if (kind === 'submit' || !order) return submit(book, draft, index).book
    if (order.exit === null) return run(book, { ...draft, kind }, index).book
    const open = leavesQuantity(order)
    const size = open.lessThan(quantity) ? open : dec(quantity)
    return order.held
      ? book
      : fillOrder(book, order.id, { quantity: size, price: dec(50) }, contextAt(index)).book
  }

  test('every filled lot has exactly one stop loss, and one target if wanted, until an exit closes it', () => {
    let protectedLots = 0
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40, size: 'max' }), (steps) => {
        let book = emptyBook(zero)
        steps.forEach((each, index) => {
          book = act(book, each, index)
          const entries = ordersOf(book).filter(({ exit, status }) => exit === null && status !== '5')
          let unclosed = zero
          for (const entry of entries) {
            const exits = ordersOf(book).filter(({ exit, parent }) => exit !== null && parent === entry.id)
            const left = entry.filledQuantity.minus(sum(exits.map(({ filledQuantity }) => filledQuantity)))
            expect(left.isNegative(), 'exits closed more than the entry filled').toBe(false)
            for (const role of new Set(exits.map(({ exit }) => exit))) {
              const working = exits.filter(({ exit, held }) => exit === role && !held).map(leavesQuantity)
              expect(sum(working).toString(), `${entry.id} ${role}`).toBe(left.toString())
            }
            unclosed = unclosed.plus(left)
            protectedLots += left.toNumber()
          }
          expect(book.position.toString()).toBe(unclosed.toString())
        })
      }),
    )
    expect(protectedLots).toBeGreaterThan(0)
  })
})
