import { describe, expect, test } from 'vitest'
import { dec } from '../decimal.ts'
import { cancelOf, closableQuantity, type OwnOrderFacts, replaceOf, setupMeant } from './manual-order.ts'

const holding = (strategyId: number, quantity: number) => ({ strategyId, quantity: dec(quantity) })

describe('the setup a closing order is meant for', () => {
  const flat = holding(1, 0)
  const long = holding(2, 10)
  const short = holding(3, -4)
  test.each([
    ['the one named', [flat, long, short], 3, short],
    ['the one named, although it is flat', [flat, long], 1, flat],
    ['nobody of that name', [flat, long], 9, 'none'],
    ['an id beyond every double', [flat, long], 9_007_199_254_740_993n, 'none'],
    ['the only one that holds', [flat, long], undefined, long],
    ['two hold', [flat, long, short], undefined, 'several'],
    ['none holds and there is one', [flat], undefined, flat],
    ['none holds and there are two', [flat, holding(4, 0)], undefined, 'none'],
    ['there is none', [], undefined, 'none'],
  ])('%s', (_, setups, strategyId, expected) => {
    expect(setupMeant(setups, strategyId)).toEqual(expected)
  })
})

test.each([
  ['a part', '2', 3, 10, 0, 3],
  ['all', '2', 10, 10, 0, 10],
  ['more than there is', '2', 11, 10, 0, 10],
  ['of a short position', '1', 3, -2, 0, 2],
  ['beside another exit', '2', 8, 10, 4, 6],
  ['what another exit closes', '2', 3, 10, 10, 'other exits close the position'],
  ['what others close twice', '1', 3, -2, 4, 'other exits close the position'],
  ['on the same side', '1', 3, 10, 0, 'no position to close'],
  ['of nothing', '2', 3, 0, 0, 'no position to close'],
] as const)('closing %s', (_, side, quantity, held, promised, expected) => {
  const may = closableQuantity(side, dec(quantity), dec(held), dec(promised))
  expect(typeof may === 'string' ? may : may.toNumber()).toBe(expected)
})

const exit: OwnOrderFacts = {
  source: 'S',
  status: '0',
  ordType: '3',
  positionEffect: 'C',
  isBeingReplaced: false,
}

test.each<[string, Partial<OwnOrderFacts>, string, string]>([
  ["a strategy's exit", {}, 'cancel', 'replace'],
  ['a part-filled one', { status: '1' }, 'cancel', 'replace'],
  ['a manual exit', { source: 'M' }, 'cancel', 'replace'],
  ['one that no broker has seen', { status: 'A' }, 'cancel', 'replace'],
  ['an automatic stop loss', { source: 'L' }, 'stopLoss', 'stopLoss'],
  ['one that has ended', { source: 'L', status: '4' }, 'stopLoss', 'stopLoss'],
  ['a filled exit', { status: '2' }, 'ended', 'ended'],
  ['an expired exit', { status: 'C' }, 'ended', 'ended'],
  ['a replaced exit', { status: '5' }, 'ended', 'ended'],
  ['a rejected exit', { status: '8' }, 'ended', 'ended'],
  ['a canceled exit', { status: '4' }, 'done', 'ended'],
  ['one whose cancel is on its way', { status: '6' }, 'done', 'busy'],
  ['one that is being replaced', { status: 'E' }, 'cancel', 'busy'],
  ['one whose replacement waits', { isBeingReplaced: true }, 'cancel', 'busy'],
  ['an entry', { positionEffect: 'O' }, 'cancel', 'notAnExit'],
  ['a market order', { ordType: '1' }, 'cancel', 'notAnExit'],
  ['a correction', { source: 'Y' }, 'cancel', 'notAnExit'],
  ['a closing of a stopped setup', { source: 'X' }, 'cancel', 'notAnExit'],
])('%s', (_, facts, canceled, replaced) => {
  expect([cancelOf({ ...exit, ...facts }), replaceOf({ ...exit, ...facts })]).toEqual([canceled, replaced])
})
