import { describe, expect, test } from 'vitest'
import { type Day, formatDay, formatInstant, readDay } from '../time.ts'
import {
  contractCutoff,
  cutoffOf,
  type EndingContract,
  endOfTrading,
  firstEndOf,
  hasExpired,
  isTrading,
  type LastTradingRule,
  lastSessionEnd,
  lastTradingDayOf,
  optionLastTradingDay,
} from './expiration.ts'

const day = (text: string): Day => readDay(text) ?? Number.NaN

describe('last trading days', () => {
  test.each<[string, LastTradingRule, number, number, string]>([
    ['ESH24', 'thirdFriday', 2024, 3, '2024-03-15'],
    ['ESM26 on Juneteenth moves back', 'thirdFriday', 2026, 6, '2026-06-18'],
    ['BTCH24', 'lastFriday', 2024, 3, '2024-03-28'],
    ['BTCM24', 'lastFriday', 2024, 6, '2024-06-28'],
    ['GFH24', 'feederCattle', 2024, 3, '2024-03-28'],
    ['GFK25 after Memorial Day', 'feederCattle', 2025, 5, '2025-05-22'],
    ['GFX27 before Thanksgiving', 'feederCattle', 2027, 11, '2027-11-18'],
    ['GFX23 with five Thursdays', 'feederCattle', 2023, 11, '2023-11-16'],
    ['MHGK23', 'priorThirdLast', 2023, 5, '2023-04-26'],
    ['IBVZ12', 'middleWednesday', 2012, 12, '2012-12-12'],
    ['IBVQ24', 'middleWednesday', 2024, 8, '2024-08-14'],
    ['IBVM27', 'middleWednesday', 2027, 6, '2027-06-16'],
    ['6EH24', 'beforeThirdWednesday', 2024, 3, '2024-03-18'],
    ['6CZ27', 'dayBeforeThirdWednesday', 2027, 12, '2027-12-14'],
    ['AWZ27', 'thirdWednesday', 2027, 12, '2027-12-15'],
    ['HRCZ27', 'beforeLastWednesday', 2027, 12, '2027-12-28'],
    ['SR3Z27', 'endOfQuarter', 2027, 12, '2028-03-14'],
    ['SR3Z24', 'endOfQuarter', 2024, 12, '2025-03-18'],
    ['NKDZ27', 'beforeSecondFriday', 2027, 12, '2027-12-09'],
    ['ZFH24', 'monthEnd', 2024, 3, '2024-03-28'],
    ['RBJ24', 'priorMonthEnd', 2024, 4, '2024-03-28'],
    ['RBF25 over the year', 'priorMonthEnd', 2025, 1, '2024-12-31'],
    ['BZF25', 'brent', 2025, 1, '2024-11-29'],
    ['BZG25, not on the last day of the year', 'brent', 2025, 2, '2024-12-30'],
    ['BZG28', 'brent', 2028, 2, '2027-12-30'],
    ['ZNH24', 'seventhBeforeMonthEnd', 2024, 3, '2024-03-19'],
    ['ZBZ24', 'seventhBeforeMonthEnd', 2024, 12, '2024-12-19'],
    ['KCZ23', 'eighthBeforeMonthEnd', 2023, 12, '2023-12-18'],
    ['CCZ23', 'eleventhBeforeMonthEnd', 2023, 12, '2023-12-13'],
    ['OJF24', 'fourteenthBeforeMonthEnd', 2024, 1, '2024-01-10'],
    ['CTZ23', 'seventeenthLast', 2023, 12, '2023-12-06'],
    ['GCJ24', 'thirdLast', 2024, 4, '2024-04-26'],
    ['ZCH24', 'beforeFifteenth', 2024, 3, '2024-03-14'],
    ['ZCZ24', 'beforeFifteenth', 2024, 12, '2024-12-13'],
    ['GZ27', 'twoBeforeFourteenth', 2027, 12, '2027-12-10'],
    ['LBRX27', 'beforeSixteenth', 2027, 11, '2027-11-15'],
    ['GDZ27', 'eleventh', 2027, 12, '2027-12-15'],
    ['HEJ24', 'tenth', 2024, 4, '2024-04-12'],
    ['CLJ24', 'crude', 2024, 4, '2024-03-20'],
    ['CLF25 with Christmas on the 25th', 'crude', 2025, 1, '2024-12-19'],
    ['CLM26 with a holiday on the 25th', 'crude', 2026, 6, '2026-05-19'],
    ['CLF28 with Christmas on a Saturday', 'crude', 2028, 1, '2027-12-20'],
    ['MCLF28', 'beforeCrude', 2028, 1, '2027-12-17'],
    ['HTTF28', 'tradeMonth', 2028, 1, '2027-12-23'],
    ['NGJ24', 'priorThirdLast', 2024, 4, '2024-03-26'],
    ['MNGJ24', 'priorFourthLast', 2024, 4, '2024-03-25'],
    ['VXH24', 'volatility', 2024, 3, '2024-03-20'],
    ['VXH22 before a Good Friday', 'volatility', 2022, 3, '2022-03-15'],
    ['VXZ24 over the year', 'volatility', 2024, 12, '2024-12-18'],
  ])('%s', (_, rule, year, month, expected) => {
    expect(formatDay(lastTradingDayOf(rule, year, month, 'US_EQUITY'))).toBe(expected)
  })

  test.each([
    ['a weekday', '2024-03-15', false, '2024-03-15'],
    ['a Saturday expiry', '2012-10-20', false, '2012-10-19'],
    ['Good Friday', '2019-04-19', false, '2019-04-18'],
    ['settled in the morning', '2024-03-15', true, '2024-03-14'],
  ])('an option expiring on %s', (_, expiry, morningSettled, expected) => {
    expect(formatDay(optionLastTradingDay('US_EQUITY', day(expiry), morningSettled))).toBe(expected)
  })
})

