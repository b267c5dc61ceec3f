/** What happens between two days of a record, on a holiday or over a weekend, belongs to the later one. */
import { expect, test } from 'vitest'
import { call, resultsOf } from '../support/http.ts'
import { testPlatform } from '../support/platform.ts'
import { addOwner } from './owner.ts'

const platform = await testPlatform()
const door = (path: string, body: unknown) => call(platform.url, `/test${path}`, { body })
const quote = (symbol: string, price: number) => door('/quotes', [{ symbol, bid: price, ask: price }])
const clock = (now: string) => door('/clock', { now })

/** A strategy of 100,000 that may trade index futures, of 50 a point, and currencies. */
async function begin(now: string) {
  await door('/reset', { now })
  await door('/instruments', [
    { symbol: '@ESM26', securityType: 'FUT', pointValue: 50, calendar: 'CME_GLOBEX', initialMargin: 10_000 },
    { symbol: 'EURUSD', securityType: 'FOR' },
  ])
  const { key, StrategyId } = await addOwner(platform.url)
  return {
    trade: async (FullSymbol: string, Side: '1' | '2', OrderQuantity: number) => {
      const PlatformSymbol = { FullSymbol, SymbolType: FullSymbol === 'EURUSD' ? 'forex' : 'future' }
      const Order = { StrategyId, OrderType: '1', Side, OrderQuantity, TIF: '0', PlatformSymbol }
      await call(platform.url, '/gen/Strategies/NewStrategyOrder', { key, body: { Order } })
    },
    leverages: async () => {
      const path = `/gen/Strategies/GetStrategyDetails?StrategyId=${StrategyId}`
      const [{ AvgLeverage, MaxLeverage } = {}] = resultsOf<Record<string, number>>(
        await call(platform.url, path, { key }),
      )
      return [AvgLeverage, MaxLeverage]
    },
  }
}

test('what futures were held on a Good Friday counts on the Monday', async () => {
  const { trade, leverages } = await begin('2026-04-02T15:00:00Z')
  await quote('@ESM26', 5000)
  await trade('@ESM26', '1', 1)
  await clock('2026-04-03T12:00:00Z')
  await quote('@ESM26', 5000)
  await trade('@ESM26', '1', 3)
  await trade('@ESM26', '2', 3)
  await clock('2026-04-06T21:00:00Z')
  // One contract of 250,000 on the Thursday, four at the most since.
  expect(await leverages()).toEqual([6.25, 10])
})

test('what was held before a record’s first day counts on it, up to the moment at which the week begins', async () => {
  const { trade, leverages } = await begin('2026-04-10T20:30:00Z')
  await quote('EURUSD', 1.2)
  await trade('EURUSD', '1', 100)
  await clock('2026-04-10T21:00:00Z')
  await trade('EURUSD', '2', 90)
  await clock('2026-04-12T21:00:00Z')
  await quote('EURUSD', 1.2)
  await clock('2026-04-13T21:00:00Z')
  expect(await leverages()).toEqual([1.2, 1.2])
})
