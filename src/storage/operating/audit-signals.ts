/** Rules of the strategies' side: signals, their events, fills, positions and cash. Each names what breaks it. */

import { ended } from '../database/order-statuses.ts'
import { ownTables } from '../database/own-tables.ts'
import { type Fragment, fragment } from '../database/sql.ts'
import { leeway, sinceSplits } from '../market/units-since-splits.ts'

/** What the fills of a signal, and of the signals it replaced, add up to. */
const chainFills = fragment`
  with recursive chain (id, member) as (
    select id, id from signal
    union all
    select chain.id, s.replaces_signal_id from chain join signal s on s.id = chain.member
    where s.replaces_signal_id is not null
  )
  select s.id, s.status, s.cum_qty, s.avg_px, s.replaces_signal_id,
    coalesce(sum(f.quantity * since.units), 0) as quantity,
    sum(f.quantity * since.units * f.px * since.price) as value,
    ${leeway} as leeway,
    coalesce(sum(f.quantity * since.units) filter (where f.signal_id = s.id), 0) as own_quantity
  from chain join signal s on s.id = chain.id left join fill f on f.signal_id = chain.member
  ${sinceSplits(
    fragment`s.instrument_id`,
    fragment`f.filled_at`,
    fragment`exists (select from signal_event e where e.signal_id = s.id and e.event = 'RESTATE' and e.cause ? 'split'
      and e.occurred_at = a.takes_effect_at)`,
  )}
  group by s.id`

