/** A term that ends over a weekend, when what was stopped before it waits for Monday to be closed. */
import { beforeEach, describe, expect, test } from 'vitest'
import { changeStrategy } from '../../src/storage/operating/administration.ts'
import { call, resultsOf } from '../support/http.ts'
import { testPlatform } from '../support/platform.ts'
import { type Citizen, moneyOf, type Row } from './support/money.ts'

const platform = await testPlatform()
const { db, url } = platform
const { door, charges, audit } = moneyOf(platform)
const friday = '2024-03-15T19:00:00Z'
const quote = (price: number) => door('/quotes', [{ symbol: 'AAPL', bid: price, ask: price }])
const clock = (now: string) => door('/clock', { now })
let customer: Citizen
let strategyId = 0

async function ask(path: string, { key }: Citizen, body: object): Promise<Row[]> {
  const answer = await call(url, path, { key, body })
  expect(answer.status).toBe(200)
  return resultsOf<Row>(answer)
}

async function follow(): Promise<void> {
  const body = { Account: 'U1', StrategyId: strategyId, StocksEnabled: true }
  expect((await call(url, '/gen/Autotrade/StartAutotrade', { key: customer.key, body })).status).toBe(200)
}

async function stop(terminates: boolean): Promise<void> {
  const whose = `Account=U1&PersonId=${customer.personId}&StrategyId=${strategyId}`
  const path = `/gen/Autotrade/StopAutotrade?${whose}&TerminateStrategySubscription=${terminates}`
  expect((await call(url, path, { method: 'DELETE', key: customer.key })).status).toBe(200)
}

/** Bought at 100, worth 120 on the last Friday of the term, which ends on Sunday. */
beforeEach(async () => {
  await door('/reset', { now: friday })
  const people = ['Olga', 'Carl'].map((firstName) => ({ firstName, email: `${firstName}@example.org` }))
  const [owner, carl] = (await door<Citizen[]>('/people', people)) as [Citizen, Citizen]
  customer = carl
  await door('/accounts', [{ account: 'U1', personId: customer.personId, cash: 50_000 }])
  await door('/instruments', [{ symbol: 'AAPL', securityType: 'CS' }])
  await quote(100)
  const strategy = { StrategyName: 'Trend', StartingCapital: 100_000 }
  const [added] = await ask('/gen/Strategies/AddStrategy', owner, strategy)
  strategyId = Number(added?.StrategyId)
  await changeStrategy(db.write, { strategyId, performanceFee: 20, changedAt: Date.parse(friday) })
  await follow()
  await ask('/gen/Strategies/NewStrategyOrder', owner, {
    Order: {
      StrategyId: strategyId,
      OrderType: '1',
      TIF: '1',
      Side: '1',
      OrderQuantity: 100,
      PlatformSymbol: { FullSymbol: 'AAPL', SymbolType: 'stock' },
    },
  })
  await clock('2024-04-12T19:00:00Z')
  await quote(120)
  await clock('2024-04-13T12:00:00Z')
})

/** The term and the weekend pass; answers what is charged for them. */
async function passTheSunday() {
  await clock('2024-04-15T14:00:00Z')
  const atSunday = { person: customer.personId, amount: 40_000, status: 'paid', at: '04-14' }
  expect(await charges('performance')).toEqual([atSunday])
  return atSunday
}

/** The same; then all is sold. */
async function sellOnMonday(price: number) {
  const atSunday = await passTheSunday()
  await quote(price)
  const held = await db.read.rows`select from account_position where quantity <> 0`
  expect(held).toEqual([])
  return atSunday
}

describe('what a setup gains after the end of the term in which it was stopped', () => {
  test('is charged with the next term, where the subscription goes on', async () => {
    await stop(false)
    const atSunday = await sellOnMonday(125)
    await clock('2024-05-15T14:00:00Z')
    expect(await charges('performance')).toEqual([atSunday, { ...atSunday, amount: 10_000, at: '05-14' }])
    await clock('2024-06-17T14:00:00Z')
    expect(await charges('performance')).toHaveLength(2)
    await audit()
  })

  test('is free where nobody subscribes, also when it is sold after the next subscription has begun', async () => {
    // Nothing is sold while the broker restricts the account.
    await door('/broker', { restrict: { account: 'U1', kind: 'restriction' } })
    await stop(true)
    const atSunday = await passTheSunday()
    await quote(125)
    await follow()
    await quote(125)
    await clock('2024-05-13T14:00:00Z')
    await quote(126)
    await clock('2024-06-17T14:00:00Z')
    expect(await charges('performance')).toEqual([atSunday, { ...atSunday, amount: 2_000, at: '05-15' }])
    await audit()
  })

  test('is made up for before there is a fee again, where it was a loss', async () => {
    await stop(false)
    const atSunday = await sellOnMonday(110)
    await clock('2024-05-16T14:00:00Z')
    await quote(110)
    await follow()
    await quote(110)
    await clock('2024-06-10T14:00:00Z')
    await quote(123)
    await clock('2024-06-17T14:00:00Z')
    expect(await charges('performance')).toEqual([atSunday, { ...atSunday, amount: 6_000, at: '06-13' }])
    await audit()
  })
})
