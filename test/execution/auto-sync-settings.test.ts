/** What an owner has chosen and what forbids to open bind AutoSync as they bind the copies: what a joining account opens. */
import { expect, test } from 'vitest'
import type { SecurityType } from '../../src/domain/codes.ts'
import { identifier } from '../../src/storage/database/sql.ts'
import { markSetups } from '../../src/storage/mirror/sync-due.ts'
import { setSwitch } from '../../src/storage/work/switches.ts'
import { testDatabase } from '../support/database.ts'
import { addBroker, addFollowers } from '../support/followers.ts'
import { makeAccountWorld, readOrders } from './account-world.ts'
import { addInstrument, addStrategy, place } from './world.ts'

const { db } = await testDatabase()
const world = makeAccountWorld(db)
const brokerId = await addBroker(db)

interface Case {
  readonly name: string
  readonly securityType: SecurityType
  readonly side: '1' | '2'
  readonly quantity: string
  readonly chosen: Readonly<Record<string, number | boolean>>
  readonly opened: readonly number[]
}

const buys = { side: '1', quantity: '4' } as const
const cases: readonly Case[] = [
  { name: 'nothing is chosen', securityType: 'FUT', ...buys, chosen: {}, opened: [4] },
  {
    name: 'only closing orders',
    securityType: 'FUT',
    ...buys,
    chosen: { closing_orders_only: true },
    opened: [],
  },
  { name: 'no futures', securityType: 'FUT', ...buys, chosen: { futures_enabled: false }, opened: [] },
  { name: 'no long futures', securityType: 'FUT', ...buys, chosen: { futures_long: false }, opened: [] },
  {
    name: 'no short futures',
    securityType: 'FUT',
    side: '2',
    quantity: '4',
    chosen: { futures_short: false },
    opened: [],
  },
  {
    name: 'no short stocks: futures may',
    securityType: 'FUT',
    side: '2',
    quantity: '4',
    chosen: { stocks_short: false },
    opened: [4],
  },
  { name: 'at least seven', securityType: 'FUT', ...buys, chosen: { min_futures: 7 }, opened: [7] },
  { name: 'at least seven options', securityType: 'FUT', ...buys, chosen: { min_options: 7 }, opened: [4] },
  { name: 'at most three', securityType: 'FUT', ...buys, chosen: { max_futures: 3 }, opened: [3] },
  { name: 'lots of three', securityType: 'FOR', ...buys, chosen: { forex_lot_size: 3 }, opened: [3] },
  {
    name: 'lots of three: futures by one',
    securityType: 'FUT',
    ...buys,
    chosen: { forex_lot_size: 3 },
    opened: [4],
  },
  {
    name: 'at most 250 dollars at 100',
    securityType: 'CS',
    ...buys,
    chosen: { max_stocks_dollars: 250 },
    opened: [2],
  },
]

type Scene = Pick<Case, 'securityType' | 'side' | 'quantity'>

/** A follower of a strategy that holds a position already. */
async function joining({ securityType, side, quantity }: Scene) {
  const strategyId = await addStrategy(db)
  const pointValue = securityType === 'FOR' ? '1000' : '1'
  const { id: instrumentId, symbol } = await addInstrument(db, { securityType, pointValue })
  await place(world, { strategyId, instrumentId, side, quantity })
  await world.quote(symbol, '100', '100')
  const [setupId = 0] = await addFollowers(db, { strategyId, brokerId, count: 1 })
  return { strategyId, setupId, symbol }
}

const choose = (setupId: number, column: string, value: number | boolean | null) => db.write.run`
  update setup set ${identifier(column)} = (jsonb_populate_record(null::setup,
    ${JSON.stringify({ [column]: value })}::jsonb)).${identifier(column)} where id = ${setupId}`

async function opened(setupId: number): Promise<number[]> {
  for (const group of ['stocks_usa', 'futures_usa', 'forex'])
    await choose(setupId, `will_sync_${group}`, true)
  await markSetups(db.write, [setupId], world.clock.now())
  await world.drain()
  return (await readOrders(world, setupId)).map(({ orderQty }) => orderQty)
}

test.each(cases)('an account that joins: $name', async ({ chosen, opened: expected, ...scene }) => {
  const { setupId } = await joining(scene)
  for (const [column, value] of Object.entries(chosen)) await choose(setupId, column, value)
  expect(await opened(setupId)).toEqual(expected)
})

