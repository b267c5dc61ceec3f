/** A fee and a term that were declined together and are paid one after the other. */
import { expect, test } from 'vitest'
import { changeStrategy } from '../../src/storage/operating/administration.ts'
import { call, resultsOf } from '../support/http.ts'
import { testPlatform } from '../support/platform.ts'
import { at, type Citizen, moneyOf, type Row } from './support/money.ts'

const platform = await testPlatform()
const { db, url } = platform
const { door, passTo, charges, audit } = moneyOf(platform)
const quote = (price: number) => door('/quotes', [{ symbol: 'AAPL', bid: price, ask: price }])
const send = async (path: string, { key }: Citizen, body: object): Promise<Row[]> => {
  const answer = await call(url, path, { key, body })
  expect(answer.status).toBe(200)
  return typeof answer.json === 'boolean' ? [] : resultsOf<Row>(answer)
}

/** A subscriber of a month, whose fee on what he gained and whose next term are both declined. */
async function declineBoth(): Promise<Citizen> {
  await door('/reset', { now: at(0) })
  const [owner, customer] = (await door<Citizen[]>('/people', [
    { firstName: 'Olga', lastName: 'O', email: 'olga@example.org' },
    { firstName: 'Carl', lastName: 'C', email: 'carl@example.org' },
  ])) as [Citizen, Citizen]
  const { personId } = customer
  await door('/instruments', [{ symbol: 'AAPL', securityType: 'CS' }])
  await quote(100)
  const started = { StrategyName: 'Trend', StartingCapital: 100_000 }
  const [added] = await send('/gen/Strategies/AddStrategy', owner, started)
  const StrategyId = Number(added?.StrategyId)
  await door('/strategies', [{ strategyId: StrategyId, monthlyCost: 50 }])
  await changeStrategy(db.write, { strategyId: StrategyId, performanceFee: 20, changedAt: Date.parse(at(0)) })
  await door('/accounts', [{ account: 'U1', personId, cash: 50_000 }])
  await send('/gen/Autotrade/StartAutotrade', customer, { Account: 'U1', StrategyId, StocksEnabled: true })
  const buy = { StrategyId, OrderType: '1', TIF: '1', Side: '1', OrderQuantity: 100 }
  const PlatformSymbol = { FullSymbol: 'AAPL', SymbolType: 'stock' }
  await send('/gen/Strategies/NewStrategyOrder', owner, { Order: { ...buy, PlatformSymbol } })
  await quote(110)
  await door('/payment-methods', [{ personId, declines: 'card expired' }])
  await passTo(30)
  return customer
}

test.each([
  ['performance', 'term'],
  ['term', 'performance'],
])('the failures are counted until both are paid: %s first', async (first, last) => {
  const { personId, key } = await declineBoth()
  const failures = async () =>
    resultsOf<Row>(await call(url, `/geo/General/GetSubscribedStrategies?PersonId=${personId}`, { key })).map(
      ({ IsAlive, BillingFailureCount }) => ({ IsAlive, BillingFailureCount }),
    )
  const statusOf = async (purpose: string) => (await charges(purpose)).at(-1)?.status
  expect(await failures()).toEqual([{ IsAlive: true, BillingFailureCount: 2 }])
  await db.write.run`
    update charge set next_try_at = next_try_at + interval '3 days' where status = 'due' and purpose = ${last}`
  await door('/payment-methods', [{ personId }])
  await passTo(31)
  expect([await statusOf(first), await statusOf(last)]).toEqual(['paid', 'due'])
  expect(await failures()).toEqual([{ IsAlive: true, BillingFailureCount: 2 }])
  await passTo(35)
  expect(await statusOf(last)).toBe('paid')
  expect(await failures()).toEqual([{ IsAlive: true, BillingFailureCount: 0 }])
  await audit()
})
