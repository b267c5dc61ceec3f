/** Exits that their owner made smaller than their entry, over a split whose ratio no logarithm keeps exactly. */
import { expect, test } from 'vitest'
import { call, resultsOf } from '../support/http.ts'
import { apple, buildTown } from './support/town.ts'

const town = await buildTown()
const { owner, stranger } = town.people
const StrategyId = town.lonelyStrategyId
const account = { Account: 'X1', PersonId: stranger.personId }

const stop = async (Stop: number, OrderQuantity: number, CancelReplaceSignalId: number): Promise<number> => {
  const terms = { StrategyId, TIF: '1', PlatformSymbol: apple, Side: '2', OrderType: '3' }
  const Order = { ...terms, Stop, OrderQuantity, CancelReplaceSignalId }
  const answer = await town.ask('ReplaceStrategyOrder', { Order }, { key: owner.key })
  return resultsOf<{ SignalId: number }>(answer)[0]?.SignalId ?? 0
}
const copies = async () =>
  resultsOf<Record<string, unknown>>(
    await town.ask('GetAutotradeActiveOrders', account, { key: stranger.key }),
  ).map((row) => [row.OrderType, row.OrderQuantity, row.Stop])

test('are copied with what they leave of it, replaced after the split too', async () => {
  await town.door('/accounts', [{ account: 'X1', personId: stranger.personId, cash: 50_000 }])
  const started = { ...account, StrategyId, StocksEnabled: true }
  expect((await town.ask('StartAutotrade', started, { key: stranger.key })).status).toBe(200)
  const terms = { StrategyId, TIF: '1', PlatformSymbol: apple, Side: '1', OrderType: '1' }
  const Order = { ...terms, OrderQuantity: 10, StopLoss: 80 }
  const answer = await town.ask('NewStrategyOrder', { Order }, { key: owner.key })
  const [{ StopLossSignalId = 0 } = {}] = resultsOf<{ StopLossSignalId: number }>(answer)
  const smaller = await stop(80, 4, StopLossSignalId)
  const off = { ...account, IsAutoSyncEnabled: false }
  expect((await town.ask('SetAutotradeSettings', off, { key: stranger.key })).status).toBe(200)
  expect(await copies()).toEqual([['3', 4, 80]])
  await town.door('/corporate-actions', [
    { kind: 'split', symbol: 'AAPL', date: '2024-03-13', new: 3, old: 2 },
  ])
  await town.door('/clock', { now: '2024-03-13T14:00:00Z' })
  expect(await copies()).toEqual([['3', 6, 53.33]])
  await stop(54, 6, smaller)
  expect(await copies()).toEqual([['3', 6, 54]])
  expect((await call(town.platform.url, '/test/audit')).json).toEqual({ violations: [] })
})
