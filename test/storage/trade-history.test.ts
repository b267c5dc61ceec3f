/** A platform that traded before there were trades gets them from its fills. */
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { migrate } from '../../src/storage/database/migrate.ts'
import { auditViolations } from '../../src/storage/operating/audit.ts'
import { testDatabase } from '../support/database.ts'

const { db } = await testDatabase({ migrated: false })
const folder = mkdtempSync(join(tmpdir(), 'lockstep-first-schema-'))
afterAll(() => rmSync(folder, { recursive: true }))

/** Fills as text: `strategy instrument side quantity price cash`; commission is 1 each. */
const story = [
  '1 1 1 100 10 -1001',
  '1 2 2 2 50 -1',
  '1 1 1 50 13 -651',
  '1 1 2 150 12 1799',
  '1 1 2 10 12 119',
  '1 2 1 1 40 499',
  '1 1 1 4 11 -45',
].map((line) => line.split(' '))

async function tradeBefore(): Promise<void> {
  await db.transaction(async (tx) => {
    await tx.run`
      insert into person (site_id, role, alias, first_name, last_name, email, created_at)
      select id, 'user', 'p', 'P', 'P', 'p@example.com', now() from site`
    await tx.run`
      insert into strategy (site_id, owner_person_id, name, started_at, starting_cash, cash)
      select site_id, id, 'S', now(), 10000, 10719 from person`
    await tx.run`
      insert into instrument (symbol, security_type, description, root, currency, point_value, tick, calendar)
      values ('A', 'CS', 'A', 'A', 'USD', 1, 0.01, 'US_EQUITY'), ('@F', 'FUT', 'F', 'F', 'USD', 50, 0.01, 'CME_GLOBEX')`
    for (const [place, [strategy, instrument, side, quantity, px, cash]] of story.entries()) {
      const at = `2024-03-12T14:00:0${place}Z`
      await tx.run`
        insert into signal (strategy_id, instrument_id, side, ord_type, time_in_force, position_effect, order_qty, status,
          cum_qty, avg_px, posted_at, working_at, ended_at, mirrored_at)
        values (${strategy}::bigint, ${instrument}::bigint, ${side}, '1', '1', 'O', ${quantity}::numeric, '2',
          ${quantity}::numeric, ${px}::numeric, ${at}, ${at}, ${at}, ${at})`
      await tx.run`insert into signal_event values (${place + 1}, 1, 'FILL', '2', ${at}, '{}')`
      await tx.run`
        insert into fill (exec_id, signal_id, strategy_id, instrument_id, side, quantity, px, fx, commission, cash_change,
          filled_at)
        values (${`E${place}`}, ${place + 1}, ${strategy}::bigint, ${instrument}::bigint, ${side}, ${quantity}::numeric,
          ${px}::numeric, 1, 1, ${cash}::numeric, ${at})`
    }
    await tx.run`insert into position values (1, 1, -6, 12, now()), (1, 2, -1, 50, now())`
  })
}

test('trades of the fills that are there already', async () => {
  cpSync(
    join(import.meta.dirname, '../../src/storage/migrations/0001_platform.sql'),
    join(folder, '0001_platform.sql'),
  )
  await migrate(db, folder)
  await tradeBefore()
  await migrate(db)
  const trades = await db.read.rows`
    select instrument_id::int as instrument, signal_id::int as signal, opened_qty::float8 as opened,
      closed_qty::float8 as closed, profit_loss::float8 as "profitLoss", realised::float8 as realised,
      avg_px::float8 as "avgPx", closed_at is null as "isOpen"
    from trade order by signal_id`
  expect(trades).toEqual([
    {
      instrument: 1,
      signal: 1,
      opened: 150,
      closed: 150,
      profitLoss: 147,
      realised: 150,
      avgPx: null,
      isOpen: false,
    },
    {
      instrument: 2,
      signal: 2,
      opened: 2,
      closed: 1,
      profitLoss: null,
      realised: 500,
      avgPx: 50,
      isOpen: true,
    },
    {
      instrument: 1,
      signal: 5,
      opened: 10,
      closed: 4,
      profitLoss: null,
      realised: 4,
      avgPx: 12,
      isOpen: true,
    },
  ])
  expect(await auditViolations(db.read)).toEqual([])
})
