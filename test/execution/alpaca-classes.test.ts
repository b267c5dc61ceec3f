/** What Alpaca does not trade is no order there: it is skipped, and AutoSync does not try it. */
import { afterAll, expect, test } from 'vitest'
import { planSync } from '../../src/domain/mirror/mirror-sync-plan.ts'
import { syncAccounts } from '../../src/execution/mirror/auto-sync.ts'
import { publishQuotes } from '../../src/execution/orders/matcher.ts'
import { syncCases } from '../../src/storage/mirror/sync-cases.ts'
import { loadSyncFacts } from '../../src/storage/mirror/sync-facts.ts'
import { testDatabase } from '../support/database.ts'
import { readOrders, readSkips } from './account-world.ts'
import { joinAtAlpaca, makeAlpacaWorld } from './alpaca-world.ts'
import { addInstrument, addStrategy, place, quote } from './world.ts'

const { db } = await testDatabase()
const world = await makeAlpacaWorld(db)
afterAll(() => world.close())

const kinds = [
  ['a future', { securityType: 'FUT' }],
  ['a currency pair', { securityType: 'FOR' }],
  ['a stock in another currency', { currency: 'EUR' }],
] as const

test.each(kinds)('%s is skipped for who follows, and left by AutoSync for who joins', async (_, wish) => {
  const strategyId = await addStrategy(db)
  const { id: instrumentId, symbol } = await addInstrument(db, wish)
  const follower = await joinAtAlpaca(world, strategyId)
  await publishQuotes(world.ctx, [quote(symbol, '99', '100', world.clock.now())])
  const signalId = await place(world, { strategyId, instrumentId, side: '1', quantity: '6' })
  await world.drain()
  expect(await readSkips(world, signalId)).toEqual([
    { setupId: follower.setupId, code: 'NotTradableAtBroker' },
  ])
  const joined = await joinAtAlpaca(world, strategyId)
  await db.write.run`
    update setup set will_sync_stocks_usa = true, will_sync_futures_usa = true, will_sync_forex = true
    where id = ${joined.setupId}`
  for (let minutes = 0; minutes < 3; minutes += 1) {
    await db.write.run`
      insert into sync_due (setup_id, due_at) values (${joined.setupId}, now() - interval '20 years')
      on conflict (setup_id) do update set due_at = excluded.due_at`
    world.clock.time += 61_000
    await syncAccounts(world.ctx)
    await world.drain()
  }
  for (const { setupId } of [follower, joined]) {
    expect(await readOrders(world, setupId)).toEqual([])
    const [one] = syncCases(await loadSyncFacts(db.read, [setupId]), world.clock.time)
    expect(planSync(one!.input, one!.obstacles).report).toMatchObject([
      { symbol, inSync: false, text: 'NotTradableAtBroker' },
    ])
  }
})

test('a stock is copied as before', async () => {
  const strategyId = await addStrategy(db)
  const { id: instrumentId } = await addInstrument(db)
  const { setupId } = await joinAtAlpaca(world, strategyId)
  await place(world, { strategyId, instrumentId, side: '1', quantity: '6', limit: '50' })
  await world.until(async () => expect(await readOrders(world, setupId)).toMatchObject([{ status: '0' }]))
})
