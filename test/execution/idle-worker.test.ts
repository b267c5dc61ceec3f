/** On a platform of years a worker asks whether anything is due without reading what is long over. */
import { expect, test } from 'vitest'
import { assembleWork } from '../../src/execution/assembly.ts'
import { type Fragment, fragment, join, makeSql } from '../../src/storage/database/sql.ts'
import { testDatabase } from '../support/database.ts'
import { silentLog } from '../support/database-server.ts'

const { db } = await testDatabase()

/** Enough that reading all of them is not the cheapest way. */
const rows = 5_000

/** Rows as old ones are, of nobody and with nothing to be done about them: the plan sees their number alone. */
const old: Readonly<Record<string, Fragment>> = {
  account_order: fragment`insert into account_order (account_id, broker_id, setup_id, strategy_id, source_id,
      instrument_id, side, ord_type, time_in_force, position_effect, order_qty, status, posted_at, ended_at,
      strategy_qty, scaling_percentage, held_qty, setup_fence)
    select n, 1, n, 1, n, 1, '1', '1', '0', 'O', 1, '4', now(), now(), 1, 100, 0, 1`,
  account_record: fragment`insert into account_record (account_id, next_close_at) select n, now() + interval '1 day'`,
  idempotency: fragment`insert into idempotency (access_key_id, idempotency_key, operation, fingerprint, created_at)
    select n, 'key', 'POST', '', now()`,
  rate_window: fragment`insert into rate_window (subject, window_seconds, started_at, used) select n, 10, now(), 1`,
  subscription: fragment`insert into subscription (site_id, person_id, strategy_id, kind, base_price, started_at,
      term_started_at, term_ends_at)
    select 1, n, 1, 'paid', 1, now(), now(), now() + interval '1 day'`,
}

test('a question of an idle worker reads no table row by row', async () => {
  await db.transaction(async (tx) => {
    // Whom they belong to says nothing to the planner.
    await tx.run`set local session_replication_role = replica`
    for (const insert of Object.values(old)) await tx.run`${insert} from generate_series(1, ${rows}::int) n`
  })
  await db.write.run`analyze`
  const { steps } = assembleWork({
    ...{ db, clock: { now: () => Date.now() }, log: silentLog, workerId: 'idle', environment: 'B' },
  })
  const due = steps.map((step) => {
    const condition = step.due(Date.now())
    return typeof condition === 'boolean' ? fragment`${condition}::boolean` : condition
  })
  const removed = await db.transaction(async (tx) => {
    // As a connection that has asked some times keeps it.
    await tx.run`set local plan_cache_mode = force_generic_plan`
    let plan: unknown
    const explaining = makeSql(async ({ text, values }) => {
      const given = values.map((value) => `'${String(value)}'`).join(', ')
      await tx.script(`prepare looking as ${text}`)
      const how = { strings: [`explain (analyze, format json) execute looking (${given})`], values: [] }
      plan = await tx.rows`${how}`
      return { rows: [], rowCount: 0, command: '' }
    })
    await explaining.rows`select array[${join(due, ', ')}]`
    return [...JSON.stringify(plan).matchAll(/"Rows Removed by Filter":(\d+)/g)].map(([, count]) =>
      Number(count),
    )
  })
  expect(Math.max(0, ...removed)).toBeLessThan(rows / 10)
})
