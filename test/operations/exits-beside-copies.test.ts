/** A holder's own exits beside copies that go: what takes its course by itself is neither replaced nor given way to. */
import { expect, test } from 'vitest'
import { buildHolder } from './support/holder.ts'

const { town, own, held, orders, place, signal, copyOf, reprice, bid, position, audit } = await buildHolder()
const account = own().Account

test('an exit that is withdrawn with its symbol is not cut beside that', async () => {
  await signal({ OrderType: '1', Side: '1', OrderQuantity: 100 })
  const signalId = await signal({ OrderType: '2', Side: '2', OrderQuantity: 100, Limit: 120 })
  await reprice(signalId, 125)
  await bid(120)
  await place({ OrderType: '3', Limit: undefined, Stop: 115, OrderQuantity: 150 })
  await bid(115)
  expect(await position()).toMatchObject([{ Quantity: 50 }])
  const repriced = (await orders()).filter(({ SignalType }) => SignalType === 5)
  expect(repriced.map(({ OrderStatus, OrderQuantity }) => [OrderStatus, OrderQuantity])).toEqual([['4', 100]])
  await audit()
})

test('one of his does not give way to a copy in its grace', async () => {
  await signal({ OrderType: '1', Side: '2', OrderQuantity: 100 })
  expect(await position()).toEqual([])
  await bid(100)
  await signal({ OrderType: '1', Side: '1', OrderQuantity: 100 })
  await held('SetAutotradeSettings', { ...own(), IsAutoSyncEnabled: false })
  await town.door('/broker', { partial: { account, qty: 0 } })
  const signalId = await signal({ OrderType: '2', Side: '2', OrderQuantity: 60, Limit: 120 })
  const { SignalId: ownId } = await place({ OrderQuantity: 80, Limit: 122 })
  await bid(120)
  expect(await position()).toMatchObject([{ Quantity: 100 }])
  expect(await copyOf(signalId)).toMatchObject({ OrderStatus: '0', OrderQuantity: 60 })
  expect(await copyOf(ownId)).toMatchObject({ OrderStatus: '0', OrderQuantity: 80 })
  await town.door('/clock', { now: '2024-03-12T14:00:31Z' })
  expect(await position()).toMatchObject([{ Quantity: 40 }])
  expect(await copyOf(ownId)).toMatchObject({ OrderStatus: '0', OrderQuantity: 40 })
  await audit()
})
