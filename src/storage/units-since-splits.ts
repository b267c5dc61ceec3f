/** Books in new units, executions and what has ended in old ones: what splits have made of these since. */
import { type Fragment, fragment, identifier } from './sql.ts'

/** What divisions and the ledger's decimals may leave. */
export const noise = fragment`0.000001`

/** With so many places that logarithms, which keep them, add up exactly enough for the largest holdings. */
const ratio = (over: string, under: string): Fragment =>
  fragment`(a.${identifier(over)}::numeric(100, 50) / a.${identifier(under)})`

/**
 * `since.units` and `since.price`: what became of a unit and of a price of the instrument that was traded at `traded`.
 * Only splits `a` count that restated what it was traded for.
 */
export const sinceSplits = (instrument: Fragment, traded: Fragment, restated: Fragment): Fragment => fragment`
  cross join lateral (
    select coalesce(exp(sum(ln(${ratio('new_units', 'old_units')})) filter (where not a.resizes)), 1) as units,
      coalesce(exp(sum(ln(${ratio('old_units', 'new_units')}))), 1) as price
    from corporate_action a
    where a.kind = 'split' and a.booked_at is not null and a.instrument_id = ${instrument}
      and a.takes_effect_at > ${traded} and ${restated}
  ) since`

/** What restating may leave; nothing where no split came between. */
export const leeway = fragment`case when bool_or(since.price <> 1) then ${noise} else 0 end`
