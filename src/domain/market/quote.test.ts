import { describe, expect, test } from 'vitest'
import type { SecurityType } from '../codes.ts'
import { dec } from '../decimal.ts'
import {
  hasBid,
  isFresh,
  isTradable,
  isValidQuote,
  markOf,
  observeQuote,
  participate,
  type Quote,
  storedMid,
} from './quote.ts'

const quote = (bid: number, ask: number, sizes: Partial<Quote> = {}): Quote => ({
  bid: dec(bid),
  ask: dec(ask),
  bidSize: null,
  askSize: null,
  ...sizes,
})

describe('a valid quote', () => {
  test.each<[string, number, number, boolean, boolean]>([
    ['normal', 10, 10.02, true, true],
    ['locked', 10, 10, true, true],
    ['crossed', 10.02, 10, true, false],
    ['out of session', 10, 10.02, false, false],
    ['an option at 0 by 0.05', 0, 0.05, true, true],
    ['nothing to buy or sell', 0, 0, true, false],
  ])('%s', (_name, bid, ask, inSession, expected) => {
    expect(isValidQuote(quote(bid, ask), inSession)).toBe(expected)
  })

  test('a zero bid can be bought from, not sold to', () => {
    expect(isTradable(quote(0, 0.05), '1')).toBe(true)
    expect(isTradable(quote(0, 0.05), '2')).toBe(false)
  })
})

describe('the last valid quote', () => {
  const last = observeQuote(null, quote(10, 10.02), { at: 1_000, inSession: true }, null)!

  test('is replaced by a valid one', () => {
    const next = observeQuote(last, quote(11, 11.02), { at: 2_000, inSession: true }, null)
    expect(next?.quote.bid.toNumber()).toBe(11)
    expect(next?.at).toBe(2_000)
  })
  test('survives an invalid one', () => {
    expect(observeQuote(last, quote(11, 10), { at: 2_000, inSession: true }, null)).toBe(last)
  })
  test.each([[quote(11, 11.02)], [quote(11, 10)]])('is voided by any quote outside the session', (seen) => {
    expect(observeQuote(last, seen, { at: 2_000, inSession: false }, null)).toBeNull()
  })
  test('offers a share of its sizes to each side, none where no size is shown', () => {
    const sized = quote(10, 10.02, { askSize: dec(500) })
    const { unused } = observeQuote(null, sized, { at: 0, inSession: true }, dec('0.25'))!
    expect([unused['1']?.toNumber(), unused['2']?.toNumber()]).toEqual([125, 0])
  })
  test('is fresh for a minute', () => {
    expect(isFresh(last, 61_000, 60)).toBe(true)
    expect(isFresh(last, 61_001, 60)).toBe(false)
  })
})

describe('marks', () => {
  test.each<[string, SecurityType, number, number, number, number | null]>([
    ['long at the bid', 'CS', 100, 10, 10.02, 10],
    ['short at the ask', 'FUT', -2, 10, 10.02, 10.02],
    ['options in the middle', 'OPT', -1, 1, 1.2, 1.1],
    ['the middle counts a zero bid', 'OPT', 1, 0, 0.06, 0.03],
    ['without a bid a long stock keeps its mark', 'CS', 100, 0, 10.02, null],
  ])('%s', (_name, securityType, quantity, bid, ask, expected) => {
    const mark = markOf(quote(bid, ask), securityType, dec(quantity))
    expect(mark?.toNumber() ?? null).toBe(expected)
  })
})

test.each<[string, SecurityType, number, boolean]>([
  ['a stock with a bid', 'CS', 10, true],
  ['a stock without one', 'CS', 0, false],
  ['an option that nobody bids for', 'OPT', 0, true],
])('what a long position is worth is said of %s', (_name, securityType, bid, expected) => {
  expect(hasBid(quote(bid, 10.02), securityType)).toBe(expected)
})

test.each<[string, string | null, number | null, number | null]>([
  ['off', null, 500, null],
  ['zero is off', '0', 500, null],
  ['whole units only', '0.1', 509, 50],
  ['no size shown', '0.1', null, 0],
])('participation: %s', (_name, share, size, expected) => {
  const taken = participate(share === null ? null : dec(share), size === null ? null : dec(size))
  expect(taken?.toNumber() ?? null).toBe(expected)
})

test('the middle needs both sides', () => {
  expect(storedMid('99', '101')?.toFixed()).toBe('100')
  expect(storedMid(null, '101')).toBeNull()
  expect(storedMid('99', null)).toBeNull()
})
