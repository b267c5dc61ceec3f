import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { PositionEffect, SecurityType, Side } from '../codes.ts'
import { dec } from '../decimal.ts'
import {
  codeNumber,
  codeOf,
  type FollowerColumns,
  followerColumns,
  noMaximum,
  permissionBits,
  type SignalFacts,
} from './mirror-columns.ts'
import { explainRow, followerAt, isCrowdedOut, planFollower, planSignal } from './mirror-plan.ts'
import { planWhole, wholeSignal } from './mirror-whole.ts'
import { type BlockCode, skipCodes } from './skip.ts'

const none = Number.NaN

type Row = Partial<Record<Exclude<keyof FollowerColumns, 'count'>, number>>

function columnsOf(rows: readonly Row[]): FollowerColumns {
  const columns = followerColumns(rows.length)
  rows.forEach((row, index) => {
    for (const [name, value] of Object.entries(row)) columns[name as keyof Row][index] = value
  })
  return columns
}

type Signal = {
  cls?: SecurityType
  side?: Side
  open?: PositionEffect
  q: number
  filled?: number
  filledBefore?: number
  p?: number
  ref?: number | null
  kept?: number
}

const signalOf = ({
  cls = 'FUT',
  side = '1',
  open = 'O',
  q,
  filled = 0,
  filledBefore = 0,
  p = 0,
  ref = null,
  kept = 0,
}: Signal): SignalFacts => ({
  assetClass: cls,
  side,
  positionEffect: open,
  quantity: dec(q),
  filled: dec(filled),
  filledBefore: dec(filledBefore),
  strategyPosition: dec(p),
  referencePrice: ref === null ? null : dec(ref),
  entryKept: dec(kept),
})

function outcome(signal: Signal, row: Row): [number, string | null] {
  const plan = planSignal(signalOf(signal), columnsOf([row]))
  return [plan.quantity[0]!, codeOf(plan.code[0]!)]
}

const { enabled, long, short, closingOrdersOnly } = permissionBits
const buy: Signal = { q: 10 }
const sell: Signal = { q: 10, side: '2', open: 'C', p: 10 }

// biome-ignore format: one case per line
const outcomes: readonly (readonly [string, Signal, Row, number, string | null])[] = [
  ['plain', buy, {}, 10, null],
  ['scaled and capped order', buy, { scalingPercentage: 150, maximum: 12 }, 12, 'CappedToMaximum'],
  ['raised order', buy, { scalingPercentage: 10, minimum: 4 }, 4, 'RaisedToMinimum'],
  ['rounded to zero', buy, { scalingPercentage: 9 }, 0, 'RoundedToZero'],
  ['capped to nothing', buy, { maximum: 0 }, 0, 'CappedToMaximum'],
  ['no price under a dollar cap', { ...buy, cls: 'CS' }, { maximumDollars: 100 }, 0, 'NoReferencePrice'],
  ['dollar cap', { ...buy, cls: 'CS', ref: 12.5 }, { maximumDollars: 100 }, 8, 'CappedToMaximum'],
  ['class disabled', buy, { permissions: long | short }, 0, 'AssetClassDisabled'],
  ['no longs', buy, { permissions: enabled | short }, 0, 'LongNotAllowed'],
  ['no shorts', { ...buy, side: '2' }, { permissions: enabled | long }, 0, 'ShortNotAllowed'],
  ['closing only', buy, { permissions: enabled | long | short | closingOrdersOnly }, 0, 'ClosingOrdersOnly'],
  ['no increase', { q: 1, p: 10 }, { scalingPercentage: 33, position: 3 }, 0, 'NoIncrease'],
  ['close', sell, { position: 7 }, 7, null],
  ['close without permissions', sell, { position: 7, permissions: 0 }, 7, null],
  ['nothing held', sell, {}, 0, 'NothingHeld'],
  ['held on the other side', sell, { position: -7 }, 0, 'NothingHeld'],
  ['all of it already being closed', sell, { position: 7, closingLeaves: 7 }, 0, 'NothingHeld'],
  ['part of it already being closed', sell, { position: 7, closingLeaves: 5 }, 2, null],
  ['a close that changes nothing', { ...sell, q: 2, p: 6 }, { scalingPercentage: 50, maximum: 1, position: 1 }, 0, 'CappedToMaximum'],
  ['a close that rounds away', { ...sell, q: 1, p: 10 }, { scalingPercentage: 10, position: 0 }, 0, 'NothingHeld'],
  ['a close within the rounding', { ...sell, q: 1, p: 11 }, { scalingPercentage: 10, position: 1 }, 0, 'NoIncrease'],
  ['an exit of what the entry has bought here', { ...sell, q: 4, p: 4 }, { filledAhead: 4, executed: 2, position: 2, entryExecuted: 2 }, 2, null],
  ['an entry that filled before the plan', { q: 10, filled: 10, p: 10 }, {}, 10, null],
  ['a copy made after part was filled', { q: 10, filled: 4, filledBefore: 4, p: 4 }, { position: 4 }, 6, null],
  ['another live signal of the symbol', { q: 3, p: 6 }, { scalingPercentage: 150, filledAhead: 6, position: 2, executed: 2 }, 4, null],
  ['excluded', sell, { position: 7, block: codeNumber('Excluded') }, 0, 'Excluded'],
]

