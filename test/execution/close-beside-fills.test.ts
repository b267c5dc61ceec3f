/** A day is closed while its last trades are still being booked: each record is read as of one moment. */
import { expect, test } from 'vitest'
import type { WorkContext } from '../../src/execution/context.ts'
import { closeDays } from '../../src/execution/orders/daily-close.ts'
import { matchArrivals, publishQuotes } from '../../src/execution/orders/matcher.ts'
import { testDatabase } from '../support/database.ts'
import { holdLocks, untilWaiting } from '../support/locks.ts'
import { addInstrument, addStrategy, close, makeWorld, opening, place, quote } from './world.ts'

const { db } = await testDatabase()
const world = makeWorld(db)
const { ctx, clock } = world
const gate = 1

/** Whoever passes the gate and reads records has his snapshot, and waits before he sees the first of them. */
await db.transaction((tx) =>
  tx.script(`
    create function waits_at_gate() returns boolean language plpgsql as $$ begin
      if current_setting('test.gate', true) = 'passes' then perform pg_advisory_xact_lock_shared(${gate}); end if;
      return true;
    end $$;
    alter table strategy_record rename to kept_record;
    create view strategy_record as select * from kept_record where waits_at_gate()`),
)

const gated: WorkContext = {
  ...ctx,
  db: {
    ...db,
    transaction: (work, options) =>
      db.transaction(async (tx) => {
        await tx.run`select set_config('test.gate', 'passes', true)`
        return work(tx)
      }, options),
  },
}

test('a fill that is booked while records are claimed is in the cash of the day as in its positions', async () => {
  const strategyId = await addStrategy(db)
  await db.write.run`update strategy set started_at = to_timestamp(${opening}::float8 / 1000)`
  await db.write.run`update strategy_record set next_close_at = to_timestamp(${opening}::float8 / 1000)`
  const { id: instrumentId, symbol } = await addInstrument(db)
  await publishQuotes(ctx, [quote(symbol, '100', '100')])
  await place(world, { strategyId, instrumentId, side: '1', quantity: '100' })
  clock.time = close
  const letGo = await holdLocks(db, (tx) => tx.run`select pg_advisory_xact_lock(${gate}::bigint)`)
  const closing = closeDays(gated, 'strategy')
  await untilWaiting(db.read)
  await matchArrivals(ctx)
  await Promise.all([letGo(), closing])
  const day = await db.read.one`
    select cash::float8, value::float8 from strategy_day where strategy_id = ${strategyId}`
  expect(day).toEqual({ cash: 90_000, value: 100_000 })
})
