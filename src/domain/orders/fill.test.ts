import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  type SimulatedBook,
  simulatedBook,
  simulatedPort,
} from '../../../test/support/kernel/simulated-book.ts'
import { directionOf, type OrdType, type PositionEffect, type Side } from '../codes.ts'
import { type Decimal, dec, sum } from '../decimal.ts'
import { observeQuote, type Quote } from '../market/quote.ts'
import { defaultFillConfig, type FillConfig } from './fill.ts'
import { type Bar, fillAgainstBar } from './fill-bars.ts'
import { fillAgainstQuote } from './fill-quotes.ts'
import { type BookOrder, newBookOrder } from './order-book.ts'

const side = fc.constantFrom<Side>('1', '2')
const price = fc.integer({ min: 900, max: 1100 }).map((ticks) => dec(ticks).div(100))
const quantity = fc.integer({ min: 1, max: 50 }).map(dec)
const participation = fc.constantFrom(null, dec('0.3'))

const order = fc
  .record({
    side,
    type: fc.constantFrom<OrdType>('1', '2', '3'),
    positionEffect: fc.constantFrom<PositionEffect>('O', 'C'),
    leaves: quantity,
    limit: price,
    stop: price,
    acceptedAt: fc.integer({ min: 0, max: 3 }),
    workingSince: fc.integer({ min: 0, max: 3 }),
    group: fc.constantFrom(null, 'g'),
    isExit: fc.boolean(),
  })
  .map(({ group, isExit, ...fields }) => ({ ...fields, group, isExit }))

/** Some orders become bracket exits of the first one, on its other side. */
const family = fc.array(order, { minLength: 1, maxLength: 8 }).map((drafts): BookOrder[] => {
  const entry = drafts[0]!
  return drafts.map(({ group, isExit: wantsExit, leaves, ...draft }, index) => {
    const isExit = wantsExit && index > 0 && draft.type !== '1'
    const held = newBookOrder(leaves, {
      ...draft,
      id: String(index),
      side: isExit ? (entry.side === '1' ? '2' : '1') : draft.side,
      workingSince: isExit ? null : draft.workingSince,
      positionEffect: isExit ? 'C' : index === 0 ? 'O' : draft.positionEffect,
      exit: isExit ? (draft.type === '3' ? 'stopLoss' : 'profitTarget') : null,
      parent: isExit ? '0' : null,
      ocaGroup: isExit ? group : null,
    })
    return isExit ? held : { ...held, status: '0', held: false, acknowledged: true }
  })
})

const position = fc.integer({ min: -60, max: 60 }).map(dec)
const bookOf = (orders: BookOrder[], held: Decimal): SimulatedBook => simulatedBook(held, orders)

const bar = fc
  .tuple(fc.array(price, { minLength: 3, maxLength: 3 }), fc.integer({ min: 0, max: 300 }))
  .map(([prices, volume]): Omit<Bar, 'start'> => {
    const [low, open, high] = [...prices].sort((a, b) => a.comparedTo(b))
    return { open: open!, high: high!, low: low!, volume: dec(volume) }
  })
const quote = fc
  .record({ bid: price, spread: fc.integer({ min: -2, max: 30 }), bidSize: quantity, askSize: quantity })
  .map(({ bid, spread, ...sizes }): Quote => ({ bid, ask: bid.plus(dec(spread).div(100)), ...sizes }))

const configWith = (share: Decimal | null): FillConfig => ({
  ...defaultFillConfig('CS', dec('0.01')),
  participation: share,
})

