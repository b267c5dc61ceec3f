/** Orders that the scripted broker has not received: it can execute none of them. */
import { beforeEach, expect, test } from 'vitest'
import { call, faultsOf, resultsOf } from '../support/http.ts'
import { testPlatform } from '../support/platform.ts'
import { addOwner } from './owner.ts'

const platform = await testPlatform()
const door = (path: string, body: unknown) => call(platform.url, `/test${path}`, { body })

const buy = { OrderType: '1', Side: '1', OrderQuantity: 10, TIF: '1' }
const stock = { FullSymbol: 'AAPL', SymbolType: 'stock' }
let key: string
let StrategyId: number

beforeEach(async () => {
  await door('/reset', { now: '2024-03-12T14:00:00Z' })
  await door('/instruments', [{ symbol: 'AAPL', securityType: 'CS' }])
  ;({ key, StrategyId } = await addOwner(platform.url))
  await door('/accounts', [{ account: 'A1', personId: 1, cash: 100_000 }])
  const body = { Account: 'A1', PersonId: 1, StrategyId, ScalingPercentage: 100, StocksEnabled: true }
  const classes = { FuturesEnabled: false, ForexEnabled: false, OptionsEnabled: false }
  await call(platform.url, '/gen/Autotrade/StartAutotrade', {
    key,
    body: { ...body, ...classes, ShortOptionsEnabled: false },
  })
  await door('/quotes', [{ symbol: 'AAPL', bid: 100, ask: 100 }])
})

const order = async (): Promise<void> => {
  const body = { Order: { ...buy, StrategyId, PlatformSymbol: stock } }
  expect((await call(platform.url, '/gen/Strategies/NewStrategyOrder', { key, body })).status).toBe(200)
}
const copies = async () => {
  const path = '/gen/Autotrade/GetAutotradeHistoricalOrders?PersonId=1&Account=A1'
  return resultsOf<{ OrderId: string; FilledQuantity: number }>(await call(platform.url, path, { key }))
}
const executed = (side: string, clientOrderId: string) =>
  door('/broker', { execution: { account: 'A1', symbol: 'AAPL', side, qty: 10, px: 100, clientOrderId } })

test('one that waits for the link is not executed before it is sent, so that it fills once', async () => {
  await door('/broker', { down: true })
  await order()
  const [{ OrderId = '' } = {}] = await copies()
  const answer = await executed('buy', OrderId)
  expect([answer.status, faultsOf(answer)]).toEqual([400, ['1130 execution.clientOrderId']])
  await door('/broker', { down: false })
  expect((await copies()).map(({ FilledQuantity }) => FilledQuantity)).toEqual([10])
  expect((await call(platform.url, '/test/audit')).json).toEqual({ violations: [] })
})

test('nor is one executed on the other side', async () => {
  await order()
  const [{ OrderId = '' } = {}] = await copies()
  expect((await executed('sell', OrderId)).status).toBe(400)
  expect((await executed('buy', OrderId)).status).toBe(200)
})
