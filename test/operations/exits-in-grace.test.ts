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

/** Of a long of 100, `quantity` is sold by a reversal, whose halves trade at the account's broker as `fills` say. */
async function reverseBy(quantity: number, fills: readonly (readonly ['O' | 'C', number])[]): Promise<void> {
  await bid(100)
  await town.door('/broker', { partial: { account, qty: 0 } })
  await signal({ OrderType: '2', Side: '2', OrderQuantity: quantity, Limit: 120 })
  await town.door('/broker', { partial: { account, qty: 0 } })
  await bid(120)
  for (const [half, qty] of fills) {
    const working = (await orders()).filter(({ OrderStatus }) => OrderStatus === '0' || OrderStatus === '1')
    const clientOrderId = working.findLast(({ OpenClose }) => OpenClose === half)?.OrderId
    expect(clientOrderId).toBeDefined()
    await town.door('/broker', {
      execution: { account, symbol: 'AAPL', side: '2', qty, px: 120, clientOrderId },
    })
  }
  const short = quantity - 100
  expect(await position()).toMatchObject([{ Quantity: -short }])
  await signal({ OrderType: '1', Side: '1', OrderQuantity: short })
  await signal({ OrderType: '1', Side: '1', OrderQuantity: 100 })
  await audit()
}

/** Ways to trade the halves of a reversal that leave nothing, or the other side, while the first still works. */
// biome-ignore format: one way per line
const mixed = [
  ['the second first', 200, [['O', 100], ['C', 100]]],
  ['the first in parts after it', 150, [['O', 50], ['C', 50], ['C', 50]]],
  ['the second amid the first', 200, [['C', 50], ['O', 100], ['C', 50]]],
  ['both in parts', 200, [['O', 40], ['C', 60], ['O', 60], ['C', 40]]],
] as const

test.each(mixed)('that of a reversal goes to the other side: %s', async (_, quantity, fills) => {
  await bid(100)
  await signal({ OrderType: '1', Side: '1', OrderQuantity: 100 })
  await reverseBy(quantity, fills)
  await signal({ OrderType: '1', Side: '2', OrderQuantity: 100 })
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

test.each(mixed)('a reversal with AutoSync off: %s', async (_, quantity, fills) => {
  await signal({ OrderType: '1', Side: '1', OrderQuantity: 50 })
  await bid(100)
  await signal({ OrderType: '1', Side: '1', OrderQuantity: 100 })
  await reverseBy(quantity, fills)
  await signal({ OrderType: '1', Side: '2', OrderQuantity: 150 })
})

test('that of a reversal opens nothing where the holder has closed the other side', async () => {
  await bid(100)
  await signal({ OrderType: '1', Side: '1', OrderQuantity: 150 })
  await town.door('/broker', { partial: { account, qty: 0 } })
  const signalId = await signal({ OrderType: '2', Side: '2', OrderQuantity: 200, Limit: 120 })
  await town.door('/broker', { partial: { account, qty: 0 } })
  await bid(120)
  const halves = (await orders()).filter(({ OrderStatus }) => OrderStatus === '0')
  for (const [half, qty] of [
    ['O', 100],
    ['C', 50],
  ]) {
    const clientOrderId = halves.find(({ OpenClose }) => OpenClose === half)?.OrderId
    const execution = { account, symbol: 'AAPL', side: '2', qty, px: 120, clientOrderId }
    await town.door('/broker', { execution })
  }
  await place({ OrderType: '3', Side: '1', Limit: undefined, Stop: 125, OrderQuantity: 50 })
  await bid(125)
  expect(await position()).toEqual([])
  expect(await copyOf(signalId)).toMatchObject({ OpenClose: 'C', OrderStatus: '4' })
  await audit()
})
