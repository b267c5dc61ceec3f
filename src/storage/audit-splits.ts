/** Books in new units against executions in old ones: what splits have made of these since. */
import { type Fragment, fragment } from './sql.ts'

/** What divisions and the ledger's decimals may leave. */
export const noise = fragment`0.000001`

/**
 * `since.units` and `since.price`: what became of a unit and of a price of the instrument that was traded at `traded`.
 * Only splits `a` count that restated what it was traded for.
 */
export const sinceSplits = (instrument: Fragment, traded: Fragment, restated: Fragment): Fragment => fragment`
  cross join lateral (
    select coalesce(exp(sum(ln(a.new_units / a.old_units)) filter (where not a.resizes)), 1) as units,
      coalesce(exp(sum(ln(a.old_units / a.new_units))), 1) as price
    from corporate_action a
    where a.kind = 'split' and a.booked_at is not null and a.instrument_id = ${instrument}
      and a.takes_effect_at > ${traded} and ${restated}
  ) since`

/** What restating may leave; nothing where no split came between. */
export const leeway = fragment`case when bool_or(since.price <> 1) then ${noise} else 0 end`
