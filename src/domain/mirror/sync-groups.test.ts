import { describe, expect, test } from 'vitest'
import { dec } from '../decimal.ts'
import type { PlannedRow } from './mirror-sync-plan.ts'
import { completedPasses, type GroupedSymbol, nextPass, syncGroupOf } from './sync-groups.ts'

const tuesday = Date.parse('2024-03-12T14:00:00Z')
const evening = Date.parse('2024-03-12T23:30:00Z')

test.each([
  ['CS', 'DEFAULT', 'US_EQUITY', 'stocks_usa'],
  ['CS', 'XETR', 'US_EQUITY', 'stocks_europe'],
  ['OPT', 'DEFAULT', 'US_INDEX_OPTION', 'options_usa'],
  ['OPT', 'XEUR', 'EUREX', 'options_europe'],
  ['FUT', 'DEFAULT', 'EUREX', 'futures_europe'],
  // Brent keeps American hours in London.
  ['FUT', 'IFEU', 'CME_GLOBEX', 'futures_europe'],
  ['FUT', 'XCBT', 'CBOT_RATES', 'futures_usa'],
  ['FUT', 'XOSE', 'CONTINUOUS', 'futures_asia'],
  ['FOR', 'DEFAULT', 'FOREX', 'forex'],
] as const)('%s at %s on %s is of %s', (assetClass, exchange, calendar, group) => {
  expect(syncGroupOf(assetClass, exchange, calendar)).toBe(group)
})

const row = (inSync: boolean, reason: PlannedRow['reason'], isLeft = false): PlannedRow => ({
  text: null,
  isLeft,
  symbol: 'AAPL',
  accountQuantity: dec(0),
  strategyQuantity: dec(0),
  scaledQuantity: dec(0),
  inSync,
  reason,
})
const symbols = new Map<string, GroupedSymbol>([['AAPL', { group: 'stocks_usa', calendar: 'US_EQUITY' }]])

describe('a pass', () => {
  test.each([
    ['with nothing to do', [], tuesday, ['stocks_usa', 'forex']],
    ['in step', [row(true, 'OrderPending')], tuesday, ['stocks_usa', 'forex']],
    ['that has opened', [row(false, 'Opening')], tuesday, ['forex']],
    ['that still closes', [row(false, 'Reducing')], tuesday, ['forex']],
    ['that changes sides', [row(false, 'Reversing')], tuesday, ['forex']],
    ['with an order at work', [row(false, 'OrderPending')], tuesday, ['forex']],
    ['whose opening was refused', [row(false, 'Opening', true)], tuesday, ['stocks_usa', 'forex']],
    ['that may not open', [row(false, 'LongNotAllowed')], tuesday, ['stocks_usa', 'forex']],
    ['while the group is closed', [], evening, ['forex']],
  ])('%s', (_, report, at, complete) => {
    expect(completedPasses(['stocks_usa', 'forex'], symbols, report, at)).toEqual(complete)
  })

  // Grains pause between their night and their day.
  const mixed = new Map<string, GroupedSymbol>([
    ['ES', { group: 'futures_usa', calendar: 'CME_GLOBEX' }],
    ['ZC', { group: 'futures_usa', calendar: 'CBOT_GRAINS' }],
  ])

  test('has the hours of what is held, all of them', () => {
    const grainsRest = Date.parse('2024-03-12T13:00:00Z')
    expect(completedPasses(['futures_usa'], mixed, [], tuesday)).toEqual(['futures_usa'])
    expect(completedPasses(['futures_usa'], mixed, [], grainsRest)).toEqual([])
    expect(completedPasses(['futures_usa'], symbols, [], grainsRest)).toEqual(['futures_usa'])
    expect(nextPass(['futures_usa'], mixed, grainsRest)).toBe(Date.parse('2024-03-12T13:30:00Z'))
  })

  test('is tried again when the first of its groups opens', () => {
    const saturday = Date.parse('2024-03-16T12:00:00Z')
    expect(nextPass(['stocks_usa', 'forex'], symbols, saturday)).toBe(Date.parse('2024-03-17T21:00:00Z'))
  })

  test('is tried again when the group opens', () => {
    expect(nextPass(['stocks_usa', 'forex'], symbols, tuesday)).toBeNull()
    expect(nextPass(['stocks_usa', 'forex'], symbols, evening)).toBe(Date.parse('2024-03-13T13:30:00Z'))
  })
})
