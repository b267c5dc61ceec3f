import { expect, test } from 'vitest'
import type { OrdStatus } from '../codes.ts'
import { dec } from '../decimal.ts'
import { type DisputedOrder, type NotSettled, type SettlingReport, settlement } from './order-settlement.ts'

/** Of an order for 10 at 50 each, of which 4 are booked. */
const order = (status: OrdStatus, more: Partial<DisputedOrder> = {}): DisputedOrder => ({
  status,
  isReplacement: false,
  isRestated: false,
  isShort: false,
  booked: dec(4),
  amount: dec(200),
  open: dec(6),
  ...more,
})
const unfilled = { booked: dec(0), amount: dec(0), open: dec(10) }

type Case = [
  name: string,
  order: DisputedOrder,
  total: [quantity: number, average: number | null] | null,
  SettlingReport[] | NotSettled,
]
const cases: Case[] = [
  ['nothing more was executed', order('1'), null, ['cancel']],
  ['just what is booked was executed', order('1'), [4, 50], ['cancel']],
  ['executions are missing', order('1'), [7, 51], ['total', 'cancel']],
  ['all of it was executed', order('1'), [10, 51], ['total', 'cancel']],
  ['a cancel waits for its answer', order('6'), null, ['cancel']],
  ['it was never answered', order('A', unfilled), null, ['cancel']],
  ['it was never answered, and executed', order('A', unfilled), [1, 50], ['ack', 'total', 'cancel']],
  ['a replacement never arrived', order('A', { ...unfilled, isReplacement: true }), null, ['replaceReject']],
  [
    'a replacement was executed unheard',
    order('A', { ...unfilled, isReplacement: true }),
    [1, 50],
    ['replace', 'total', 'cancel'],
  ],
  ['it has ended, and executions are missing', order('4'), [5, 50], ['total']],
  ['it has ended, and nothing is missing', order('4'), null, 'nothingToSettle'],
  ['its broker counts more and nobody says how much', order('1', { isShort: true }), null, 'totalUnsaid'],
  ['its broker counts more in other units only', order('1', { isShort: true }), [4, 50], ['cancel']],
  ['less was executed than is booked', order('1'), [3, 50], 'bookedMore'],
  ['more was executed than it may', order('1'), [10.5, 50], 'aboveQuantity'],
  ['what is missing was given away', order('1'), [5, 40], 'noPrice'],
  ['nothing is said of what the missing cost', order('1'), [5, null], 'noPrice'],
  ['it executed nothing', order('A', { ...unfilled, isShort: true }), [0, null], ['cancel']],
  ['a split was rounded there', order('1', { booked: dec(4.5), isRestated: true }), [5, 40], ['cancel']],
  ['a split was rounded down there', order('1', { booked: dec(4.5), isRestated: true }), [4, 40], ['cancel']],
  ['more is missing than a split rounds', order('1', { isRestated: true }), [6, 50], ['total', 'cancel']],
  ['a fraction is missing', order('1', { booked: dec(4.5) }), [5, 50], ['total', 'cancel']],
]

test.each(cases)('%s', (_, disputed, total, answer) => {
  const [quantity, average] = total ?? [0, null]
  const stated = total && { quantity: dec(quantity), average: average === null ? null : dec(average) }
  expect(settlement(disputed, stated)).toEqual(answer)
})
