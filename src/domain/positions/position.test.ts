import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Side } from '../codes.ts'
import { dec, zero } from '../decimal.ts'
import {
  applyFill,
  type Conversion,
  cashTakenBack,
  flat,
  inferredFillPrice,
  type Position,
  reducible,
  takeBack,
  unrealised,
} from './position.ts'

const stock: Conversion = { securityType: 'CS', pointValue: dec(1), fx: dec(1) }
const future: Conversion = { securityType: 'FUT', pointValue: dec(50), fx: dec(1) }
const fill = (side: Side, quantity: number, price: number) => ({
  side,
  quantity: dec(quantity),
  price: dec(price),
})
const held = (quantity: number, avgPx: number, conversion = stock): Position =>
  applyFill(flat, fill(quantity > 0 ? '1' : '2', Math.abs(quantity), avgPx), conversion).position

describe('a fill', () => {
  // before, fill, conversion; then quantity, average, closed, opened, realised, cash
  test.each<[string, Position, ReturnType<typeof fill>, Conversion, (number | null)[]]>([
    ['opens long', flat, fill('1', 10, 5), stock, [10, 5, 0, 10, 0, -50]],
    ['opens short', flat, fill('2', 10, 5), stock, [-10, 5, 0, 10, 0, 50]],
    ['increases', held(10, 5), fill('1', 30, 7), stock, [40, 6.5, 0, 30, 0, -210]],
    ['reduces and keeps the average', held(10, 5), fill('2', 4, 7), stock, [6, 5, 4, 0, 8, 28]],
    ['closes', held(10, 5), fill('2', 10, 4), stock, [0, null, 10, 0, -10, 40]],
    ['goes through zero', held(10, 5), fill('2', 25, 7), stock, [-15, 7, 10, 15, 20, 175]],
    ['covers a short', held(-10, 5), fill('1', 4, 7), stock, [-6, 5, 4, 0, -8, -28]],
    ['opens a future without cash', flat, fill('1', 2, 5000), future, [2, 5000, 0, 2, 0, 0]],
    [
      'closes a future for its result',
      held(2, 5000, future),
      fill('2', 2, 5010),
      future,
      [0, null, 2, 0, 1000, 1000],
    ],
    ['turns a future', held(-2, 5000, future), fill('1', 3, 5010), future, [1, 5010, 2, 1, -1000, -1000]],
  ])('%s', (_name, before, given, conversion, expected) => {
    const { position, closed, opened, realised, cash } = applyFill(before, given, conversion)
    const numbers = [position.quantity, position.avgPx, closed, opened, realised, cash]
    expect(numbers.map((value) => value && value.toNumber() + 0)).toEqual(expected)
  })

  test('in a foreign currency a stock realises each side at its own rate, a future at the rate of the close', () => {
    const later = { fx: dec('1.2') }
    const buy = { fx: dec('1.1') }
    const stockHeld = applyFill(flat, fill('1', 100, 10), { ...stock, ...buy }).position
    expect(applyFill(stockHeld, fill('2', 100, 10), { ...stock, ...later }).realised.toNumber()).toBe(100)
    const futureHeld = applyFill(flat, fill('1', 1, 10), { ...future, ...buy }).position
    expect(applyFill(futureHeld, fill('2', 1, 11), { ...future, ...later }).realised.toNumber()).toBe(60)
  })
})

test.each<[string, number, Side, number, number]>([
  ['a sell against a long', 10, '2', 6, 6],
  ['at most the position', 10, '2', 16, 10],
  ['a buy against a short', -10, '1', 16, 10],
  ['the wrong side', 10, '1', 6, 0],
  ['nothing held', 0, '2', 6, 0],
])('reducible: %s', (_name, position, side, leaves, expected) => {
  expect(reducible(dec(position), side, dec(leaves)).toNumber()).toBe(expected)
})

const anyFill = fc.record({
  side: fc.constantFrom<Side>('1', '2'),
  quantity: fc.integer({ min: 1, max: 500 }).map((value) => dec(value).div(10)),
  price: fc.integer({ min: 1, max: 100_000 }).map((value) => dec(value).div(100)),
})

test.each([
  ['stocks', stock],
  ['futures', future],
])(
  'conservation for %s: fills sum to the position, realised plus unrealised to the flows',
  (_name, conversion) => {
    fc.assert(
      fc.property(fc.array(anyFill, { minLength: 1, maxLength: 20 }), (fills) => {
        let position = flat
        let result = zero
        let signed = zero
        let flows = zero
        for (const each of fills) {
          const change = applyFill(position, each, conversion)
          const traded = each.quantity.times(each.side === '1' ? 1 : -1)
          expect(change.closed.plus(change.opened).equals(each.quantity)).toBe(true)
          position = change.position
          result = result.plus(change.realised)
          signed = signed.plus(traded)
          flows = flows.minus(traded.times(each.price).times(conversion.pointValue))
          const worth = signed.times(each.price).times(conversion.pointValue)
          const total = result.plus(unrealised(position, each.price, conversion))
          expect(position.quantity.equals(signed)).toBe(true)
          expect((position.avgPx === null) === signed.isZero()).toBe(true)
          expect(total.minus(flows).minus(worth).abs().lessThan('1e-20')).toBe(true)
        }
      }),
    )
  },
)

