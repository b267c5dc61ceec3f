import { expect, test } from 'vitest'
import type { OrdStatus } from '../codes.ts'
import { dec } from '../decimal.ts'
import { gapWords, type OrderGap, orderGaps, readGapWords } from './order-gap.ts'

type Case = [name: string, ours: [OrdStatus, number], theirs: [OrdStatus, number] | null, gaps: OrderGap[]]

const cases: Case[] = [
  ['both work', ['0', 0], ['0', 0], []],
  ['partly filled on both sides', ['1', 3], ['1', 3], []],
  ['no confirmation came', ['A', 0], ['0', 0], ['ack']],
  ['neither confirmation nor fill came', ['A', 0], ['2', 5], ['ack', 'total']],
  ['a fill is missing', ['1', 2], ['1', 3], ['total']],
  ['the last fill is missing', ['1', 2], ['2', 5], ['total']],
  ['a fill and the end are missing', ['1', 2], ['4', 3], ['total', 'cancel']],
  ['the end is missing', ['0', 0], ['C', 0], ['expire']],
  ['the refusal is missing', ['A', 0], ['8', 0], ['reject']],
  ['a cancel waits for its answer', ['6', 0], ['0', 0], []],
  ['a cancel was confirmed unheard', ['6', 0], ['4', 0], ['cancel']],
  ['ended, and a fill is missing', ['4', 1], ['4', 2], ['total']],
  ['ended on both sides', ['4', 1], ['4', 1], []],
  ['the broker knows less than we booked', ['1', 3], ['1', 2], []],
  ['ended here, worked there', ['4', 0], ['0', 0], ['stillWorking']],
  ['ended here, filled in part and worked there', ['4', 1], ['1', 1], ['stillWorking']],
  ['confirmed on neither side', ['A', 0], ['A', 0], []],
  ['replaced there, by nobody here', ['0', 0], ['5', 0], ['cancel']],
  ['replaced there after a fill that is missing', ['1', 1], ['5', 2], ['total', 'cancel']],
  ['replaced there, and here it waits for that', ['E', 0], ['5', 0], []],
  ['replaced there while a cancel waits for its answer', ['6', 0], ['5', 0], []],
  ['filled there although its quantity here is more', ['1', 3], ['2', 3], ['cancel']],
  ['filled there, and ended here', ['4', 3], ['2', 3], []],
  ['unknown to the broker', ['0', 0], null, ['absent']],
  ['unknown to the broker and ended', ['8', 0], null, []],
]

test.each(cases)('%s', (_, [status, executed], theirs, gaps) => {
  const ours = { status, executed: dec(executed), restated: null, isReplacement: false }
  expect(orderGaps(ours, theirs && { status: theirs[0], cumQty: dec(theirs[1]) })).toEqual(gaps)
})

test('a replacement is confirmed as one', () => {
  const ours = { status: 'A', executed: dec(0), restated: null, isReplacement: true } as const
  expect(orderGaps(ours, { status: '0', cumQty: dec(0) })).toEqual(['replace'])
})

test.each([
  ['2', 'cancel'],
  ['4', 'cancel'],
  ['5', 'cancel'],
  ['C', 'expire'],
] as const)('while its count is unclear an order does not end (%s)', (status, end) => {
  const ours = { status: '1', executed: dec(40), restated: [dec(80)], isReplacement: false } as const
  expect(orderGaps(ours, { status, cumQty: dec(90) })).toEqual(['unclear'])
  expect(orderGaps(ours, { status, cumQty: dec(80) })).toEqual([end])
})

const counts: [string, number, number[], number, OrderGap[]][] = [
  ['in old units', 40, [80], 40, []],
  ['in new units', 40, [80], 80, []],
  ['in new units, half a unit rounded up', 41, [61.5], 62, []],
  ['in old units, of which it has made fewer', 100, [10], 100, []],
  ['in the units of a split to come', 40, [40, 80], 80, []],
  ['more than either', 40, [80], 90, ['unclear']],
  ['more than in old units, less than in new ones', 40, [80], 50, ['unclear']],
  ['more than in new units, less than in old ones', 100, [10], 25, ['unclear']],
  ['a unit more than in new units', 40, [80], 81, ['unclear']],
  ['less than either', 100, [10], 5, []],
  ['of what was never told', 0, [0], 1, ['unclear']],
  ['a part of a unit of what was never told', 0, [0], 0.5, ['unclear']],
  ['nothing, as we do', 0, [0], 0, []],
]
test.each(counts)('over a split a broker counts %s', (_, executed, restated, cumQty, gaps) => {
  const ours = { executed: dec(executed), restated: restated.map(dec), isReplacement: false }
  expect(orderGaps({ status: '1', ...ours }, { status: '1', cumQty: dec(cumQty) })).toEqual(gaps)
})

test.each([
  { gaps: ['total', 'cancel'], status: '4', cumQty: '3' },
  { gaps: ['absent'], status: null, cumQty: null },
] as const)('a difference is read as it was written', (gap) => {
  expect(readGapWords(gapWords(gap))).toEqual(gap)
})