export const signalRules: Record<string, Fragment> = {
  positionIsSumOfFills: fragment`
    select format('strategy %s instrument %s holds %s, fills say %s', strategy_id, instrument_id, held, filled)
    from (
      select strategy_id, instrument_id, coalesce(p.quantity, 0) as held, coalesce(f.quantity, 0) as filled
      from position p full join (
        select strategy_id, instrument_id, sum(quantity) as quantity from (
          select strategy_id, instrument_id, case side when '1' then quantity else -quantity end as quantity from fill
          union all
          select j.strategy_id, a.instrument_id, j.quantity_change
          from position_adjustment j join corporate_action a on a.id = j.action_id
        ) entries group by strategy_id, instrument_id
      ) f using (strategy_id, instrument_id)
    ) compared where held <> filled`,

  positionAgeFollowsQuantity: fragment`
    select format('strategy %s instrument %s', strategy_id, instrument_id) from position
    where (quantity = 0) <> (opened_at is null)`,

  cashIsSumOfEntries: fragment`
    select format('strategy %s has %s, its entries say %s', id, cash, starting_cash + coalesce(entries.total, 0))
    from strategy left join (
      select strategy_id, sum(cash_change) as total from (
        select strategy_id, cash_change from fill
        union all select strategy_id, cash_change from position_adjustment
      ) entry group by strategy_id
    ) entries on entries.strategy_id = strategy.id
    where cash <> starting_cash + coalesce(entries.total, 0)`,

  signalNamesWhatExists: fragment`
    select format('signal %s names strategy %s and instrument %s', s.id, s.strategy_id, s.instrument_id)
    from signal s left join strategy t on t.id = s.strategy_id left join instrument i on i.id = s.instrument_id
    where t.id is null or i.id is null`,

  fillFollowsItsSignal: fragment`
    select format('fill %s', f.exec_id) from fill f join signal s on s.id = f.signal_id
    where f.strategy_id <> s.strategy_id or f.instrument_id <> s.instrument_id or f.side <> s.side`,

  // A replacement counts the fills of those before it; one that never worked counts nothing.
  filledIsSumOfFills: fragment`
    select format('signal %s shows %s filled, fills say %s', id, cum_qty, quantity) from (${chainFills}) totals
    where case when replaces_signal_id is null then abs(cum_qty - own_quantity) > leeway
      else status <> '5' and abs(cum_qty - quantity) > leeway and not (status in ('4', '8') and cum_qty = 0) end`,

  averageIsWeightedMean: fragment`
    select format('signal %s shows %s, fills say %s', id, avg_px, value / quantity) from (${chainFills}) totals
    where status <> '5' and cum_qty > 0 and cum_qty = quantity
      and abs(avg_px - round(value / quantity, 12)) > leeway`,

  statusFitsQuantities: fragment`
    select format('signal %s has status %s with %s of %s', id, status, cum_qty, order_qty) from signal
    where case status
      when '0' then cum_qty <> 0
      when '1' then cum_qty = 0 or cum_qty >= order_qty
      when '2' then cum_qty < order_qty
      when '4' then cum_qty >= order_qty
      when 'C' then cum_qty >= order_qty
      when '8' then cum_qty <> 0
      else false end`,

  statusFitsTimes: fragment`
    select format('signal %s has status %s', id, status) from signal
    where (status in ${ended}) <> (ended_at is not null)
      or status in ('0', '1', '2', '6', 'E') and working_at is null
      or status in ('0', '1') and (time_in_force = '0') <> (expires_at is not null)
      or is_held and status <> 'A' or needs_match and ended_at is not null`,

  // Held orders wait for something that can still come; what works or has ended waits for nothing.
  heldOrdersWait: fragment`
    select format('signal %s', s.id) from signal s left join signal p on p.id = s.parent_signal_id
    where s.is_held and not (s.waits_for_parent or s.is_parked or s.exit_role is not null)
      or not s.is_held and (s.waits_for_parent or s.is_parked) or s.is_held and s.working_at is not null
      or s.is_held and (s.waits_for_parent or s.exit_role is not null) and p.ended_at is not null`,

  childrenBelongToTheirParent: fragment`
    select format('signal %s', s.id) from signal s join signal p on p.id = s.parent_signal_id
    where s.strategy_id <> p.strategy_id or s.depth > 11 or s.exit_role is not null and (
      s.side = p.side or s.position_effect <> 'C' or p.position_effect <> 'O' or s.instrument_id <> p.instrument_id)`,

  // An entry that had ended before a split stays in old units; what its exits cover tells the difference.
  exitsCoverWhatIsFilled: fragment`
    select format('signal %s works for %s of %s', s.id, s.order_qty - s.cum_qty, p.cum_qty - s.covers_from)
    from signal s join signal p on p.id = s.parent_signal_id
    where s.exit_role is not null and s.oca_group_id is not null and s.status in ('0', '1', '6', 'E')
      and s.replaces_signal_id is null and s.order_qty - s.cum_qty > p.cum_qty - s.covers_from`,

  chainHasOneEnd: fragment`
    select format('signal %s', s.id) from signal s left join signal r on r.replaces_signal_id = s.id
    where s.status = '5' and r.id is null
      or r.id is not null and s.status not in ('5', 'E', '6') and r.status not in ('4', '8')
      or r.strategy_id <> s.strategy_id or r.instrument_id <> s.instrument_id or r.side <> s.side`,

  eventsTellTheStatus: fragment`
    select format('signal %s has status %s, its last event says %s', s.id, s.status, coalesce(last.status, 'nothing'))
    from signal s left join lateral (
      select status from signal_event e where e.signal_id = s.id order by seq desc limit 1
    ) last on true
    where last.status is distinct from s.status`,

  eventsHaveNoGap: fragment`
    select format('signal %s', signal_id) from signal_event
    group by signal_id having min(seq) <> 1 or max(seq) <> count(*)`,

  statusMovedLegally: fragment`
    select format('signal %s event %s moved it from %s to %s', signal_id, seq, before, status) from (
      select signal_id, seq, status, lag(status) over (partition by signal_id order by seq) as before from signal_event
    ) moves
    where before <> status and (before::text, status::text) not in (
      ('A', '0'), ('A', '1'), ('A', '2'), ('A', '4'), ('A', '5'), ('A', '6'), ('A', '8'), ('A', 'C'),
      ('0', '1'), ('0', '2'), ('0', '4'), ('0', '6'), ('0', '8'), ('0', 'C'), ('0', 'E'),
      ('1', '0'), ('1', '2'), ('1', '4'), ('1', '6'), ('1', 'C'), ('1', 'E'),
      ('2', '0'), ('2', '1'), ('2', '4'), ('4', '2'), ('8', '1'), ('8', '2'), ('C', '2'),
      ('6', '0'), ('6', '1'), ('6', '2'), ('6', '4'), ('6', '5'), ('6', '8'), ('6', 'A'), ('6', 'C'), ('6', 'E'),
      ('E', '0'), ('E', '1'), ('E', '2'), ('E', '4'), ('E', '5'), ('E', '6'), ('E', '8'), ('E', 'C'))`,

  // NaN and the infinities are refused by the types of the columns, or by a check where the type is bare.
  numbersAreGuarded: fragment`
    select format('%s.%s', c.relname, a.attname)
    from pg_attribute a join pg_class c on c.oid = a.attrelid and c.relkind in ('r', 'p')
    where c.relname = any(${ownTables}::text[]) and pg_table_is_visible(c.oid) and a.attnum > 0 and not a.attisdropped
      and a.atttypid in ('numeric'::regtype, 'float8'::regtype, 'float4'::regtype) and not exists (
        select from pg_constraint k where k.conrelid = c.oid and k.contype = 'c' and a.attnum = any(k.conkey)
          and pg_get_constraintdef(k.oid) like '%Infinity%')`,
}