test('the cutoff lies 48 hours before the close of the last session', () => {
  const end = lastSessionEnd('CME_GLOBEX', day('2024-03-15')) ?? Number.NaN
  expect(formatInstant(end)).toBe('2024-03-15T21:00:00Z')
  expect(formatInstant(end - contractCutoff)).toBe('2024-03-13T21:00:00Z')
  expect(formatInstant(lastSessionEnd('US_EQUITY', day('2024-03-16')) ?? 0)).toBe('2024-03-15T20:00:00Z')
})

describe('the end of a contract', () => {
  const instant = Date.parse
  const future: EndingContract = {
    securityType: 'FUT',
    calendar: 'CME_GLOBEX',
    lastTradingDay: '2024-03-15',
  }
  const option: EndingContract = { ...future, securityType: 'OPT', calendar: 'US_EQUITY' }
  const endless: EndingContract = { ...future, lastTradingDay: null }

  test.each<[string, EndingContract, string | null, string | null, string | null]>([
    ['a future', future, '2024-03-15T21:00:00Z', '2024-03-13T21:00:00Z', '2024-03-13T21:00:00Z'],
    ['an option', option, '2024-03-15T20:00:00Z', null, '2024-03-15T20:00:00Z'],
    ['one without a last day', endless, null, null, null],
  ])('%s: of trading, of openings, the first of them', (_, contract, ...ends) => {
    const found = [endOfTrading(contract), cutoffOf(contract), firstEndOf(contract)]
    expect(found).toEqual(ends.map((end) => end && instant(end)))
  })

  test.each([
    ['before its last session is over', future, '2024-03-15T20:59:59Z', false, true],
    ['when it is over', future, '2024-03-15T21:00:00Z', true, false],
    ['when others trade on', future, '2024-03-18T14:00:00Z', true, false],
    ['on a weekend before', future, '2024-03-09T14:00:00Z', false, false],
    ['without a last day', endless, '2024-03-18T14:00:00Z', false, true],
  ])('%s', (_, contract, at, expired, trading) => {
    expect([hasExpired(contract, instant(at)), isTrading(contract, instant(at))]).toEqual([expired, trading])
  })
})
