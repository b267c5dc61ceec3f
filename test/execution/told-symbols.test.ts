/** Options that a split lists anew under symbols that others had: what brokers tell of them is of the symbol of its time. */
import { expect, test } from 'vitest'
import { dec } from '../../src/domain/decimal.ts'
import { clientOrderId } from '../../src/domain/orders/client-order-id.ts'
import { readMessages } from '../../src/execution/brokers/fix/reports.ts'
import { bookActions } from '../../src/execution/orders/corporate-actions.ts'
import { enterActions } from '../../src/execution/orders/enter-actions.ts'
import { insertToldReports } from '../../src/storage/brokers/report-intake.ts'
import type { NewTotal } from '../../src/storage/brokers/reports.ts'
import { testDatabase } from '../support/database.ts'
import { fixMessage } from '../support/fix-message.ts'
import { addBroker } from '../support/followers.ts'
import { untilWaiting } from '../support/locks.ts'
import { makeScene } from './account-scene.ts'
import { makeAccountWorld } from './account-world.ts'
import { addInstrument, endSignal, opening, place } from './world.ts'

const { db } = await testDatabase()
const brokerId = await addBroker(db)
/** While it is there, cancels are refused, and this is done first. */
let beforeRefusal: (() => Promise<unknown>) | undefined
const world = makeAccountWorld(db, {}, (broker) => ({
  ...broker,
  cancel: async (ctx, id, orders, until) => {
    if (!beforeRefusal) return broker.cancel(ctx, id, orders, until)
    await beforeRefusal()
    return orders.map(() => ({ answer: 'rejected', text: 'never' }))
  },
}))
const scene = makeScene(world, brokerId)

/** Two options of which one takes, after two for one, the symbol that the other one had. */
async function chain(root: string) {
  world.clock.time = opening
  const followed = await scene()
  const list = async (strike: string): Promise<number> => {
    const { id } = await addInstrument(db, { securityType: 'OPT', symbol: `${root}2418F${strike}` })
    await db.write.run`
      update instrument set underlying = ${followed.symbol}, root = ${root}, put_or_call = '1',
        strike = ${strike}::numeric, expiry = '2024-06-21', last_trading_day = '2024-06-21', point_value = 100
      where id = ${id}`
    return id
  }
  const lower = await list('200')
  const upper = await list('400')
  const { accountId } = followed
  const before = opening
  const after = opening + 86_400_000
  const about = {
    brokerId,
    accountId,
    clientOrderId: null,
    symbol: `${root}2418F200`,
    kind: 'fill',
    text: null,
  } as const
  const told = (wish: Pick<NewTotal, 'reportKey' | 'quantity' | 'occurredAt'>) =>
    db.transaction((tx) => insertToldReports(tx, [{ ...about, side: '1', px: '5', ...wish }]))
  const early = () => told({ reportKey: 'then', quantity: '3', occurredAt: before })
  const late = () => told({ reportKey: 'now', quantity: '1', occurredAt: after })
  const enter = async (): Promise<void> => {
    world.clock.time = after
    const split = {
      kind: 'split',
      symbol: followed.symbol,
      day: '2024-03-13',
      new: dec(2),
      old: dec(1),
    } as const
    await enterActions(world.ctx, [split])
  }
  const held = () => db.read.rows`
    select instrument_id as id, quantity::float8 as quantity from account_position where account_id = ${accountId}
    order by id`
  return { ...followed, lower, upper, early, late, enter, held }
}

test('told after the split is booked', async () => {
  const { lower, upper, early, late, enter, held } = await chain('LATE')
  await enter()
  await bookActions(world.ctx)
  await early()
  await late()
  await world.drain()
  expect(await held()).toEqual([
    { id: lower, quantity: 6 },
    { id: upper, quantity: 1 },
  ])
})

