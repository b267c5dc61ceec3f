/** Many workers at once, and connections that die at any statement: every order trades once, no book is half done. */
import { expect, test } from 'vitest'
import { expireSignals } from '../../src/execution/orders/expiries.ts'
import { matchArrivals, publishQuotes } from '../../src/execution/orders/matcher.ts'
import { openDatabase } from '../../src/storage/database/database.ts'
import { DatabaseUnavailable } from '../../src/storage/database/failure.ts'
import { auditViolations } from '../../src/storage/operating/audit.ts'
import { testDatabase } from '../support/database.ts'
import { silentLog } from '../support/database-server.ts'
import { addInstrument, addStrategy, close, makeWorld, opening, place, quote } from './world.ts'

const { db, url } = await testDatabase()

/** Two strategies with an order each in every of three instruments, and the means to trade them. */
async function setting() {
  const world = makeWorld(db)
  const instruments = await Promise.all([1, 2, 3].map(() => addInstrument(db)))
  const strategies = await Promise.all([1, 2, 3, 4].map(() => addStrategy(db)))
  const tick = (px: string, at = opening) => instruments.map(({ symbol }) => quote(symbol, px, px, at))
  const orders = async (limit?: string) => {
    for (const strategyId of strategies) {
      for (const { id: instrumentId } of instruments) {
        await place(world, { strategyId, instrumentId, side: '1', ...(limit && { limit }) })
      }
    }
  }
  const statuses = async () => {
    const rows = await db.read.rows<{ status: string; count: number; fills: number }>`
      select status, count(distinct s.id) as count, count(f.id) as fills from signal s left join fill f on f.signal_id = s.id
      where s.strategy_id = any(${strategies}::bigint[]) group by status order by status`
    return Object.fromEntries(rows.map(({ status, count, fills }) => [status, [count, fills]]))
  }
  return { ...world, tick, orders, statuses }
}

test('publishers, arrivals, expiries and owners at the same time', async () => {
  const { ctx, clock, tick, orders, statuses } = await setting()
  await publishQuotes(ctx, tick('10'))
  await orders()
  await orders('9')
  const rounds = Array.from({ length: 8 }, (_, n) => [
    matchArrivals(ctx),
    publishQuotes(ctx, tick(n % 2 ? '8.90' : '10', opening + n)),
    expireSignals(ctx),
    orders('5'),
    matchArrivals(ctx),
  ])
  await Promise.all(rounds.flat())
  await matchArrivals(ctx)
  await publishQuotes(ctx, tick('8', opening + 9))
  clock.time = close
  while ((await expireSignals(ctx)) > 0);
  expect(await auditViolations(db.read)).toEqual([])
  expect(await statuses()).toEqual({ 2: [24, 24], C: [96, 0] })
})

test('connections that die in the middle leave nothing half done', async () => {
  const { ctx, tick, orders, statuses } = await setting()
  const fragile = await openDatabase({ url, applicationName: 'fragile', log: silentLog })
  const survivor = { ...ctx, db: fragile }
  const unlessGone = (work: Promise<unknown>): Promise<unknown> =>
    work.catch((error: unknown) => {
      if (!(error instanceof DatabaseUnavailable)) throw error
    })
  let killed = 0
  for (let round = 0; round < 12; round++) {
    await orders()
    const work = unlessGone(publishQuotes(survivor, tick('10', opening + round)))
    const arrivals = unlessGone(matchArrivals(survivor))
    for (let blow = 0; blow < 3; blow++) {
      const { count } = await db.write.one<{ count: number }>`
        select count(pg_terminate_backend(pid)) from pg_stat_activity where application_name = 'fragile'`
      killed += count
    }
    await Promise.all([work, arrivals])
    expect(await auditViolations(db.read)).toEqual([])
  }
  await fragile.close()
  while ((await matchArrivals(ctx)) > 0);
  await publishQuotes(ctx, tick('10', opening + 20))
  expect(killed).toBeGreaterThan(12)
  expect(await auditViolations(db.read)).toEqual([])
  expect(await statuses()).toEqual({ 2: [144, 144] })
})
