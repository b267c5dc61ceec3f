/** An exit whose price the holder changed, when its strategy's own has filled: what it closes is closed once. */
import { expect, test } from 'vitest'
import { buildHolder } from './support/holder.ts'

const { town, orders, signal, reprice, bid, position, audit } = await buildHolder()

/** Sells at 120; the holder wants 121 for his. */
async function leaveBehind(quantity = 40): Promise<number> {
  const signalId = await signal({ OrderType: '2', Side: '2', OrderQuantity: quantity, Limit: 120 })
  await reprice(signalId, 121)
  await bid(120)
  return signalId
}
const statuses = async (signalId: number) =>
  (await orders())
    .filter(({ SignalId }) => SignalId === signalId)
    .map(({ OrderStatus, Limit }) => [OrderStatus, Limit])

test('it sells at its own price within the grace, and AutoSync nothing beside it', async () => {
  const signalId = await leaveBehind()
  expect(await position()).toMatchObject([{ Quantity: 100 }])
  await bid(121)
  expect(await position()).toMatchObject([{ Quantity: 60 }])
  expect((await statuses(signalId)).at(-1)).toEqual(['2', 121])
  await audit()
})

test('after the grace it sells at market, once', async () => {
  await bid(100)
  const signalId = await leaveBehind()
  expect(await position()).toMatchObject([{ Quantity: 60 }])
  await town.door('/clock', { now: '2024-03-12T14:00:31Z' })
  await bid(120)
  expect(await position()).toMatchObject([{ Quantity: 20 }])
  expect((await statuses(signalId)).at(-1)).toEqual(['2', undefined])
  await town.door('/clock', { now: '2024-03-12T14:05:00Z' })
  expect(await position()).toMatchObject([{ Quantity: 20 }])
  await audit()
})

test('given another price in its grace, it has what is left of that', async () => {
  await bid(100)
  await signal({ OrderType: '1', Side: '1', OrderQuantity: 100 })
  const signalId = await leaveBehind()
  await town.door('/clock', { now: '2024-03-12T14:05:20Z' })
  await reprice(signalId, 122)
  await town.door('/clock', { now: '2024-03-12T14:05:29Z' })
  expect(await position()).toMatchObject([{ Quantity: 120 }])
  await town.door('/clock', { now: '2024-03-12T14:05:30Z' })
  expect(await position()).toMatchObject([{ Quantity: 80 }])
  expect((await statuses(signalId)).at(-1)).toEqual(['2', undefined])
  await audit()
})

test('cut to what is held in its grace, it has what is left of that', async () => {
  await bid(100)
  // Sells the 80 that are held and opens 40 short: the copy of the second leaves 40 for the one of the first.
  const signalId = await leaveBehind(120)
  expect(await position()).toMatchObject([{ Quantity: 40 }])
  expect((await statuses(signalId)).at(-1)).toEqual(['0', 121])
  await town.door('/clock', { now: '2024-03-12T14:06:00Z' })
  expect(await position()).toEqual([])
  expect((await statuses(signalId)).at(-1)).toEqual(['2', undefined])
  await audit()
})
