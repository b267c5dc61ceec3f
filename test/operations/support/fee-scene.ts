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
  /** A strategy of the owner's, with the one instrument that it trades. */
  const addStrategy = async (owner: Citizen): Promise<number> => {
    await door('/instruments', [{ symbol: 'AAPL', securityType: 'CS' }])
    await quote(100)
    const started = { StrategyName: 'Trend', StartingCapital: 100_000 }
    const [added] = await ask('/gen/Strategies/AddStrategy', owner, started)
    return Number(added?.StrategyId)
  }
  const begin = async () => {
    await door('/reset', { now: at(0) })
    const [owner, customer] = (await door<Citizen[]>('/people', [
      { firstName: 'Olga', lastName: 'O', email: 'olga@example.org' },
      { firstName: 'Carl', lastName: 'C', email: 'carl@example.org' },
    ])) as [Citizen, Citizen]
    const strategyId = await addStrategy(owner)
    await door('/strategies', [{ strategyId, monthlyCost: 50 }])
    await changeStrategy(db.write, { strategyId, performanceFee: 20, changedAt: Date.parse(at(0)) })
    return { owner, customer, strategyId }
  }
  const trade = (owner: Citizen, strategyId: number, Side: '1' | '2', OrderQuantity: number) =>
    ask('/gen/Strategies/NewStrategyOrder', owner, {
      Order: {
        StrategyId: strategyId,
        OrderType: '1',
        TIF: '1',
        Side,
        OrderQuantity,
        PlatformSymbol: { FullSymbol: 'AAPL', SymbolType: 'stock' },
      },
    })
  /** The owner's strategy buys a hundred. */
  const buy = (owner: Citizen, strategyId: number) => trade(owner, strategyId, '1', 100)
  return { ...money, quote, ask, addStrategy, begin, trade, buy }
}
