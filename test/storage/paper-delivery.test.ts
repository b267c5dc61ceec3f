import { expect, test } from 'vitest'
import { deliverPaperReports } from '../../src/storage/brokers/paper-reports.ts'
import { addInstrument, addStrategy } from '../execution/world.ts'
import { testDatabase } from '../support/database.ts'
import { addBroker, addFollowers } from '../support/followers.ts'
import { plansOf, thrownAway } from '../support/plans.ts'

const { db } = await testDatabase()

const count = 1_000

test('what the paper broker tells is not compared each with each where it had told nothing when it was counted', async () => {
  const brokerId = await addBroker(db)
  const { symbol } = await addInstrument(db)
  await addFollowers(db, { strategyId: await addStrategy(db), brokerId, count: 1 })
  const tell = () => db.write.run`
    insert into paper_report (broker_id, report_key, account_id, client_order_id, kind, symbol, side, quantity, px, cum_qty,
      occurred_at)
    select ${brokerId}::int, n, a.id, n, case n % 2 when 0 then 'ack' else 'fill' end, ${symbol}, '1', 1, 1, 1, now()
    from account a, generate_series(1, ${count}::int) n`
  await tell()
  await db.write.run`delete from paper_report`
  await db.write.run`analyze paper_report`
  await tell()
  const plans = await plansOf(db, (sql) => deliverPaperReports(sql, count), true)
  for (const by of ['Join Filter', 'Filter'] as const) expect(thrownAway(plans, count, by)).toEqual([])
  const left = await db.read
    .rows`select kind, is_delivered as told, count(*)::int from paper_report group by 1, 2`
  expect(left).toEqual([{ kind: 'fill', told: true, count: count / 2 }])
  expect(await db.read.one`select count(*)::int as told from broker_report`).toEqual({ told: count })
})
