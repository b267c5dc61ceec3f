/** An exit whose price the holder changed, when its strategy's own has filled: what it closes is closed once. */
import { expect, test } from 'vitest'
import { resultsOf } from '../support/http.ts'
import { buildHolder } from './support/holder.ts'
import { apple } from './support/town.ts'

const { town, own, held, orders, position, audit } = await buildHolder()
const bidOf = (bid: number) => town.door('/quotes', [{ symbol: 'AAPL', bid, ask: bid + 0.1 }])

/** Sells 40 at 120; the holder wants 121 for his. */
async function leaveBehind(): Promise<number> {
  const order = { StrategyId: town.strategyId, OrderType: '2', Side: '2', OrderQuantity: 40, TIF: '1' }
  const Order = { ...order, Limit: 120, PlatformSymbol: apple }
  const placed = await town.ask('NewStrategyOrder', { Order }, { key: town.people.owner.key })
  const [{ SignalId } = { SignalId: 0 }] = resultsOf<{ SignalId: number }>(placed)
  const copy = (await orders()).find((order) => order.SignalId === SignalId)
  const moved = await held('ReplaceAutotradeOrder', { ...own(), OrderId: copy?.OrderId, Price: 121 })
  expect(moved.status).toBe(200)
  await bidOf(120)
  return SignalId
}
const statuses = async (signalId: number) =>
  (await orders())
    .filter(({ SignalId }) => SignalId === signalId)
    .map(({ OrderStatus, Limit }) => [OrderStatus, Limit])

test('it sells at its own price within the grace, and AutoSync nothing beside it', async () => {
  const signalId = await leaveBehind()
  expect(await position()).toMatchObject([{ Quantity: 100 }])
  await bidOf(121)
  expect(await position()).toMatchObject([{ Quantity: 60 }])
  expect((await statuses(signalId)).at(-1)).toEqual(['2', 121])
  await audit()
})

test('after the grace it sells at market, once', async () => {
  await bidOf(100)
  const signalId = await leaveBehind()
  expect(await position()).toMatchObject([{ Quantity: 60 }])
  await town.door('/clock', { now: '2024-03-12T14:00:31Z' })
  await bidOf(120)
  expect(await position()).toMatchObject([{ Quantity: 20 }])
  expect((await statuses(signalId)).at(-1)).toEqual(['2', undefined])
  await town.door('/clock', { now: '2024-03-12T14:05:00Z' })
  expect(await position()).toMatchObject([{ Quantity: 20 }])
  await audit()
})
