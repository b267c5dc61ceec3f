/**
 * What a plan writes: one row per follower, an order or a skip, thousands of them in two statements. Array
 * texts are made by hand from the columns, which is several times faster than rows of parameters.
 */
import type { OrdStatus } from '../../domain/codes.ts'
import { codeOf, type PlanColumns } from '../../domain/mirror/mirror-columns.ts'
import { writeInParts } from '../database/parts.ts'
import type { Transaction } from '../database/sql.ts'
import type { DueSignal, FollowerSlice } from './followers.ts'

/** What a signal's plan came to for some of its followers, row by row. */
export interface PlannedSlice {
  readonly signal: DueSignal
  readonly slice: FollowerSlice
  readonly plan: PlanColumns
}

/** In what state the copies of a signal are written: it may have ended while they were planned. */
export interface CopyState {
  readonly status: OrdStatus
  readonly pendingAction: 'new' | null
  readonly postedAt: string
  readonly endedAt: string | null
  readonly chaseAt: string | null
  readonly info: string | null
}

/** An array parameter: one element per chosen row. */
function arrayText(rows: readonly number[], element: (row: number) => string | number): string {
  let text = '{'
  for (let place = 0; place < rows.length; place += 1) {
    if (place > 0) text += ','
    text += element(rows[place]!)
  }
  return `${text}}`
}

const orNull = (value: number): string | number => (Number.isNaN(value) ? 'NULL' : value)

/** The columns that explain an order's quantity and a skip alike. */
const reasons = ({ slice, plan }: PlannedSlice, rows: readonly number[]) => ({
  setupIds: arrayText(rows, (row) => slice.setupIds[row]!),
  accountIds: arrayText(rows, (row) => slice.accountIds[row]!),
  codes: arrayText(rows, (row) => codeOf(plan.code[row]!) ?? 'NULL'),
  strategyQuantities: arrayText(rows, (row) => plan.strategyQuantity[row]!),
  scalings: arrayText(rows, (row) => slice.columns.scalingPercentage[row]!),
  limits: arrayText(rows, (row) => orNull(plan.limit[row]!)),
  positions: arrayText(rows, (row) => slice.columns.position[row]!),
})

/** Writes the first revision of the copies of the slice's `rows`. A row that exists is a defect and throws. */
export const insertCopies = (
  tx: Transaction,
  planned: PlannedSlice,
  rows: readonly number[],
  state: CopyState,
): Promise<void> =>
  writeInParts(rows, async (part) => {
    const { signal, slice, plan } = planned
    const why = reasons(planned, part)
    await tx.run`
      insert into account_order (account_id, broker_id, setup_id, strategy_id, source_id, instrument_id, signal_type,
        side, ord_type, time_in_force, position_effect, order_qty, limit_px, stop_px, status, signal_filled_before,
        posted_at, ended_at, chase_at, pending_action, info, reason, strategy_qty, scaling_percentage, limit_value,
        held_qty, reference_px, setup_fence)
      select account_id, broker_id, setup_id, ${signal.strategyId}::bigint, ${signal.id}::bigint,
        ${signal.instrumentId}::bigint, ${signal.signalType}::smallint, ${signal.side}::text, ${signal.ordType}::text,
        ${signal.timeInForce}::text, ${signal.positionEffect}::text, quantity, ${signal.limitPx}::numeric,
        ${signal.stopPx}::numeric, ${state.status}::text, ${signal.filledBefore}::numeric,
        ${state.postedAt}::timestamptz, ${state.endedAt}::timestamptz, ${state.chaseAt}::timestamptz,
        ${state.pendingAction}::text, ${state.info}::text, code, strategy_qty, scaling, limit_value, held,
        ${signal.referencePx}::numeric, fence
      from unnest(${why.accountIds}::bigint[], ${arrayText(part, (row) => slice.brokerIds[row]!)}::int[],
        ${why.setupIds}::bigint[], ${arrayText(part, (row) => plan.quantity[row]!)}::numeric[],
        ${why.codes}::text[], ${why.strategyQuantities}::numeric[], ${why.scalings}::int[], ${why.limits}::numeric[],
        ${why.positions}::numeric[], ${arrayText(part, (row) => slice.fences[row]!)}::bigint[])
        copy (account_id, broker_id, setup_id, quantity, code, strategy_qty, scaling, limit_value, held, fence)`
  })

/** Writes why the slice's `rows` get no order. */
export async function insertSkips(
  tx: Transaction,
  planned: PlannedSlice,
  rows: readonly number[],
  skippedAt: string,
): Promise<void> {
  if (rows.length === 0) return
  const { signal } = planned
  const why = reasons(planned, rows)
  await tx.run`
    insert into account_skip (signal_id, setup_id, account_id, code, strategy_qty, scaling_percentage, limit_value,
      held_qty, reference_px, skipped_at)
    select ${signal.id}::bigint, setup_id, account_id, code, strategy_qty, scaling, limit_value, held,
      ${signal.referencePx}::numeric, ${skippedAt}::timestamptz
    from unnest(${why.accountIds}::bigint[], ${why.setupIds}::bigint[], ${why.codes}::text[],
      ${why.strategyQuantities}::numeric[], ${why.scalings}::int[], ${why.limits}::numeric[],
      ${why.positions}::numeric[]) skip (account_id, setup_id, code, strategy_qty, scaling, limit_value, held)`
}
