/** Accounts that follow a variant of a strategy: its orders reach them as those of any other strategy. */
import { expect, test } from 'vitest'
import { insertVariant } from '../../src/storage/strategies/variants.ts'
import { call, resultsOf } from '../support/http.ts'
import { apple, buildTown, townStart } from './support/town.ts'

const town = await buildTown()
const { owner, stranger, westAdmin, operator } = town.people
const parentId = town.lonelyStrategyId

const guarded = await town.platform.db.transaction((tx) =>
  insertVariant(tx, {
    parentId,
    ownerPersonId: westAdmin.personId,
    name: 'Guarded',
    scalingPercentage: 50,
    securityTypes: ['CS'],
    startingCash: undefined,
    createdAt: Date.parse(townStart),
  }),
)
const quote = (price: number) => town.door('/quotes', [{ symbol: 'AAPL', bid: price, ask: price }])
const order = async (terms: object): Promise<void> => {
  const Order = { StrategyId: parentId, TIF: '1', OrderType: '1', PlatformSymbol: apple, ...terms }
  expect((await town.ask('NewStrategyOrder', { Order }, { key: owner.key })).status).toBe(200)
}
type Row = Record<string, unknown>
const shown = (row: Row) => [row.OrderType, row.OpenClose, row.OrderQuantity, row.Limit ?? row.Stop]
const copies = async () => {
  const params = { Account: 'V1', PersonId: stranger.personId }
  return resultsOf<Row>(await town.ask('GetAutotradeActiveOrders', params, { key: stranger.key })).map(shown)
}
const exits = async () =>
  resultsOf<Row>(
    await town.ask('GetStrategyActiveOrders', { StrategyIds: guarded }, { key: operator.key }),
  ).map(shown)

test('have both exits of an entry, each for all that they hold', async () => {
  await town.door('/accounts', [{ account: 'V1', personId: stranger.personId, cash: 50_000 }])
  const body = { Account: 'V1', PersonId: stranger.personId, StrategyId: guarded, StocksEnabled: true }
  expect((await town.ask('StartAutotrade', body, { key: stranger.key })).status).toBe(200)
  await quote(100)
  await order({ Side: '1', OrderQuantity: 10, ProfitTarget: 120, StopLoss: 70 })
  expect(await copies()).toEqual([
    ['2', 'C', 5, 120],
    ['3', 'C', 5, 70],
  ])
  await order({ Side: '2', OpenClose: 'C', OrderQuantity: 4 })
  expect(await copies()).toEqual([
    ['2', 'C', 3, 120],
    ['3', 'C', 3, 70],
  ])
  await quote(121)
  expect([await copies(), await exits()]).toEqual([[], []])
  expect((await call(town.platform.url, '/test/audit')).json).toEqual({ violations: [] })
})

test('have those of a second entry beside those of the first', async () => {
  await quote(100)
  await order({ Side: '1', OrderQuantity: 10, ProfitTarget: 120, StopLoss: 70 })
  await order({ Side: '1', OrderQuantity: 4, ProfitTarget: 110, StopLoss: 80 })
  expect(await copies()).toEqual([
    ['2', 'C', 5, 120],
    ['3', 'C', 5, 70],
    ['2', 'C', 2, 110],
    ['3', 'C', 2, 80],
  ])
  await quote(111)
  expect(await copies()).toEqual([
    ['2', 'C', 5, 120],
    ['3', 'C', 5, 70],
  ])
  expect(await exits()).toEqual(await copies())
  expect((await call(town.platform.url, '/test/audit')).json).toEqual({ violations: [] })
})

test('have both where AutoSync is off, too: exits wait for what they protect', async () => {
  await town.door('/accounts', [{ account: 'V2', personId: stranger.personId, cash: 50_000 }])
  await quote(121)
  await quote(100)
  const off = { Account: 'V2', PersonId: stranger.personId, IsAutoSyncEnabled: false }
  expect((await town.ask('SetAutotradeSettings', off, { key: stranger.key })).status).toBe(200)
  const body = { Account: 'V2', PersonId: stranger.personId, StrategyId: guarded, StocksEnabled: true }
  expect((await town.ask('StartAutotrade', body, { key: stranger.key })).status).toBe(200)
  await order({ Side: '1', OrderQuantity: 6, ProfitTarget: 130, StopLoss: 60 })
  const params = { Account: 'V2', PersonId: stranger.personId }
  const asked = await town.ask('GetAutotradeActiveOrders', params, { key: stranger.key })
  expect(resultsOf<Row>(asked).map(shown)).toEqual([
    ['2', 'C', 3, 130],
    ['3', 'C', 3, 60],
  ])
})

test('have them where AutoSync is off as the entry trades, also when that is late', async () => {
  await quote(131)
  await quote(100)
  const params = { Account: 'V2', PersonId: stranger.personId }
  const own = async () =>
    resultsOf<Row>(await town.ask('GetAutotradeActiveOrders', params, { key: stranger.key })).map(shown)
  const execute = async (qty: number) => {
    const [{ OrderId = '' } = {}] = resultsOf<{ OrderId: string; OpenClose: string }>(
      await town.ask('GetAutotradeActiveOrders', params, { key: stranger.key }),
    ).filter(({ OpenClose }) => OpenClose === 'O')
    await town.door('/broker', {
      execution: { account: 'V2', symbol: 'AAPL', side: 'buy', qty, px: 100, clientOrderId: OrderId },
    })
  }
  expect(await own()).toEqual([])
  await town.door('/broker', { partial: { account: 'V2', qty: 1 } })
  await order({ Side: '1', OrderQuantity: 12, ProfitTarget: 140, StopLoss: 50 })
  await town.door('/clock', { now: '2024-03-12T14:00:05Z' })
  expect(await own()).toEqual([
    ['1', 'O', 6, undefined],
    ['2', 'C', 1, 140],
    ['3', 'C', 1, 50],
  ])
  await execute(2)
  expect(await own()).toEqual([
    ['1', 'O', 6, undefined],
    ['2', 'C', 3, 140],
    ['3', 'C', 3, 50],
  ])
  await execute(3)
  expect(await own()).toEqual([
    ['2', 'C', 6, 140],
    ['3', 'C', 6, 50],
  ])
  await quote(141)
  await quote(100)
  await town.door('/broker', { hold: true })
  await order({ Side: '1', OrderQuantity: 8, ProfitTarget: 150, StopLoss: 40 })
  await town.door('/clock', { now: '2024-03-12T14:00:10Z' })
  expect(await own()).toEqual([['1', 'O', 4, undefined]])
  await town.door('/broker', { hold: false })
  expect(await own()).toEqual([
    ['2', 'C', 4, 150],
    ['3', 'C', 4, 40],
  ])
  expect((await call(town.platform.url, '/test/audit')).json).toEqual({ violations: [] })
})
