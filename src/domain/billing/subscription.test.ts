import { describe, expect, test } from 'vitest'
import {
  decideOpening,
  decideTermEnd,
  isCovered,
  joinedKind,
  lastTry,
  nextTry,
  type SubscriptionState,
  termEnd,
} from './subscription.ts'

const state = (kind: SubscriptionState['kind'], status: SubscriptionState['status'] = 'active') => ({
  kind,
  status,
})

describe('opening a subscription', () => {
  test.each([
    ['nothing yet', undefined, 'paid', 'open'],
    ['an ended one', state('paid', 'ended'), 'paid', 'open'],
    ['a live one', state('paid'), 'paid', 'join'],
    ['a live one, from a paper account', state('paid'), 'paper', 'join'],
    ['a paper one', state('paper'), 'paid', 'join'],
    ['a simulated one', state('simulated'), 'paid', 'replace'],
    ['a simulated one, from a paper account', state('simulated'), 'paper', 'replace'],
    ['a simulated one again', state('simulated'), 'simulated', 'join'],
    ['a real one, simulated', state('paid'), 'simulated', 'join'],
    ['one that waits for its first payment', state('paid', 'pending'), 'paid', 'join'],
    ['a suspended one', state('paid', 'suspended'), 'paid', 'unpaid'],
  ] as const)('%s', (_name, present, wanted, opening) => {
    expect(decideOpening(present, wanted)).toBe(opening)
    expect(isCovered(present, wanted)).toBe(opening === 'join' || opening === 'unpaid')
  })

  test.each([
    ['paid', 'paper', 'paid'],
    ['paper', 'paid', 'paid'],
    ['paper', 'simulated', 'paper'],
    ['simulated', 'simulated', 'simulated'],
  ] as const)('%s joined as %s is %s', (present, wanted, kind) => {
    expect(joinedKind(present, wanted)).toBe(kind)
  })
})

test('a term has 30 days, whatever the months and clocks do', () => {
  expect(new Date(termEnd(Date.parse('2024-02-20T15:00:00Z'))).toISOString()).toBe('2024-03-21T15:00:00.000Z')
  expect(new Date(termEnd(Date.parse('2024-01-01T00:00:00Z'), 365)).toISOString()).toBe(
    '2024-12-31T00:00:00.000Z',
  )
})

describe('the end of a term', () => {
  test.each([
    ['goes on', {}, { act: 'renew' }],
    ['ends when canceled', { isCancelPending: true }, { act: 'end', reason: 'canceled' }],
    ['ends with its strategy', { gone: 'strategyEnded' }, { act: 'end', reason: 'strategyEnded' }],
    ['ends when suspended', { status: 'suspended' }, { act: 'end', reason: 'unpaid' }],
    ['ends when it was never paid', { status: 'pending' }, { act: 'end', reason: 'unpaid' }],
  ] as const)('%s', (_name, facts, end) => {
    expect(decideTermEnd({ status: 'active', isCancelPending: false, gone: null, ...facts })).toEqual(end)
  })
})

describe('a payment that failed', () => {
  const at = Date.parse('2024-03-01T00:00:00Z')
  const day = 86_400_000
  test.each([
    [1, '2024-03-02T00:00:00.000Z'],
    [2, '2024-03-04T00:00:00.000Z'],
    [3, '2024-03-06T00:00:00.000Z'],
    [4, '2024-03-08T00:00:00.000Z'],
  ])('%d times is tried again', (failures, again) => {
    expect(new Date(nextTry(failures, at) ?? 0).toISOString()).toBe(again)
  })

  test('a fifth time is given up, well within the term', () => {
    expect(nextTry(5, at)).toBeUndefined()
    expect([lastTry(1, at), lastTry(4, at), lastTry(6, at)]).toEqual([at + 16 * day, at + 7 * day, at])
    expect(lastTry(1, at)).toBeLessThan(termEnd(at))
  })
})
