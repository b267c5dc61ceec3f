import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { OrdStatus } from '../codes.ts'
import { dec } from '../decimal.ts'
import { type ExecutionReport, foldReports, type GapTimeout } from './broker-reports.ts'

type Row = [
  execId: string,
  status: OrdStatus,
  cumQty: number,
  avgPx?: number,
  lastQty?: number,
  lastPx?: number,
]

const timeout: GapTimeout = { event: 'GAP_TIMEOUT' }

const report = ([execId, ordStatus, cumQty, avgPx, lastQty = 0, lastPx = 0]: Row): ExecutionReport => ({
  event: 'REPORT',
  execId,
  ordStatus,
  cumQty: dec(cumQty),
  avgPx: avgPx === undefined ? null : dec(avgPx),
  lastQty: dec(lastQty),
  lastPx: dec(lastPx),
})

const fold = (rows: readonly (Row | 'timeout')[]) => {
  const order = foldReports(
    dec(100),
    rows.map((row) => (row === 'timeout' ? timeout : report(row))),
  )
  return [
    order.status,
    order.filledQuantity.toNumber(),
    order.averagePrice?.toNumber() ?? null,
    order.missingQuantity.toNumber(),
    order.inferredQuantity.toNumber(),
  ]
}

const first: Row = ['f1', '1', 40, 10, 40, 10]
const last: Row = ['f2', '2', 100, 11.2, 60, 12]

// biome-ignore format: one case per line
const cases: readonly (readonly [string, readonly (Row | 'timeout')[], unknown[]])[] = [
  ['nothing yet', [], ['A', 0, null, 0, 0]],
  ['acknowledged', [['n', '0', 0]], ['0', 0, null, 0, 0]],
  ['acknowledged before sent', [['n', '0', 0], ['p', 'A', 0]], ['0', 0, null, 0, 0]],
  ['two fills', [first, last], ['2', 100, 11.2, 0, 0]],
  ['in the wrong order', [last, first], ['2', 100, 11.2, 0, 0]],
  ['repeated', [first, first, last, last, first], ['2', 100, 11.2, 0, 0]],
  ['a fill is missing', [last], ['2', 60, 12, 40, 0]],
  ['and inferred at the price that makes the average', [last, 'timeout'], ['2', 100, 11.2, 0, 40]],
  ['a second time-out adds nothing', [last, 'timeout', 'timeout'], ['2', 100, 11.2, 0, 40]],
  ['the real fill replaces it', [last, 'timeout', first], ['2', 100, 11.2, 0, 0]],
  ['in part', [last, 'timeout', ['f0', '1', 10, 9, 10, 9]], ['2', 100, 11.1, 0, 30]],
  ['the rest keeps its price', [last, 'timeout', ['f0', '1', 10, 9, 10, 9], 'timeout'], ['2', 100, 11.1, 0, 30]],
  ['a new fill beyond it adds', [['s', '1', 40, 10], 'timeout', last], ['2', 100, 11.2, 0, 40]],
  ['a time-out without a gap', [first, 'timeout'], ['1', 40, 10, 0, 0]],
  ['no average, no inference', [['s', '1', 40], 'timeout'], ['1', 0, null, 40, 0]],
  ['a lower total moves nothing', [first, ['n', '0', 0]], ['1', 40, 10, 0, 0]],
  ['pending cancel after a fill', [first, ['c', '6', 40, 10]], ['6', 40, 10, 0, 0]],
  ['pending cancel outranks pending replace', [['r', 'E', 0], ['c', '6', 0], ['r2', 'E', 0]], ['6', 0, null, 0, 0]],
  ['filled stands before pending cancel', [first, last, ['c', '6', 100, 11.2]], ['2', 100, 11.2, 0, 0]],
  ['also when it comes later', [first, ['c', '6', 100, 11.2], last], ['2', 100, 11.2, 0, 0]],
  ['pending replace though all is filled', [first, ['r', 'E', 100, 11.2, 60, 12]], ['E', 100, 11.2, 0, 0]],
  ['new though a part is filled', [['n', '0', 40, 10, 40, 10]], ['1', 40, 10, 0, 0]],
  ['pending though a part is filled', [['n', 'A', 40, 10, 40, 10]], ['1', 40, 10, 0, 0]],
  ['canceled stands before pending cancel', [['x', '4', 0], ['c', '6', 0]], ['4', 0, null, 0, 0]],
  ['a cancel with a lower total wins', [first, ['x', '4', 0]], ['4', 40, 10, 0, 0]],
  ['an expiry with a lower total wins', [first, ['x', 'C', 0]], ['C', 40, 10, 0, 0]],
  ['a fill after the cancel', [['x', '4', 0], first], ['4', 40, 10, 0, 0]],
  ['fills that complete a canceled order', [['x', '4', 0], first, last], ['2', 100, 11.2, 0, 0]],
  ['canceled with a fill missing', [['x', '4', 40, 10]], ['4', 0, null, 40, 0]],
  ['rejected', [['x', '8', 0]], ['8', 0, null, 0, 0]],
  ['a cancel stands before a rejection', [['x', '4', 0], ['y', '8', 0]], ['4', 0, null, 0, 0]],
  ['in either order', [['y', '8', 0], ['x', '4', 0]], ['4', 0, null, 0, 0]],
  ['a rejection after a fill is a cancel', [first, ['x', '8', 0]], ['4', 40, 10, 0, 0]],
  ['pending cancel though all is filled', [first, ['c', '6', 100, 11.2, 60, 12]], ['6', 100, 11.2, 0, 0]],
  ['an average that comes later', [['s', '1', 40], ['t', '1', 40, 10], 'timeout'], ['1', 40, 10, 0, 40]],
  ['an average that is not told again', [['s', '1', 40, 10], ['t', '1', 40], 'timeout'], ['1', 40, 10, 0, 40]],
  ['the average of the highest total', [['s', '1', 40, 10], ['t', '1', 80, 11], 'timeout'], ['1', 80, 11, 0, 80]],
  ['a cancel of what was complete', [['x', '4', 100, 10]], ['2', 0, null, 100, 0]],
  ['an overfill ends a pending cancel', [first, ['c', '6', 105, 10, 65, 10]], ['2', 105, 10, 0, 0]],
  ['an overfill is booked in full', [first, last, ['f3', '1', 105, 11.2, 5, 11.2]], ['2', 105, 11.2, 0, 0]],
]