test('told before the split is booked, of a time before its opening and of one after', async () => {
  const { lower, upper, early, late, enter, held } = await chain('WAIT')
  await enter()
  await early()
  await late()
  await bookActions(world.ctx)
  await world.drain()
  expect(await held()).toEqual([
    { id: lower, quantity: 6 },
    { id: upper, quantity: 1 },
  ])
})

test('told while the split is booked', async () => {
  const { lower, early, enter, held } = await chain('MIDST')
  await enter()
  let telling: Promise<unknown> | undefined
  await db.transaction(async (tx) => {
    const within = {
      ...db,
      read: tx,
      write: tx,
      transaction: <Told>(run: (own: typeof tx) => Promise<Told>) => run(tx),
    }
    await bookActions({ ...world.ctx, db: within })
    telling = early()
    await Promise.race([telling, untilWaiting(db.read)])
  })
  await telling
  await world.drain()
  expect(await held()).toEqual([{ id: lower, quantity: 6 }])
})

test('told after an earlier split was entered behind a later one', async () => {
  const { lower, symbol, early, held } = await chain('BEHIND')
  const third = await addInstrument(db, { securityType: 'OPT', symbol: 'BEHIND2418F100' })
  await db.write.run`
    update instrument set underlying = ${symbol}, root = 'BEHIND', put_or_call = '1', strike = 100, expiry = '2024-06-21',
      last_trading_day = '2024-06-21', point_value = 100 where id = ${third.id}`
  world.clock.time = opening + 2 * 86_400_000
  const split = { kind: 'split', symbol, new: dec(2), old: dec(1) } as const
  await enterActions(world.ctx, [{ ...split, day: '2024-03-14' }])
  await bookActions(world.ctx)
  await enterActions(world.ctx, [{ ...split, day: '2024-03-13' }])
  await bookActions(world.ctx)
  await early()
  await world.drain()
  expect(await held()).toEqual([{ id: lower, quantity: 12 }])
})

test('a refusal that comes while the split is booked is that of its order', async () => {
  const { lower, strategyId, setupId, enter } = await chain('REFUSE')
  const wish = { strategyId, instrumentId: lower, side: '1', quantity: '3', limit: '5' } as const
  const signal = await place(world, { ...wish, goodTillCanceled: true })
  await world.drain()
  await enter()
  beforeRefusal = () => bookActions(world.ctx)
  await endSignal(db.write, signal, '4', new Date(opening).toISOString())
  await world.drain()
  beforeRefusal = undefined
  expect(
    await db.read
      .one`select status, pending_action as pending from account_order where setup_id = ${setupId}`,
  ).toEqual({ status: '0', pending: null })
})

test('a message that names no symbol is about its order, whoever had that symbol then', async () => {
  const { upper, strategyId, setupId, enter } = await chain('MUTE')
  const wish = {
    strategyId,
    instrumentId: upper,
    side: '1',
    quantity: '3',
    limit: '5',
    goodTillCanceled: true,
  } as const
  await place(world, wish)
  await world.drain()
  await enter()
  await bookActions(world.ctx)
  const { source, sourceId, revision } = await db.read.one<{
    source: 'S'
    sourceId: number
    revision: number
  }>`
    select source, source_id as "sourceId", revision from account_order where setup_id = ${setupId}`
  const { environment } = world.ctx.settings
  const id = clientOrderId({ environment, setupId, source, sourceId, revision })
  const message = fixMessage(`35=9|11=${id}|41=${id}|39=0|434=1|60=20240312-14:00:00|102=0`)
  const read = await readMessages(world.ctx, { connection: 'paper', isCompared: true }, [message])
  expect(read.reports).toHaveLength(1)
  await db.transaction((tx) => insertToldReports(tx, read.reports))
  expect(
    await db.read.one`
      select i.id from broker_report r join instrument i on i.symbol = r.symbol
      where r.client_order_id = ${id} and r.kind = 'cancelReject'`,
  ).toEqual({ id: upper })
})