describe('the price that explains another position', () => {
  // held, reported; the price
  test.each<[string, Position, Position, number | null]>([
    ['a new one', flat, held(3, 100), 100],
    ['more of a long', held(2, 100), held(3, 110), 130],
    ['more of a short', held(-2, 100), held(-3, 110), 130],
    ['less of a long', held(3, 100), held(1, 90), 100],
    ['less of a short', held(-3, 100), held(-1, 90), 100],
    ['none any more', held(-3, 100), flat, 100],
    ['the other side', held(2, 100), held(-5, 90), 90],
    ['the same', held(2, 100), held(2, 90), null],
    ['an average that no price explains', held(2, 100), held(3, 60), null],
    ['nor one that is nothing', held(2, 90), held(3, 60), null],
  ])('%s', (_, before, reported, price) => {
    expect(inferredFillPrice(before, reported)?.toNumber() ?? null).toBe(price)
  })

  test('of more, and of the other side, needs the average', () => {
    const unknown = (quantity: number) => ({ quantity: dec(quantity), avgPx: null })
    expect(inferredFillPrice(held(2, 100), unknown(3))).toBeNull()
    expect(inferredFillPrice(held(2, 100), unknown(-3))).toBeNull()
    expect(inferredFillPrice(held(2, 100), unknown(1))?.toNumber()).toBe(100)
  })
})

describe('taking a fill back', () => {
  // before, the opposite of the fill; then quantity and average
  test.each<[string, Position, ReturnType<typeof fill>, number, number | null]>([
    ['the only one', held(2, 100), fill('2', 2, 100), 0, null],
    ['an increase undoes its share of the average', held(3, 110), fill('2', 1, 130), 2, 100],
    ['a reduction keeps the average', held(1, 100), fill('1', 2, 120), 3, 100],
    ['the whole of a close', flat, fill('1', 2, 120), 2, 120],
    ['an increase of a short', held(-3, 110), fill('1', 1, 130), -2, 100],
    ['through zero', held(1, 100), fill('2', 3, 90), -2, 90],
    ['never to a price of nothing', held(2, 10), fill('2', 1, 50), 1, 10],
    ['at prices below one', held(3, 0.5), fill('2', 1, 0.9), 2, 0.3],
    ['nor to nothing itself', held(2, 10), fill('2', 1, 20), 1, 10],
  ])('%s', (_, before, opposite, quantity, average) => {
    const { quantity: left, avgPx } = takeBack(before, opposite, stock)
    expect([left.toNumber(), avgPx?.toNumber() ?? null]).toEqual([quantity, average])
  })

  // A future trades below nothing as well: what it was bought at before; then its average and the cost of one.
  test.each<[string, number[], number]>([
    ['below nothing', [-36, -42], -30],
    ['from above nothing below it', [-10], 50],
    ['from below nothing above it', [30], -50],
    ['from nothing', [-10], 10],
    ['to nothing', [0], 50],
    ['at nothing all along', [0], 0],
  ])('the last fill of a future, as if it had never been: %s', (_, prices, last) => {
    for (const [side, opposite] of [
      ['1', '2'],
      ['2', '1'],
    ] as const) {
      const buy = (position: Position, price: number) =>
        applyFill(position, fill(side, 1, price), future).position
      const before = prices.reduce(buy, flat)
      const { quantity, avgPx, avgCost } = takeBack(buy(before, last), fill(opposite, 1, last), future)
      expect([quantity, avgPx, avgCost].map(String)).toEqual(
        [before.quantity, before.avgPx, before.avgCost].map(String),
      )
    }
  })

  test('what is held again costs what its contract is worth', () => {
    const foreign = { ...future, fx: dec('0.5') }
    expect(takeBack(flat, fill('1', 2, 120), foreign).avgCost?.toNumber()).toBe(120 * 50 * 0.5)
  })

  test('the cost of a unit follows its average, each at the rate of its day', () => {
    const foreign = { ...held(3, 110), avgCost: dec(220) }
    expect(takeBack(foreign, fill('2', 1, 130), stock).avgCost?.toNumber()).toBe(200)
    expect(takeBack(foreign, fill('1', 2, 130), stock).avgCost?.toNumber()).toBe(220)
  })

  test('moves money at the rate of now', () => {
    const half = { ...future, fx: dec('0.5') }
    const left = takeBack(held(1, 100), fill('1', 2, 120), half)
    expect(cashTakenBack(held(1, 100), left, fill('1', 2, 120), half).toNumber()).toBe(
      -20 * 2 * future.pointValue.toNumber() * 0.5,
    )
  })

  test('of a future leaves the money that its other fills have made', () => {
    const stories = fc.array(fc.record({ each: anyFill, undone: fc.option(fc.nat(19)) }), {
      minLength: 1,
      maxLength: 20,
    })
    fc.assert(
      fc.property(stories, (story) => {
        const standing: ReturnType<typeof fill>[] = []
        let position = flat
        let cash = zero
        for (const { each, undone } of story) {
          const change = applyFill(position, each, future)
          standing.push(each)
          cash = cash.plus(change.cash)
          position = change.position
          const [found] = undone === null ? [] : standing.splice(undone % standing.length, 1)
          if (found) {
            const opposite = { ...found, side: found.side === '1' ? '2' : '1' } as const
            const left = takeBack(position, opposite, future)
            cash = cash.plus(cashTakenBack(position, left, opposite, future))
            position = left
          }
          const worth = cash.plus(unrealised(position, each.price, future))
          const made = standing.reduce((sum, { side, quantity, price }) => {
            const gained = each.price.minus(price).times(quantity).times(future.pointValue)
            return side === '1' ? sum.plus(gained) : sum.minus(gained)
          }, zero)
          expect(worth.minus(made).abs().lessThan('1e-15')).toBe(true)
        }
      }),
    )
  })
})