describe('broker reports', () => {
  test.each(cases)('%s', (_name, rows, expected) => {
    expect(fold(rows)).toEqual(expected)
  })

  test('repeats and surplus are counted', () => {
    const order = foldReports(dec(90), [first, first, last, first].map(report))
    expect([order.duplicates, order.overfill.toNumber(), order.status]).toEqual([2, 10, '2'])
  })
})

describe('laws', () => {
  /** A true history: fills one after the other, perhaps a pending cancel and an end. */
  const history = fc
    .record({
      fills: fc.array(
        fc.record({ quantity: fc.integer({ min: 1, max: 30 }), price: fc.integer({ min: 1, max: 50 }) }),
        { maxLength: 5 },
      ),
      pending: fc.boolean(),
      end: fc.constantFrom<OrdStatus | null>(null, '4', 'C'),
    })
    .map(({ fills, pending, end }) => {
      const rows: Row[] = [['new', '0', 0]]
      let cumQty = 0
      let amount = 0
      for (const [index, { quantity, price }] of fills.entries()) {
        cumQty += quantity
        amount += quantity * price
        rows.push([`f${index}`, cumQty >= 100 ? '2' : '1', cumQty, amount / cumQty, quantity, price])
      }
      if (pending) rows.push(['pending', '6', cumQty])
      if (end) rows.push(['end', end, cumQty])
      return rows
    })

  const shuffled = history.chain((rows) =>
    fc.tuple(fc.constant(rows), fc.shuffledSubarray([...rows, ...rows], { minLength: 2 * rows.length })),
  )

  test('order and repetition do not matter', () => {
    fc.assert(
      fc.property(shuffled, ([rows, received]) => {
        expect(fold(received)).toEqual(fold(rows))
      }),
      { numRuns: 500 },
    )
  })

  test('a time-out on the way does not change the end', () => {
    fc.assert(
      fc.property(shuffled, fc.nat(20), ([rows, received], at) => {
        const events = [...received.slice(0, at), 'timeout' as const, ...received.slice(at)]
        expect(fold(events)).toEqual(fold(rows))
      }),
      { numRuns: 500 },
    )
  })

  test('known, inferred and missing make up what the broker claims', () => {
    fc.assert(
      fc.property(history, fc.nat(5), (rows, lost) => {
        const received = rows.filter((_row, index) => index !== lost)
        const claimed = Math.max(0, ...received.map(([, , cumQty]) => cumQty))
        const [, before, , missing] = fold(received) as number[]
        const [, filled, , left, inferred] = fold([...received, 'timeout']) as number[]
        expect(before! + missing!).toBe(claimed)
        expect(filled! + left!).toBe(claimed)
        expect(inferred! + left!).toBe(missing)
      }),
    )
  })
})
