/** Orders of a book at a split: quantities, prices, families. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Decimal, dec } from '../decimal.ts'
import { fillOrder } from './book-fill.ts'
import { replaceOrder } from './book-request.ts'
import { marketOrder, submitOrder } from './book-submit.ts'
import { type BookContext, emptyBook, type OrderBook } from './order-book.ts'
import { remainingQuantity } from './order-state.ts'
import { splitOrderBook } from './split-book.ts'

const before: BookContext = { at: 1, newId: (kind, id) => `${id} ${kind}`, rejection: () => null }
const opening: BookContext = { ...before, at: 2 }
/** Buys with exits at 120 and 80; `filled` of the entry has traded at 100. */
function bracketed(quantity: number, filled: number): OrderBook {
  const exits = { profitTarget: dec(120), stopLoss: dec(80) }
  const draft = {
    ...marketOrder({ id: 'E', side: '1', quantity: dec(quantity), positionEffect: null }),
    ...exits,
    type: '2',
    limit: dec(100),
  } as const
  const { book } = submitOrder(emptyBook(dec(0)), draft, before)
  return filled === 0 ? book : fillOrder(book, 'E', { quantity: dec(filled), price: dec(100) }, before).book
}
const split = (book: OrderBook, units: number, old: number, position: Decimal, more = {}) => {
  const ratio = { new: dec(units), old: dec(old) }
  const terms = { ratio, tick: dec('0.01'), isOption: false, multiplies: true, ...more }
  return splitOrderBook(book, terms, position, opening)
}
const told = ({ orders }: OrderBook) =>
  [...orders.values()].map(
    ({ id, status, filledQuantity, orderQuantity, limit, stop }) =>
      `${id}: ${status} ${filledQuantity}/${orderQuantity} @ ${limit ?? stop}`,
  )

describe('the orders of a book at a split', () => {
  test('an entry and its exits are in new units', () => {
    expect(told(split(bracketed(100, 0), 2, 1, dec(0)).book)).toEqual([
      'E: 0 0/200 @ 50',
      'E profitTarget: A 0/200 @ 60',
      'E stopLoss: A 0/200 @ 40',
    ])
  })

  test('what is filled of a live entry is too, and so is what its exits protect', () => {
    expect(told(split(bracketed(100, 40), 2, 1, dec(80)).book)).toEqual([
      'E: 1 80/200 @ 50',
      'E profitTarget: 0 0/80 @ 60',
      'E stopLoss: 0 0/80 @ 40',
    ])
  })

  test('leaves are truncated, prices rounded half up to the tick, and nothing left cancels with its family', () => {
    expect(told(split(bracketed(100, 0), 1, 3, dec(0)).book)).toEqual([
      'E: 0 0/33 @ 300',
      'E profitTarget: A 0/33 @ 360',
      'E stopLoss: A 0/33 @ 240',
    ])
    const gone = split(bracketed(2, 0), 1, 3, dec(0))
    expect([...gone.book.orders.values()].map(({ status, info }) => `${status} ${info}`)).toEqual([
      '4 split',
      '4 split',
      '4 split',
    ])
  })

  test('after the split a group still closes everything that its entry bought before', () => {
    const { book } = split(bracketed(100, 100), 3, 1, dec(300))
    const shrunk = fillOrder(book, 'E profitTarget', { quantity: dec(60), price: dec(40) }, opening).book
    expect(told(shrunk).slice(1)).toEqual(['E profitTarget: 1 60/300 @ 40', 'E stopLoss: 0 0/240 @ 26.67'])
  })

  test('what came at the opening is in new units already', () => {
    const next = marketOrder({ id: 'N', side: '1', quantity: dec(10), positionEffect: null })
    const draft = { ...next, type: '2', limit: dec(50) } as const
    const { book } = submitOrder(bracketed(100, 0), draft, opening)
    const after = split(book, 2, 1, dec(0))
    expect(told(after.book).at(-1)).toBe('N: 0 0/10 @ 50')
    expect(after.events.map(({ orderId }) => orderId)).not.toContain('N')
  })

  test('what has replaced another since is too, but for what it took over', () => {
    const terms = { newId: 'R', type: '2', timeInForce: '1', limit: dec(50), stop: null } as const
    const { book } = replaceOrder(bracketed(100, 40), 'E', { ...terms, quantity: dec(100) }, opening)
    expect(told(split(book, 2, 1, dec(80)).book)).toEqual([
      'E: 5 40/100 @ 100',
      'E profitTarget: 0 0/80 @ 60',
      'E stopLoss: 0 0/80 @ 40',
      'R: 1 80/140 @ 50',
    ])
  })

  test('an option whose contract changes its size keeps its number', () => {
    const more = { isOption: true, multiplies: false }
    expect(told(split(bracketed(10, 4), 3, 2, dec(4), more).book)).toEqual([
      'E: 1 4/10 @ 66.67',
      'E profitTarget: 0 0/4 @ 80',
      'E stopLoss: 0 0/4 @ 53.33',
    ])
  })

  test('what has traded keeps its money, or its number where a contract changes its size', () => {
    const averageOf = ({ orders }: OrderBook) => {
      const { filledValue, filledQuantity } = orders.get('E')!
      return filledValue.div(filledQuantity).toNumber()
    }
    expect(averageOf(split(bracketed(100, 40), 2, 1, dec(80)).book)).toBe(50)
    expect(averageOf(split(bracketed(100, 40), 1, 4, dec(10)).book)).toBe(400)
    const more = { isOption: true, multiplies: false }
    expect(averageOf(split(bracketed(10, 4), 5, 4, dec(4), more).book)).toBe(80)
  })

  test('every change is an event', () => {
    expect(
      split(bracketed(100, 40), 2, 1, dec(80)).events.map(({ orderId, event }) => `${orderId} ${event}`),
    ).toEqual(['E RESTATE', 'E profitTarget RESTATE', 'E stopLoss RESTATE'])
  })
})

test('no exit ever works for more than what is held, whatever the ratio', () => {
  const size = fc.integer({ min: 1, max: 500 })
  const units = fc.integer({ min: 1, max: 20 })
  fc.assert(
    fc.property(size, size, units, units, (quantity, part, more, old) => {
      const filled = Math.min(part, quantity)
      const position = dec(filled).times(more).div(old)
      const { book } = split(bracketed(quantity, filled), more, old, position)
      for (const order of book.orders.values()) {
        const leaves = remainingQuantity(order)
        expect(leaves.isInteger()).toBe(true)
        if (order.exit && order.status === '0') expect(leaves.lessThanOrEqualTo(position)).toBe(true)
      }
    }),
  )
})
