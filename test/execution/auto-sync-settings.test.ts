/** What an account's owner has chosen binds AutoSync as it binds the copies: cases of what a joining account opens. */
import { expect, test } from 'vitest'
import type { SecurityType } from '../../src/domain/codes.ts'
import { identifier } from '../../src/storage/database/sql.ts'
import { markSetups } from '../../src/storage/mirror/sync-due.ts'
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

test.each(cases)('an account that joins: $name', async ({ securityType, side, quantity, chosen, opened }) => {
  const strategyId = await addStrategy(db)
  const pointValue = securityType === 'FOR' ? '1000' : '1'
  const { id: instrumentId, symbol } = await addInstrument(db, { securityType, pointValue })
  await place(world, { strategyId, instrumentId, side, quantity })
  await world.quote(symbol, '100', '100')
  const [setupId = 0] = await addFollowers(db, { strategyId, brokerId, count: 1 })
  const columns = ['will_sync_stocks_usa', 'will_sync_futures_usa', 'will_sync_forex']
  for (const [column, value] of [...columns.map((name) => [name, true] as const), ...Object.entries(chosen)])
    await db.write.run`
      update setup set ${identifier(column)} = (jsonb_populate_record(null::setup,
        ${JSON.stringify({ [column]: value })}::jsonb)).${identifier(column)} where id = ${setupId}`
  await markSetups(db.write, [setupId], world.clock.now())
  await world.drain()
  expect((await readOrders(world, setupId)).map(({ orderQty }) => orderQty)).toEqual(opened)
})
