import { expect, test } from 'vitest'
import { loadLastMoves } from '../../src/storage/actions/contract-ends.ts'
import { testDatabase } from '../support/database.ts'

const { db } = await testDatabase()

test('what took effect last in ended ledgers is read in one pass over their executions', async () => {
  // 100 accounts with 1,000 executions each, each of before the last; one has five in contract 5, of which the second settled it.
  const from = Date.parse('2024-03-12T14:00:00Z')
  await db.transaction(async (tx) => {
    await tx.run`set local session_replication_role = replica`
    await tx.run`
      insert into execution (broker_id, account_id, exec_id, setup_id, instrument_id, side, quantity, px, fx,
        commission, cash_change, executed_at)
      select 1, a, case when a = 7 and e = 200 then 'END-5-5-9' else 'E' || e end, 9,
        case when a = 7 and e in (100, 200, 280, 290, 300) then 5 else 1 end, '1', 1, 1, 1, 0, -1,
        to_timestamp(${from / 1_000}::bigint) - e * interval '1 second'
      from generate_series(1, 1000) e, generate_series(1, 100) a`
  })
  await db.write.run`analyze execution`
  const accounts = Array.from({ length: 100 }, (_, place) => place + 1)
  const counts: number[] = []
  await db.transaction(async (tx) => {
    const rows: typeof tx.rows = async (parts, ...values) => {
      const strings = [`explain (analyze, format json) ${parts[0]}`, ...parts.slice(1)]
      const plan = JSON.stringify(await tx.rows(Object.assign(strings, { raw: strings }), ...values))
      for (const [, count, loops] of plan.matchAll(/"Actual Rows":([\d.]+),"Actual Loops":(\d+)/g))
        counts.push(Number(count) * Number(loops))
      for (const [, count] of plan.matchAll(/"Rows Removed by (?:Join )?Filter":(\d+)/g))
        counts.push(Number(count))
      return []
    }
    await loadLastMoves({ ...tx, rows }, 5, accounts)
  })
  expect(counts.length).toBeGreaterThan(3)
  expect(Math.max(...counts)).toBeLessThanOrEqual(accounts.length * 1_000)
  const moves = await db.transaction((tx) => loadLastMoves(tx, 5, accounts))
  expect([...moves.values()]).toEqual([from - 280_000])
})
