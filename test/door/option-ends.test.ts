/** The last day of an option as its strategy's record and trades show it, where nobody quotes any more. */
import { expect, test } from 'vitest'
import { call, resultsOf } from '../support/http.ts'
import { testPlatform } from '../support/platform.ts'
import { addOwner } from './owner.ts'

const platform = await testPlatform()
const door = (path: string, body: unknown) => call(platform.url, `/test${path}`, { body })

const option = {
  securityType: 'OPT',
  pointValue: 100,
  underlying: 'AAPL',
  strike: 50,
  expiry: '2024-03-15',
  settlement: 'physical',
}

/** A strategy the day before its options end: the stock at 55, the call at 5, the put at 1. */
async function begin() {
  await door('/reset', { now: '2024-03-14T14:00:00Z' })
  await door('/instruments', [
    { symbol: 'AAPL', securityType: 'CS' },
    { symbol: 'AAPL2415C50', putOrCall: 1, ...option },
    { symbol: 'AAPL2415O50', putOrCall: 0, ...option },
  ])
  await quote('AAPL', 55)
  await quote('AAPL2415C50', 5)
  await quote('AAPL2415O50', 1)
  const { key, StrategyId } = await addOwner(platform.url)
  const read = async (operation: string, more = '') =>
    resultsOf<Record<string, unknown>>(
      await call(platform.url, `/gen/Strategies/${operation}?StrategyId=${StrategyId}${more}`, { key }),
    )
  return {
    trade: async (FullSymbol: string, Side: '1' | '2', OrderQuantity: number) => {
      const PlatformSymbol = { FullSymbol, SymbolType: FullSymbol === 'AAPL' ? 'stock' : 'option' }
      const Order = { StrategyId, OrderType: '1', Side, OrderQuantity, TIF: '0', PlatformSymbol }
      await call(platform.url, '/gen/Strategies/NewStrategyOrder', { key, body: { Order } })
    },
    details: () => read('GetStrategyDetails'),
    equityUnder: async (plan: number) => {
      const [{ MonthlyResults = [] } = {}] = await read(
        'GetStrategyHistoricalDailyEquity',
        `&CommissionPlan=${plan}`,
      )
      return (MonthlyResults as { Equity: number }[]).map(({ Equity }) => Equity)
    },
    tradesUnder: async (plan: number) =>
      (await read('GetStrategyHistoricalClosedTrades', `&CommissionPlan=${plan}`)).map(
        ({ Commission }) => Commission,
      ),
    stockTrades: async () =>
      (await read('GetStrategyHistoricalClosedTrades')).filter(
        ({ OpenedQuantity }) => Number(OpenedQuantity) > 9,
      ),
  }
}

const quote = (symbol: string, price: number) => door('/quotes', [{ symbol, bid: price, ask: price }])
const end = () => door('/clock', { now: '2024-03-15T20:00:00Z' })

test('what ends without a quote was held on its last day', async () => {
  const { trade, details } = await begin()
  await trade('AAPL2415O50', '2', 1)
  await end()
  // 100 shares at 55 over 100,000, on both days.
  expect(await details()).toMatchObject([{ AvgLeverage: 0.055, MaxLeverage: 0.055 }])
})

test('what is delivered is marked with the price of its underlying at the end', async () => {
  const { trade, details, stockTrades } = await begin()
  await trade('AAPL2415O50', '2', 1)
  await quote('AAPL', 45)
  await end()
  expect(await details()).toMatchObject([{ Equity: -500 }])
  await door('/clock', { now: '2024-03-18T14:00:00Z' })
  await quote('AAPL', 49)
  await trade('AAPL', '2', 100)
  expect(await stockTrades()).toMatchObject([
    { ProfitLoss: -100, MaxDrawdown: -500, MaxDrawdown_WorstPrice: 45, MaxDrawdown_StrategyEquity: 99_600 },
  ])
})

test('what ends or is delivered costs nothing under any plan', async () => {
  const { trade, equityUnder, tradesUnder } = await begin()
  await trade('AAPL2415C50', '1', 1)
  await trade('AAPL2415O50', '1', 1)
  await door('/clock', { now: '2024-03-18T14:00:00Z' })
  await quote('AAPL', 55)
  await trade('AAPL', '2', 100)
  await door('/clock', { now: '2024-03-18T20:00:00Z' })
  expect((await equityUnder(0)).at(-1)).toBe(99_900)
  // A dollar for each of the two options bought and for the stock sold.
  expect((await equityUnder(3)).at(-1)).toBe(99_897)
  expect(await tradesUnder(3)).toEqual([1, 1, 1])
})

test('what is taken at one strike and given at another was never held', async () => {
  const { trade, stockTrades } = await begin()
  await door('/instruments', [{ symbol: 'AAPL2415C45', putOrCall: 1, ...option, strike: 45 }])
  await quote('AAPL2415C45', 10)
  await trade('AAPL2415C50', '2', 1)
  await trade('AAPL2415C45', '1', 1)
  await end()
  // Given at 50 and taken at 45 in one moment: the price of 55 between them is nobody's drawdown.
  const [stock] = await stockTrades()
  expect([stock?.ProfitLoss, stock?.MaxDrawdown]).toEqual([500, undefined])
})

test('a delivery meets the account without the option that it is paid for', async () => {
  const { trade, stockTrades } = await begin()
  await trade('AAPL', '1', 100)
  await trade('AAPL2415C50', '2', 1)
  await end()
  // The premium of 500 is kept, and 100 shares are given at five less than they cost.
  expect(await stockTrades()).toMatchObject([
    { ProfitLoss: -500, MaxDrawdown_WorstPrice: 50, MaxDrawdown_StrategyEquity: 100_000 },
  ])
})
