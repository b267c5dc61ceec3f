/**
 * The least it takes to keep orders: the rows that the product writes for each, in one statement for all that wait, and
 * nothing that the product knows or asks. Rights, rules, idempotency, locks and the audit log are missing.
 */
import { type BatchLimits, batched } from '../../src/operations/batch.ts'
import { type Database, openDatabase } from '../../src/storage/database/database.ts'
import { quiet, symbol } from './platform.ts'

/** What is kept of a body. */
interface Kept {
  readonly StrategyId: number
  readonly Side: string
  readonly OrderType: string
  readonly TIF: string
  readonly OrderQuantity: number
  readonly Limit: number
}

/** One statement after the other, each for all that have come meanwhile. */
const limits: BatchLimits = { sizeMax: 256, shareMin: 256, runningMax: 1, patienceMs: 0, waitingMax: 5_000 }

/** Writes an order with those that came while others were written; resolves with its id when it is on disk. */
export async function createRowWriter(url: string): Promise<(order: Kept) => Promise<number>> {
  const db = await openDatabase({ url, applicationName: 'bench rows', log: quiet })
  return batched(
    (orders) => insertRows(db, orders),
    () => true,
    limits,
  )
}

async function insertRows(db: Database, orders: readonly Kept[]): Promise<number[]> {
  const column = <Name extends keyof Kept>(name: Name) => orders.map((order) => order[name])
  const rows = await db.write.rows<{ id: number }>`
    with placed as (
      insert into signal (strategy_id, instrument_id, side, ord_type, time_in_force, position_effect, order_qty,
        limit_px, status, posted_at, working_at, request_id, needs_match, mirror_due, membership_horizon)
      select new.strategy_id, i.id, side, ord_type, time_in_force, 'O', order_qty, limit_px, '0', now(), now(),
        '00000000-0000-0000-0000-000000000000', true, true, 0
      from unnest((select ${column('StrategyId')}::bigint[]), ${column('Side')}::text[], ${column('OrderType')}::text[],
        ${column('TIF')}::text[], ${column('OrderQuantity')}::numeric[], ${column('Limit')}::numeric[])
        new (strategy_id, side, ord_type, time_in_force, order_qty, limit_px)
      join instrument i on i.symbol = ${symbol}
      returning id
    ), noted as (
      insert into signal_event (signal_id, seq, event, status, occurred_at, cause)
      select id, 1, 'ACK', '0', now(), '{}' from placed
    )
    select id from placed`
  return rows.map(({ id }) => id)
}
