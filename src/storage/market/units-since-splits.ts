/** Books in new units, executions and what has ended in old ones: what splits have made of these since. */
import { dec } from '../../domain/decimal.ts'
import { type Fragment, fragment, identifier } from '../database/sql.ts'

/** What divisions and the ledger's decimals may leave. */
export const noise = fragment`0.000001`
/** The same as a number. */
export const noiseOfUnits = dec(noise.strings.join(''))

/** With so many places that logarithms, which keep them, add up exactly enough for the largest holdings. */
const ratio = (over: string, under: string): Fragment =>
  fragment`(a.${identifier(over)}::numeric(100, 50) / a.${identifier(under)})`

/** What splits `a` have made of a unit, as far as `which` is true of them. */
export const unitsBy = (which: Fragment): Fragment =>
  fragment`coalesce(exp(sum(ln(${ratio('new_units', 'old_units')})) filter (where ${which})), 1)`

/**
 * `since.units` and `since.price`: what became of a unit and of a price of the instrument that was traded at `traded`.
 * Only splits `a` count that restated what it was traded for.
 */
export const sinceSplits = (instrument: Fragment, traded: Fragment, restated: Fragment): Fragment => fragment`
  cross join lateral (
    select ${unitsBy(fragment`not a.resizes`)} as units,
      coalesce(exp(sum(ln(${ratio('old_units', 'new_units')}))), 1) as price
    from corporate_action a
    where a.kind = 'split' and a.booked_at is not null and a.instrument_id = ${instrument}
      and a.takes_effect_at > ${traded} and ${restated}
  ) since`

/** When the last split of an instrument `i` took effect. */
export const lastSplit = fragment`(
  select max(a.takes_effect_at) from corporate_action a
  where a.instrument_id = i.id and a.kind = 'split' and a.booked_at is not null)`

/** What restating may leave; nothing where no split came between. Several may come to one, but for what each leaves. */
export const leeway = fragment`case when bool_or(since.price <> 1 or since.units <> 1) then ${noise} else 0 end`

/** Whether an order `o` was alive at a split `a`. */
export const wasAlive = fragment`(o.ended_at is null or o.ended_at >= a.takes_effect_at)`

/** What orders have executed: what takes an execution back counts against it. */
export const netExecutions = fragment`(
  select account_id, order_id, px, executed_at, case when busts is null then quantity else -quantity end as quantity
  from execution)`

/**
 * `told.executed` and `told.restated`: what an order `o` has executed, as it was told and in the units of today. Only
 * splits `a` count that restated it.
 */
export const toldOf = (restated: Fragment): Fragment => fragment`
  cross join lateral (
    select coalesce(sum(e.quantity), 0) as executed, coalesce(sum(e.quantity * since.units), 0) as restated
    from ${netExecutions} e ${sinceSplits(fragment`o.instrument_id`, fragment`e.executed_at`, restated)}
    where e.account_id = o.account_id and e.order_id = o.id
  ) told`