describe('outcome of one follower', () => {
  test.each(outcomes)('%s', (_name, signal, row, quantity, code) => {
    expect(outcome(signal, row)).toEqual([quantity, code])
    const decision = planFollower(signalOf(signal), followerAt(columnsOf([row]), 0))
    expect([decision.quantity.toNumber() + 0, decision.code]).toEqual([quantity, code])
  })

  test.each([
    ['Excluded', 0],
    ['AutotradeDisabled', 0],
    ['BrokerDisabled', 0],
    ['NotTradableAtBroker', 0],
    ['SubscriptionEnded', 7],
    ['UnknownOutcomePending', 7],
    ['MassSwitch', 7],
  ] as [BlockCode, number][])('%s stops every opening and leaves %d of a close', (code, closed) => {
    const row = { position: 7, block: codeNumber(code) }
    expect(outcome(buy, row)).toEqual([0, code])
    expect(outcome(sell, row)).toEqual([closed, closed === 0 ? code : null])
  })

  test.each<[string, Signal, Row, boolean]>([
    ['older closing orders keep all of it', sell, { position: 7, closingLeaves: 7 }, true],
    ['those of a short', { ...sell, side: '1', p: -10 }, { position: -7, closingLeaves: 7 }, true],
    ['they leave a part', sell, { position: 7, closingLeaves: 5 }, false],
    ['nothing is held', sell, {}, false],
    ['the other side is held', sell, { position: -7, closingLeaves: 7 }, false],
    ['a circumstance forbids it', sell, { position: 7, block: codeNumber('Excluded') }, false],
    ['the size stays as it is', { ...sell, q: 1, p: 11 }, { scalingPercentage: 10, position: 1 }, false],
  ])('left to AutoSync: %s', (_, given, row, isLeft) => {
    const [signal, columns] = [signalOf(given), columnsOf([row])]
    expect(isCrowdedOut(signal, columns, planSignal(signal, columns), 0)).toBe(isLeft)
  })

  test('the numbers behind a row', () => {
    const signal = signalOf({ cls: 'CS', q: 10, p: 5, ref: 12.5 })
    const columns = columnsOf([{ maximumDollars: 100, scalingPercentage: 50, position: 2 }])
    const explained = explainRow(signal, columns, planSignal(signal, columns), 0)
    const { code, price, limit, ...rest } = explained
    expect([code, price?.toNumber(), limit?.toNumber()]).toEqual([null, 12.5, 100])
    expect(Object.values(rest).map(Number)).toEqual([15, 50, 2])
  })

  test('the minimum is the limit of a raised size', () => {
    const signal = signalOf({ q: 1 })
    const columns = columnsOf([{ minimum: 4, maximum: 9 }])
    expect(explainRow(signal, columns, planSignal(signal, columns), 0).limit?.toNumber()).toBe(4)
  })
})

