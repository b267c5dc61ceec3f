/** A copy of an exit in its grace, when the holder closes a part of the same position himself: both only reduce. */
import { expect, test } from 'vitest'
import { buildHolder } from './support/holder.ts'

const { town, own, held, orders, place, signal, copyOf, bid, position, audit } = await buildHolder()
const account = own().Account

/** The strategy sells all at 120; the account's broker does not yet, but closes 60 for the holder. */
async function closeBesideIt(): Promise<void> {
  await town.door('/broker', { partial: { account, qty: 0 } })
  const signalId = await signal({ OrderType: '2', Side: '2', OrderQuantity: 100, Limit: 120 })
  await bid(120)
  await place({ OrderType: '3', Limit: undefined, Stop: 115, OrderQuantity: 60 })
  await bid(115)
  expect(await position()).toMatchObject([{ Quantity: 40 }])
  const copy = await copyOf(signalId)
  expect(copy).toMatchObject({ OrderStatus: '0', OrderQuantity: 40, Limit: 120 })
  const execution = { account, symbol: 'AAPL', side: '2', qty: 40, px: 120, clientOrderId: copy?.OrderId }
  await town.door('/broker', { execution })
  expect(await position()).toEqual([])
  await audit()
}

test('the copy works for no more than is held', closeBesideIt)

test('that of a reversal whose second half traded first goes to the other side', async () => {
  await bid(100)
  await signal({ OrderType: '1', Side: '1', OrderQuantity: 100 })
  await town.door('/broker', { partial: { account, qty: 0 } })
  const signalId = await signal({ OrderType: '2', Side: '2', OrderQuantity: 150, Limit: 120 })
  await bid(120)
  expect(await position()).toMatchObject([{ Quantity: 50 }])
  const copy = await copyOf(signalId)
  expect(copy).toMatchObject({ OrderStatus: '0', OrderQuantity: 100 })
  const execution = { account, symbol: 'AAPL', side: '2', qty: 100, px: 120, clientOrderId: copy?.OrderId }
  await town.door('/broker', { execution })
  expect(await position()).toMatchObject([{ Quantity: -50 }])
  await signal({ OrderType: '1', Side: '1', OrderQuantity: 50 })
  expect(await position()).toEqual([])
  await audit()
})

test('it works for no more where AutoSync is off either', async () => {
  await bid(100)
  await signal({ OrderType: '1', Side: '1', OrderQuantity: 100 })
  await held('SetAutotradeSettings', { ...own(), IsAutoSyncEnabled: false })
  await closeBesideIt()
})

test('nor that of a reversal whose second half is still to trade', async () => {
  await bid(100)
  await signal({ OrderType: '1', Side: '1', OrderQuantity: 100 })
  await town.door('/broker', { partial: { account, qty: 0 } })
  await signal({ OrderType: '2', Side: '2', OrderQuantity: 150, Limit: 120 })
  await town.door('/broker', { partial: { account, qty: 0 } })
  await bid(120)
  await place({ OrderType: '3', Limit: undefined, Stop: 115, OrderQuantity: 60 })
  await bid(115)
  const halves = (await orders()).filter(({ OrderStatus, Limit }) => OrderStatus === '0' && Limit === 120)
  expect(halves.map(({ OpenClose, OrderQuantity }) => `${OpenClose} ${OrderQuantity}`).sort()).toEqual([
    'C 40',
    'O 50',
  ])
  for (const { OrderId: clientOrderId, OrderQuantity: qty } of halves)
    await town.door('/broker', {
      execution: { account, symbol: 'AAPL', side: '2', qty, px: 120, clientOrderId },
    })
  expect(await position()).toMatchObject([{ Quantity: -50 }])
  await audit()
})
