/** A holder's own exit beside a close of AutoSync that waits for the market to open: they may both find it there. */
import { expect, test } from 'vitest'
import { resultsOf } from '../support/http.ts'
import { buildHolder } from './support/holder.ts'
import { apple } from './support/town.ts'

const { town, own, held, orders, place, position, audit } = await buildHolder()
const { owner } = town.people
const until = (now: string) => town.door('/clock', { now })
const bidOf = (bid: number) => town.door('/quotes', [{ symbol: 'AAPL', bid, ask: bid + 0.1 }])
const scale = async (ScalingPercentage: number) => {
  const terms = { StrategyId: town.strategyId, StocksEnabled: true, ScalingPercentage }
  expect((await held('StartAutotrade', { ...own(), ...terms })).status).toBe(200)
}
const working = async () =>
  (await orders())
    .filter(({ OrderStatus, OpenClose }) => OrderStatus === '0' && OpenClose === 'C')
    .map(({ SignalType, OrderQuantity }) => [SignalType, OrderQuantity])

test('one placed by hand works for what that leaves', async () => {
  await place({ OrderQuantity: 80 })
  await until('2024-03-12T21:00:00Z')
  await scale(50)
  expect(await working()).toEqual([
    [1, 50],
    [4, 50],
  ])
  await until('2024-03-13T13:30:00Z')
  await bidOf(111)
  expect(await position()).toEqual([])
  await audit()
})

test('one of its strategy at his price does so too', async () => {
  const order = async (terms: object) => {
    const Order = { StrategyId: town.strategyId, TIF: '1', PlatformSymbol: apple, ...terms }
    const placed = await town.ask('NewStrategyOrder', { Order }, { key: owner.key })
    return resultsOf<{ SignalId: number }>(placed)[0]?.SignalId ?? 0
  }
  await order({ OrderType: '1', Side: '2', OrderQuantity: 100 })
  await scale(100)
  await order({ OrderType: '1', Side: '1', OrderQuantity: 100 })
  const exit = await order({ OrderType: '2', Side: '2', OrderQuantity: 100, Limit: 130 })
  const copy = (await orders()).findLast(({ SignalId }) => SignalId === exit)
  const moved = await held('ReplaceAutotradeOrder', { ...own(), OrderId: copy?.OrderId, Price: 120 })
  expect(moved.status).toBe(200)
  await until('2024-03-13T21:00:00Z')
  await scale(50)
  expect(await working()).toEqual([
    [1, 50],
    [5, 50],
  ])
  await until('2024-03-14T13:30:00Z')
  await bidOf(121)
  expect(await position()).toEqual([])
  await audit()
})
