/**
 * What took executions back, or corrected them, after an action took effect that is entered only now: it counts as of the
 * executions from before, as it would had the action been booked then.
 */
import { distinctly } from '../../domain/positions/late-execution.ts'
import type { SplitRatio } from '../../domain/positions/split.ts'
import type { Instant } from '../../domain/time.ts'
import { correctionKey } from '../brokers/reports.ts'
import { type Fragment, fragment, type Transaction } from '../database/sql.ts'
import { instant } from '../database/wire.ts'
import { touchAccounts } from '../work/record-changes.ts'

interface LateAction {
  readonly instrumentId: number
  readonly at: Instant
  /** Of a split. */
  readonly ratio?: SplitRatio
  readonly multiplies?: boolean
}

/** Dates them back. A correction may itself have been corrected: until nothing is left to date. The accounts are locked. */
export async function dateBack(tx: Transaction, action: LateAction): Promise<void> {
  for (;;) {
    const dated = await tx.rows<{ id: number; at: Instant }>`
      with taken as (
        select b.broker_id, b.account_id, b.exec_id, f.quantity, f.px, f.executed_at as first_at
        from execution b join execution f on f.broker_id = b.broker_id and f.account_id = b.account_id
          and f.exec_id = b.busts
        where b.instrument_id = ${action.instrumentId}::bigint
          and b.executed_at >= ${instant(action.at)}::timestamptz
          and f.executed_at < ${instant(action.at)}::timestamptz
      ), counted as (
        select broker_id, account_id, exec_id, first_at from taken
        union all
        select e.broker_id, e.account_id, e.exec_id, t.first_at
        from taken t join execution e on e.broker_id = t.broker_id and e.account_id = t.account_id
          and e.exec_id || ${correctionKey('')} = t.exec_id
        where e.exec_id = left(t.exec_id, ${-correctionKey('').length}::int) and not ${isOfNewUnits(action)}
      )
      update execution e set executed_at = c.first_at from counted c
      where e.broker_id = c.broker_id and e.account_id = c.account_id and e.exec_id = c.exec_id
      returning e.account_id as id, e.executed_at as at`
    if (dated.length === 0) return
    await touchAccounts(tx, dated)
  }
}

/** Whether a correction `e` of `t` is nearer to it in the units of after the split than in those of before, not as near. */
function isOfNewUnits({ ratio, multiplies }: LateAction): Fragment {
  if (!ratio) return fragment`false`
  const apart = (quantity: Fragment, px: Fragment) => fragment`(
    greatest(e.quantity / ${quantity}, ${quantity} / e.quantity)
      * greatest(e.px / nullif(${px}, 0), ${px} / nullif(e.px, 0)))`
  const [more, fewer] = [fragment`${ratio.new}::numeric`, fragment`${ratio.old}::numeric`]
  const quantity = multiplies ? fragment`(t.quantity * ${more} / ${fewer})` : fragment`t.quantity`
  const now = apart(quantity, fragment`(t.px * ${fewer} / ${more})`)
  return fragment`coalesce(${now} * ${distinctly}::numeric < ${apart(fragment`t.quantity`, fragment`t.px`)}, false)`
}