/** What must hold of any run, however the market moved. */
function checkBook(before: SimulatedBook, after: SimulatedBook): void {
  let held = before.book.position
  const orders = [...after.book.orders.values()]
  for (const fill of after.fills) {
    const filled = orders.find(({ id }) => id === fill.orderId)!
    const next = held.plus(fill.quantity.times(directionOf(filled.side)))
    expect(fill.quantity.greaterThan(0)).toBe(true)
    if (filled.positionEffect === 'C') expect(next.abs().plus(fill.quantity).equals(held.abs())).toBe(true)
    else expect(next.abs().equals(held.abs().plus(fill.quantity))).toBe(true)
    if (filled.type === '2') {
      expect(
        filled.side === '1'
          ? fill.price.lessThanOrEqualTo(filled.limit!)
          : fill.price.greaterThanOrEqualTo(filled.limit!),
      ).toBe(true)
    }
    held = next
  }
  expect(after.book.position.equals(held)).toBe(true)
  const entryFilled = orders[0]!.filledQuantity
  const grouped = orders.filter(({ ocaGroup }) => ocaGroup !== null)
  expect(sum(grouped.map(({ filledQuantity }) => filledQuantity)).lessThanOrEqualTo(entryFilled)).toBe(true)
  for (const { id, filledQuantity } of orders) {
    const booked = after.fills.filter((fill) => fill.orderId === id).map((fill) => fill.quantity)
    expect(sum(booked).equals(filledQuantity)).toBe(true)
  }
}

describe('any run of quotes', () => {
  test('keeps quantities, limits and sizes; closing only reduces', () => {
    fc.assert(
      fc.property(
        family,
        position,
        fc.array(quote, { maxLength: 8 }),
        participation,
        (orders, held, quotes, share) => {
          const config = configWith(share)
          const before = bookOf(orders, held)
          let book = before
          for (const seen of quotes) {
            const last = observeQuote(null, seen, { at: 0, inSession: true }, share)
            if (!last) continue
            const result = fillAgainstQuote(book, simulatedPort, last, config)
            const fills = result.book.fills.slice(book.fills.length)
            for (const each of ['1', '2'] as const) {
              const taken = sum(
                fills
                  .filter(({ orderId }) => orders[Number(orderId)]!.side === each)
                  .map((fill) => fill.quantity),
              )
              expect(result.last.unused[each]?.toString()).toBe(last.unused[each]?.minus(taken).toString())
              expect(result.last.unused[each]?.isNegative() ?? false).toBe(false)
            }
            book = result.book
          }
          checkBook(before, book)
        },
      ),
    )
  })

  test('an arrival is served alone', () => {
    const last = observeQuote(
      null,
      { bid: dec(10), ask: dec(10), bidSize: null, askSize: null },
      { at: 0, inSession: true },
      null,
    )!
    fc.assert(
      fc.property(family, position, (orders, held) => {
        const market = orders.map((each) => ({
          ...each,
          type: '1' as const,
          positionEffect: 'O' as const,
          side: '1' as const,
        }))
        const { book } = fillAgainstQuote(bookOf(market, held.abs()), simulatedPort, last, configWith(null), [
          '0',
        ])
        const started = [...book.book.orders.values()].filter(({ exit }) => exit !== null).map(({ id }) => id)
        expect(book.fills.every(({ orderId }) => orderId === '0' || started.includes(orderId))).toBe(true)
        expect(book.fills[0]?.orderId).toBe('0')
      }),
    )
  })
})

describe('any run of bars', () => {
  test('keeps quantities, limits, volume and the range of the bar; closing only reduces', () => {
    fc.assert(
      fc.property(
        family,
        position,
        fc.array(bar, { maxLength: 8 }),
        participation,
        (orders, held, bars, share) => {
          const before = bookOf(orders, held)
          let book = before
          for (const [index, shape] of bars.entries()) {
            const seen = { ...book, bar: index, at: index }
            const next = fillAgainstBar(seen, simulatedPort, { ...shape, start: index }, configWith(share))
            const fills = next.fills.slice(book.fills.length)
            for (const fill of fills) {
              expect(
                fill.price.greaterThanOrEqualTo(shape.low) && fill.price.lessThanOrEqualTo(shape.high),
              ).toBe(true)
              expect((orders[Number(fill.orderId)]!.workingSince ?? 0) <= index).toBe(true)
            }
            if (share) {
              const volume = shape.volume!.times(share).floor()
              expect(sum(fills.map((fill) => fill.quantity)).lessThanOrEqualTo(volume)).toBe(true)
            }
            book = next
          }
          checkBook(before, book)
        },
      ),
    )
  })
})

test.each([
  ['CS', 0.1],
  ['FUT', 0.1],
  ['OPT', 0.5],
] as const)('of a %s a spread up to %d of the middle triggers stops', (securityType, widest) => {
  expect(defaultFillConfig(securityType, null).maxTriggerSpread?.toNumber()).toBe(widest)
})
