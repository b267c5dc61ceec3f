import { expect, test } from 'vitest'
import { cancelOrders, copiesOf } from '../../src/storage/mirror/account-orders.ts'
import { testDatabase } from '../support/database.ts'
import { plansOf, thrownAway } from '../support/plans.ts'

const { db } = await testDatabase()

/** So many that each compared with each would take a second. */
const copies = 1_000

test('unanswered replacements are canceled with what they replace, without each being compared with each', async () => {
  // As many orders as a signal has copies, of a table that the server has not counted yet, each at work and with a
  // replacement that its broker has not answered.
  await db.transaction(async (tx) => {
    await tx.run`set local session_replication_role = replica`
    for (const { signalId, status, first, replaced } of [
      { signalId: 1, status: '0', first: 0, replaced: null },
      { signalId: 2, status: 'A', first: copies, replaced: 0 },
    ])
      await tx.run`
        insert into account_order (account_id, id, broker_id, setup_id, strategy_id, source_id, instrument_id, side,
          ord_type, time_in_force, position_effect, order_qty, limit_px, status, posted_at, strategy_qty,
          scaling_percentage, held_qty, setup_fence, attempts, replaces_order_id)
        overriding system value
        select n, ${first}::int + n, 1, n, 1, ${signalId}::bigint, 1, '1', '2', '0', 'O', 1, 1, ${status}, now(), 1, 100, 0,
          1, 1, ${replaced}::int + n
        from generate_series(1, ${copies}::int) n`
  })
  const plans = await plansOf(
    db,
    (sql) => cancelOrders(sql, copiesOf([2]), { at: 0, info: 'canceled' }),
    false,
  )
  expect(thrownAway(plans, copies)).toEqual([])
  const states = await db.read.rows`
    select source_id::int as "signalId", status, pending_action as pending, count(*)::int from account_order
    group by 1, 2, 3 order by 1`
  expect(states).toEqual([
    { signalId: 1, status: '6', pending: 'cancel', count: copies },
    { signalId: 2, status: 'A', pending: null, count: copies },
  ])
})
