import { expect, test } from 'vitest'
import { dec } from './decimal.ts'
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
  ['lost today', { cashChange: 250, recentCashChange: -250 }, 0.5, -0.5],
  ['held over night', { cashChange: -10_000, worth: 10_500, worthBefore: 10_400 }, 1, 0.2],
  [
    'sold half of what was held over night',
    { cashChange: -4_700, recentCashChange: 5_300, worth: 5_300, worthBefore: 10_500 },
    1.2,
    0.2,
  ],
  ['began with nothing', { startedEquity: 0, cashChange: 5 }, null, null],
  ['began in debt', { startedEquity: -5, cashChange: 5 }, null, null],
])('%s', (_, facts, total, today) => {
  const returns = setupReturns(money(facts))
  expect([returns.total?.toNumber() ?? null, returns.today?.toNumber() ?? null]).toEqual([total, today])
})
