/** Figures of strategies beside what changes them: whatever they do not show is computed anew. */
import { expect, test } from 'vitest'
import { readDay } from '../../src/domain/time.ts'
import { matchArrivals, publishQuotes } from '../../src/execution/orders/matcher.ts'
import { updateStatistics } from '../../src/execution/orders/statistics.ts'
import { saveIndexCloses } from '../../src/storage/strategies/strategy-statistics.ts'
import { testDatabase } from '../support/database.ts'
import { holdTable, untilWaiting } from '../support/locks.ts'
import { addInstrument, addStrategy, makeWorld, place, quote } from './world.ts'

const { db } = await testDatabase()
const world = makeWorld(db)
const { ctx } = world

test('a trade that ends while figures are computed is in the next ones', async () => {
  const strategyId = await addStrategy(db)
  const { id: instrumentId, symbol } = await addInstrument(db)
  const order = { strategyId, instrumentId } as const
  await publishQuotes(ctx, [quote(symbol, '100', '100')])
  await place(world, { ...order, side: '1' })
  await matchArrivals(ctx)
  await place(world, { ...order, side: '2', positionEffect: 'C' })
  const letGo = await holdTable(db, 'strategy_statistics')
  const computing = updateStatistics(ctx)
  await untilWaiting(db.read)
  const ending = matchArrivals(ctx)
  await untilWaiting(db.read, 2)
  await Promise.all([letGo(), computing, ending])
  await updateStatistics(ctx)
  const { trades } = await db.read.one<{ trades: number }>`
    select trades from strategy_statistics where strategy_id = ${strategyId}`
  expect(trades).toBe(1)
})

test('closes of the index that come while figures are computed are in the next ones', async () => {
  await addStrategy(db)
  const letGo = await holdTable(db, 'strategy_statistics')
  const computing = updateStatistics(ctx)
  await untilWaiting(db.read)
  const entering = saveIndexCloses(db.write, [{ day: readDay('2024-03-12') ?? 0, close: '5000' }])
  // In the same moment, or behind who computes.
  await Promise.race([entering, untilWaiting(db.read, 2)])
  await Promise.all([letGo(), computing, entering])
  const { due } = await db.read.one<{ due: number }>`
    select count(*)::int as due from strategy_record where not statistics_due`
  expect(due).toBe(0)
})