/** By what forbids to open: how it begins and ends. */
const forbidden: Record<string, (isOn: boolean, strategyId: number) => Promise<unknown>> = {
  'the mass switch': (isOn) => setSwitch(db.write, 'noOpeningOrders', isOn, world.clock.now()),
  'a broker that is switched off': (isOn) =>
    db.write.run`update broker set is_enabled = ${!isOn} where id = ${brokerId}`,
  'a subscription that is suspended': (isOn, strategyId) =>
    isOn
      ? db.write.run`
        insert into subscription (site_id, person_id, strategy_id, kind, status, base_price, started_at,
          term_started_at, term_ends_at)
        select site_id, owner_person_id, id, 'paid', 'suspended', 0, now(), now(), now() + interval '30 days'
        from strategy where id = ${strategyId}`
      : db.write.run`update subscription set status = 'active' where strategy_id = ${strategyId}`,
}

test.each(Object.entries(forbidden))('%s: not an order is made until it is over', async (_name, forbid) => {
  const { strategyId, setupId } = await joining({ securityType: 'FUT', ...buys })
  await forbid(true, strategyId)
  expect(await opened(setupId)).toEqual([])
  await forbid(false, strategyId)
  expect(await opened(setupId)).toEqual([4])
})

test('what it opens says what it was decided from, and the setup when', async () => {
  const { setupId, symbol } = await joining({ securityType: 'FUT', ...buys })
  await choose(setupId, 'scaling_percentage', 300)
  await choose(setupId, 'max_futures', 7)
  world.clock.time += 1000
  expect(await opened(setupId)).toEqual([7])
  await world.quote(symbol, '100', '101')
  await choose(setupId, 'max_futures', 9)
  expect(await opened(setupId)).toEqual([7, 2])
  const rows = await db.read.rows`
    select reason, strategy_qty::float8 as "strategyQty", scaling_percentage as scaling, held_qty::float8 as held,
      reference_px::float8 as price, limit_value::float8 as "limit"
    from account_order where setup_id = ${setupId} order by id`
  const decided = { reason: 'Opening', strategyQty: 4, scaling: 300 }
  expect(rows).toEqual([
    { ...decided, held: 0, price: 100, limit: 7 },
    { ...decided, held: 7, price: 101, limit: 9 },
  ])
  expect(await db.read.one`select last_sync_futures_usa as at from setup where id = ${setupId}`).toEqual({
    at: world.clock.now(),
  })
})

test('what a broker refuses leaves no pass open: nothing else of the group may be opened because of it', async () => {
  const { strategyId, setupId } = await joining({ securityType: 'FUT', ...buys })
  const { accountId } = await db.read.one<{ accountId: number }>`
    select account_id as "accountId" from setup where id = ${setupId}`
  world.paper.controls.reject(accountId, 'not here')
  expect(await opened(setupId)).toEqual([4])
  expect(await readOrders(world, setupId)).toMatchObject([{ status: '8' }])
  expect(
    await db.read
      .one`select will_sync_futures_usa as will, last_sync_futures_usa as last from setup where id = ${setupId}`,
  ).toEqual({ will: false, last: world.clock.now() })

  const { id: instrumentId, symbol } = await addInstrument(db, { securityType: 'FUT', pointValue: '1' })
  await choose(setupId, 'futures_enabled', false)
  await world.quote(symbol, '100', '100')
  await place(world, { strategyId, instrumentId, ...buys })
  await world.drain()
  await choose(setupId, 'futures_enabled', true)
  await markSetups(db.write, [setupId], world.clock.now())
  await world.drain()
  expect(await readOrders(world, setupId), 'missed, and left').toHaveLength(1)
})

test('nothing is opened or guarded once trading has ended, until what is held is settled', async () => {
  const { strategyId, setupId, symbol } = await joining({ securityType: 'FUT', ...buys })
  expect(await opened(setupId)).toEqual([4])
  await db.write.run`update instrument set last_trading_day = '2024-03-11' where symbol = ${symbol}`
  await choose(setupId, 'auto_stop_loss_dollars', 100)
  expect(await opened(setupId)).toEqual([4])
  const [late = 0] = await addFollowers(db, { strategyId, brokerId, count: 1 })
  expect(await opened(late)).toEqual([])
  expect(await db.read.one`select will_sync_futures_usa as will from setup where id = ${late}`).toEqual({
    will: false,
  })
})

