import { expect, test } from 'vitest'
import { fragment } from '../../src/storage/database/sql.ts'
import { entryColumns } from '../../src/storage/mirror/entry-fills.ts'
import { addInstrument, addStrategy } from '../execution/world.ts'
import { testDatabase } from '../support/database.ts'
import { looked, plansOf } from '../support/plans.ts'

const { db } = await testDatabase()

const many = 30_000

test('what the other exits of a group have closed is found without a look at all signals', async () => {
  const strategyId = await addStrategy(db)
  const { id: instrumentId } = await addInstrument(db)
  // Every third is an entry; the two behind it are its exits, a group, of which the first has traded half of it.
  await db.transaction(async (tx) => {
    await tx.run`set local session_replication_role = replica`
    await tx.run`
      insert into signal (id, strategy_id, instrument_id, side, ord_type, time_in_force, position_effect, order_qty,
        limit_px, status, cum_qty, avg_px, posted_at, ended_at, parent_signal_id, exit_role, oca_group_id)
      overriding system value
      select n, ${strategyId}, ${instrumentId}, case n % 3 when 1 then '1' else '2' end, '2', '1',
        case n % 3 when 1 then 'O' else 'C' end, case n % 3 when 0 then 3 else 8 end, 1, '4',
        case n % 3 when 1 then 8 when 2 then 4 else 0 end, case when n % 3 > 0 then 1 end, now(), now(), case when n % 3 <> 1 then n - (n + 2) % 3 end,
        case n % 3 when 2 then 'profitTarget' when 0 then 'stopLoss' end,
        case when n % 3 <> 1 then n - (n + 2) % 3 end
      from generate_series(1, ${many}::int) n`
  })
  await db.write.run`analyze signal`
  const exit = fragment`select ${entryColumns} from signal s where s.id = ${many}::bigint`
  expect(await db.read.rows`${exit}`).toEqual([{ entryChain: [many - 2], entryKept: '1.00000000' }])
  const [plan] = await plansOf(db, (sql) => sql.rows`${exit}`, false)
  expect(plan && looked(plan)).toBeLessThan(20)
})
