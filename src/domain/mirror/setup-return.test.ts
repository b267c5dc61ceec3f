import { expect, test } from 'vitest'
import { dec } from '../decimal.ts'
import { type SetupMoney, setupReturns } from './setup-return.ts'

const money = (facts: Partial<Record<keyof SetupMoney, number>>): SetupMoney => ({
  startedEquity: dec(facts.startedEquity ?? 50_000),
  cashChange: dec(facts.cashChange ?? 0),
  recentCashChange: dec(facts.recentCashChange ?? 0),
  worth: dec(facts.worth ?? 0),
  worthBefore: dec(facts.worthBefore ?? 0),
})

test.each<[string, Parameters<typeof money>[0], number | null, number | null]>([
  ['nothing done', {}, 0, 0],
  [
    'bought today at 100, worth 101',
    { cashChange: -10_000, recentCashChange: -10_000, worth: 10_100 },
    0.2,
    0.2,
  ],
  ['won before today', { cashChange: 500 }, 1, 0],
  ['lost half of a gain today', { cashChange: 1_250, recentCashChange: -1_250 }, 2.5, -2.38095238],
  [
    'doubled yesterday, and half as much again today',
    { cashChange: -10_000, worth: 85_000, worthBefore: 60_000 },
    150,
    25,
  ],
  [
    'sold half of what was held over night',
    { cashChange: -4_700, recentCashChange: 5_300, worth: 5_300, worthBefore: 10_500 },
    1.2,
    0.1980198,
  ],
  ['all was lost before today', { cashChange: -60_000, worth: 500, worthBefore: 400 }, -119, null],
  ['began with nothing', { startedEquity: 0, cashChange: 5 }, null, null],
  ['began in debt', { startedEquity: -5, cashChange: 5 }, null, null],
])('%s', (_, facts, total, today) => {
  const returns = setupReturns(money(facts))
  const shown = [returns.total, returns.today].map((each) => each?.toDecimalPlaces(8).toNumber() ?? null)
  expect(shown).toEqual([total, today])
})