test('nothing is opened in a future that may only be closed, and what is held is guarded and closed', async () => {
  const { strategyId, setupId, symbol } = await joining({ securityType: 'FUT', ...buys })
  expect(await opened(setupId)).toEqual([4])
  await db.write.run`update instrument set last_trading_day = '2024-03-13' where symbol = ${symbol}`
  await choose(setupId, 'auto_stop_loss_dollars', 100)
  expect(await opened(setupId)).toEqual([4, 4])
  await choose(setupId, 'scaling_percentage', 200)
  const [late = 0] = await addFollowers(db, { strategyId, brokerId, count: 1 })
  expect([await opened(setupId), await opened(late)]).toEqual([[4, 4], []])
  await choose(setupId, 'scaling_percentage', 50)
  expect(await opened(setupId)).toEqual([4, 4, 2, 2])
})

test('what a stopped setup holds of a stock that trades no more is not ordered to be closed, until it trades again', async () => {
  const { setupId, symbol } = await joining({ securityType: 'CS', ...buys })
  expect(await opened(setupId)).toEqual([4])
  await db.write.run`update instrument set ended_at = now() where symbol = ${symbol}`
  await db.write.run`
    update setup set stopped_at = now(), left_version = 1000000, positions_left_open = false where id = ${setupId}`
  await world.drain()
  expect(await readOrders(world, setupId)).toHaveLength(1)
  await db.write.run`update instrument set ended_at = null where symbol = ${symbol}`
  await world.drain()
  expect(await readOrders(world, setupId)).toMatchObject([{}, { info: 'autotrade stopped', status: '2' }])
})

test('what was refused to open leaves what is held guarded', async () => {
  const strategyId = await addStrategy(db)
  const { id: instrumentId, symbol } = await addInstrument(db, { securityType: 'FUT', pointValue: '1' })
  await world.quote(symbol, '100', '100')
  const [setupId = 0] = await addFollowers(db, { strategyId, brokerId, count: 1 })
  const { accountId } = await db.read.one<{ accountId: number }>`
    select account_id as "accountId" from setup where id = ${setupId}`
  await choose(setupId, 'auto_stop_loss_dollars', 100)
  await place(world, { strategyId, instrumentId, ...buys, limit: '90' })
  await world.drain()
  world.paper.controls.reject(accountId, 'not here')
  await place(world, { strategyId, instrumentId, ...buys })
  await world.drain()
  await world.quote(symbol, '90', '90')
  expect(await readOrders(world, setupId)).toMatchObject([
    { ordType: '2', status: '2' },
    { ordType: '1', status: '8' },
    { ordType: '3', status: '0', orderQty: 4, info: 'auto stop loss' },
  ])
})

test('copies that it places and changes say what they were decided from, as those of a plan', async () => {
  const strategyId = await addStrategy(db)
  const { id: instrumentId, symbol } = await addInstrument(db, { securityType: 'FUT', pointValue: '1' })
  await world.quote(symbol, '100', '101')
  await place(world, { strategyId, instrumentId, ...buys, limit: '50' })
  await world.drain()
  const [setupId = 0] = await addFollowers(db, { strategyId, brokerId, count: 1 })
  await choose(setupId, 'max_futures', 3)
  expect(await opened(setupId)).toEqual([3])
  await choose(setupId, 'max_futures', null)
  await choose(setupId, 'min_futures', 6)
  expect(await opened(setupId)).toEqual([3, 6])
  const rows = await db.read.rows`
    select reason, strategy_qty::float8 as "strategyQty", limit_value::float8 as "limit"
    from account_order where setup_id = ${setupId} order by id`
  expect(rows).toEqual([
    { reason: 'CappedToMaximum', strategyQty: 4, limit: 3 },
    { reason: 'RaisedToMinimum', strategyQty: 4, limit: 6 },
  ])
})

test.each([
  ['futures_europe', [4]],
  ['futures_usa', []],
] as const)('what is listed in London is opened where %s may be', async (group, expected) => {
  const { setupId, symbol } = await joining({ securityType: 'FUT', ...buys })
  await db.write.run`update instrument set security_exchange = 'IFEU' where symbol = ${symbol}`
  for (const one of ['futures_europe', 'futures_usa'])
    await choose(setupId, `will_sync_${one}`, one === group)
  await markSetups(db.write, [setupId], world.clock.now())
  await world.drain()
  expect((await readOrders(world, setupId)).map(({ orderQty }) => orderQty)).toEqual(expected)
})
