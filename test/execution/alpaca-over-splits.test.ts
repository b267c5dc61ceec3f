/** A replacement at Alpaca over a split: nobody knows in which units Alpaca goes on counting. */
import { afterAll, expect, test } from 'vitest'
import { dec } from '../../src/domain/decimal.ts'
import { bookActions } from '../../src/execution/orders/corporate-actions.ts'
import { enterActions } from '../../src/execution/orders/enter-actions.ts'
import { publishQuotes } from '../../src/execution/orders/matcher.ts'
import { testDatabase } from '../support/database.ts'
import { makeAlpacaScene, makeAlpacaWorld } from './alpaca-world.ts'
import { endSignal, opening, quote } from './world.ts'

const { db } = await testDatabase()
const world = await makeAlpacaWorld(db)
afterAll(() => world.close())
const day = 86_400_000

/** A copy of 10 at 50, of which 4 are executed, two for one, and then replaced by one at 26, or by a stop. */
async function replacedOverSplit(
  restate: (order: { filled_qty: string; qty: string }) => void,
  price: { limit: string } | { stop: string } = { limit: '26' },
) {
  world.clock.time = opening
  const one = await makeAlpacaScene(world)
  const signal = await one.order('1', '10', { limit: '50' })
  await world.until(async () => expect(await one.orders()).toMatchObject([{ status: '0' }]))
  one.fill(4, 50)
  await world.until(async () => expect(await one.held()).toBe(4))
  await db.write.run`update account set is_sync_enabled = false where id = ${one.accountId}`
  world.clock.time = opening + day
  const split = { kind: 'split', symbol: one.symbol, day: '2024-03-13', new: dec(2), old: dec(1) } as const
  await enterActions(world.ctx, [split])
  await bookActions(world.ctx)
  await world.drain()
  expect(await one.orders()).toMatchObject([{ status: '1', orderQty: 20, cumQty: 8 }])
  const [theirs] = one.theirs()
  if (theirs) restate(theirs)
  await endSignal(db.write, signal, '5', new Date(world.clock.time).toISOString())
  await one.order('1', '20', { ...price, replaces: signal })
  return one
}

test.each([
  ['old', '4'],
  ['new', '8'],
])('asks for the rest where Alpaca counts in %s units', async (_, filled_qty) => {
  const one = await replacedOverSplit((order) => Object.assign(order, { filled_qty, qty: '20' }))
  await world.until(async () =>
    expect(await one.orders()).toMatchObject([{ status: '5' }, { status: '1', orderQty: 20, cumQty: 8 }]),
  )
  expect(one.theirs().at(-1)).toMatchObject({ qty: '12', filled_qty: '0' })
})

test('is refused where Alpaca counts what is ours in no units', async () => {
  const one = await replacedOverSplit((order) => Object.assign(order, { filled_qty: '6', qty: '20' }))
  await world.until(async () => expect(await one.orders()).toMatchObject([{ status: '1' }, { status: '8' }]))
  expect(one.theirs()).toHaveLength(1)
})

test.each([
  ['old', '4'],
  ['new', '8'],
])('counts what executes while it is withdrawn where Alpaca counts in %s units', async (_, filled_qty) => {
  let isFilled = false
  const one = await replacedOverSplit((order) => Object.assign(order, { filled_qty, qty: '20' }), {
    stop: '70',
  })
  world.alpaca.fault = (method) => {
    if (method === 'DELETE' && !isFilled) {
      isFilled = true
      one.fill(2, 26)
      Object.assign(one.theirs()[0] ?? {}, { filled_qty: String(Number(filled_qty) + 2) })
    }
    return undefined
  }
  await world.until(async () =>
    expect(await one.orders()).toMatchObject([{ status: '5' }, { status: '1', orderQty: 20, cumQty: 10 }]),
  )
  expect(one.theirs().at(-1)).toMatchObject({ type: 'stop', qty: '10', filled_qty: '0' })
  expect(await one.held()).toBe(10)
})

test('counts every order of a chain that began anew before the split', async () => {
  world.clock.time = opening
  const one = await makeAlpacaScene(world)
  const { clock, ctx } = world
  const reaches = (...orders: object[]) =>
    world.until(async () => expect(await one.orders()).toMatchObject(orders))
  const replace = async (signal: number, quantity: string, limit: string): Promise<number> => {
    await endSignal(db.write, signal, '5', new Date(clock.time).toISOString())
    return one.order('2', quantity, { limit, replaces: signal })
  }
  await one.order('1', '10')
  await publishQuotes(ctx, [quote(one.symbol, '99', '100', clock.now())])
  await reaches({ status: '0' })
  one.fill(10, 100)
  const exit = await one.order('2', '10', { limit: '110' })
  await reaches({ status: '2' }, { status: '0' })
  one.fill(3, 110)
  world.alpaca.books.cancel(one.book, one.theirs()[1]!, false)
  // AutoSync closes what is left.
  await reaches({ status: '2' }, { status: '4', cumQty: 3 }, { status: '1', orderQty: 10, cumQty: 3 })
  one.fill(2, 110)
  const second = await replace(exit, '10', '115')
  await reaches({ status: '2' }, { status: '4' }, { status: '5' }, { status: '1', cumQty: 5 })
  one.fill(1, 115)
  await reaches({ status: '2' }, { status: '4' }, { status: '5' }, { status: '1', cumQty: 6 })
  await db.write.run`update account set is_sync_enabled = false where id = ${one.accountId}`
  clock.time = opening + day
  const split = { kind: 'split', symbol: one.symbol, day: '2024-03-13', new: dec(2), old: dec(1) } as const
  await enterActions(ctx, [split])
  await bookActions(ctx)
  await world.drain()
  await replace(second, '20', '60')
  await reaches({}, {}, {}, { status: '5', orderQty: 20, cumQty: 12 }, { status: '1', cumQty: 12 })
  expect(one.theirs().at(-1)).toMatchObject({ qty: '8' })
})