/** Mostly small whole numbers, at times fractions and numbers near the edge of exactness. */
const amount = (largest: number) =>
  fc.oneof(
    { weight: 12, arbitrary: fc.integer({ min: -largest, max: largest }) },
    {
      weight: 1,
      arbitrary: fc.integer({ min: -8 * largest, max: 8 * largest }).map((eighths) => eighths / 8),
    },
    { weight: 1, arbitrary: fc.constantFrom(4e12, -4e12, 123456789012345) },
  )
const positive = (largest: number) => amount(largest).map(Math.abs)
const optional = (largest: number) => fc.oneof(fc.constant(none), positive(largest))
const cap = (largest: number) => fc.oneof(fc.constant(noMaximum), fc.nat(largest), fc.constant(2 ** 31 - 1))

const signals = fc.record({
  cls: fc.constantFrom<SecurityType>('CS', 'FUT', 'OPT', 'FOR'),
  side: fc.constantFrom<Side>('1', '2'),
  open: fc.constantFrom<PositionEffect>('O', 'C'),
  q: positive(60),
  filled: positive(20),
  filledBefore: positive(10),
  p: amount(60),
  ref: fc.oneof(
    fc.constantFrom(null, 1.234567891),
    fc.integer({ min: 0, max: 4000 }).map((ticks) => ticks / 100),
  ),
  kept: positive(20),
})

const rows = fc.record({
  scalingPercentage: fc.oneof(fc.integer({ min: 1, max: 1000 }), fc.constantFrom(50, 100)),
  permissions: fc.integer({ min: 0, max: 15 }),
  minimum: fc.nat(4),
  maximum: cap(40),
  maximumDollars: cap(3000),
  lot: fc.constantFrom(1, 1, 5, 10),
  block: fc.oneof(
    { weight: 8, arbitrary: fc.constant(0) },
    { weight: 1, arbitrary: fc.constantFrom<BlockCode>('Excluded', 'MassSwitch').map(codeNumber) },
  ),
  position: amount(60),
  executed: amount(10),
  filledAhead: amount(10),
  closingLeaves: positive(10),
  entryExecuted: optional(20),
})

describe('the plan over columns', () => {
  test('is the decimal definition, row by row', () => {
    fc.assert(
      fc.property(signals, fc.array(rows, { minLength: 1, maxLength: 8 }), (given, followers) => {
        const signal = signalOf(given)
        const columns = columnsOf(followers)
        const plan = planSignal(signal, columns)
        followers.forEach((_row, index) => {
          const { quantity, code, strategyQuantity, limit } = planFollower(signal, followerAt(columns, index))
          const planned = [plan.quantity, plan.strategyQuantity, plan.limit].map(
            (column) => column[index]! + 0,
          )
          const defined = [quantity, strategyQuantity, limit ?? none].map((value) => Number(value) + 0)
          expect([codeOf(plan.code[index]!), ...planned]).toEqual([code, ...defined])
          expect(quantity.isZero() ? code : 'order').not.toBeNull()
        })
      }),
      { numRuns: 3000 },
    )
  })

  test('whole numbers take the whole-number form, others do not', () => {
    const whole = wholeSignal(signalOf({ q: 10, p: 5.5 }))!
    const columns = columnsOf([{}, { position: 0.5 }, { filledAhead: 0.1 }, { executed: 4e15 }])
    const plan = planSignal(signalOf(buy), columns)
    const taken = [0, 1, 2, 3].map((row) => planWhole(whole, columns, row, plan))
    expect(taken).toEqual([true, false, false, false])
    expect(wholeSignal(signalOf({ q: 1e16 }))).toBeNull()
    const priced = wholeSignal(signalOf({ cls: 'CS', q: 10, ref: 1.234567891 }))!
    const capped = columnsOf([{ maximumDollars: 1000 }, { maximumDollars: 2 ** 31 - 1 }])
    expect([0, 1].map((row) => planWhole(priced, capped, row, plan))).toEqual([true, false])
  })

  test('every code has its own number', () => {
    expect(new Set(skipCodes.map(codeNumber)).size).toBe(skipCodes.length)
    expect(skipCodes.map((code) => codeOf(codeNumber(code)))).toEqual(skipCodes)
    expect([codeNumber(null), codeOf(0)]).toEqual([0, null])
  })
})
