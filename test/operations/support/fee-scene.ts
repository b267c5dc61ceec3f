/** A strategy of 50 a month with a fee of 20 % of what it gains, its owner, and a customer who may follow it. */
import { expect } from 'vitest'
import { changeStrategy } from '../../../src/storage/operating/administration.ts'
import { call, resultsOf } from '../../support/http.ts'
import type { testPlatform } from '../../support/platform.ts'
import { at, type Citizen, moneyOf, type Row } from './money.ts'

export function feesOf(platform: Awaited<ReturnType<typeof testPlatform>>) {
  const { db, url } = platform
  const money = moneyOf(platform)
  const { door } = money
  const quote = (price: number) => door('/quotes', [{ symbol: 'AAPL', bid: price, ask: price }])
  const ask = async (path: string, { key }: Citizen, body: object): Promise<Row[]> => {
    const answer = await call(url, path, { key, body })
    expect(answer.status).toBe(200)
    return typeof answer.json === 'boolean' ? [] : resultsOf<Row>(answer)
  }
  const begin = async () => {
    await door('/reset', { now: at(0) })
    const [owner, customer] = (await door<Citizen[]>('/people', [
      { firstName: 'Olga', lastName: 'O', email: 'olga@example.org' },
      { firstName: 'Carl', lastName: 'C', email: 'carl@example.org' },
    ])) as [Citizen, Citizen]
    await door('/instruments', [{ symbol: 'AAPL', securityType: 'CS' }])
    await quote(100)
    const started = { StrategyName: 'Trend', StartingCapital: 100_000 }
    const [added] = await ask('/gen/Strategies/AddStrategy', owner, started)
    const strategyId = Number(added?.StrategyId)
    await door('/strategies', [{ strategyId, monthlyCost: 50 }])
    await changeStrategy(db.write, { strategyId, performanceFee: 20, changedAt: Date.parse(at(0)) })
    return { owner, customer, strategyId }
  }
  /** The owner's strategy buys a hundred. */
  const buy = (owner: Citizen, strategyId: number) =>
    ask('/gen/Strategies/NewStrategyOrder', owner, {
      Order: {
        StrategyId: strategyId,
        OrderType: '1',
        TIF: '1',
        Side: '1',
        OrderQuantity: 100,
        PlatformSymbol: { FullSymbol: 'AAPL', SymbolType: 'stock' },
      },
    })
  return { ...money, quote, ask, begin, buy }
}
