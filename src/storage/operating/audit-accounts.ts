/** Rules of the accounts' side: copies and skips, executions, sub-ledgers, cash, the paper broker's book. */
import { skipCodes } from '../../domain/mirror/skip.ts'
import { ended, live } from '../database/order-statuses.ts'
import { type Fragment, fragment } from '../database/sql.ts'
import { leeway, netExecutions, sinceSplits, wasAlive } from '../market/units-since-splits.ts'

/** What the executions of an order, and of the orders it replaced, add up to. */
const chainExecutions = fragment`
  with recursive chain (account_id, id, member) as (
    select account_id, id, id from account_order
    union all
    select chain.account_id, chain.id, o.replaces_order_id
    from chain join account_order o on o.account_id = chain.account_id and o.id = chain.member
    where o.replaces_order_id is not null
  )
  select o.account_id, o.id, o.status, o.cum_qty, o.avg_px, o.filled_value, o.replaces_order_id,
    o.pending_action = 'replace' and o.attempts = 0 as is_unsent,
    coalesce(sum(e.quantity * since.units), 0) as quantity,
    sum(e.quantity * since.units * e.px * since.price) as value,
    ${leeway} as leeway,
    coalesce(sum(e.quantity * since.units) filter (where e.order_id = o.id), 0) as own_quantity
  from chain join account_order o on o.account_id = chain.account_id and o.id = chain.id
  left join ${netExecutions} e on e.account_id = chain.account_id and e.order_id = chain.member
  ${sinceSplits(
    fragment`o.instrument_id`,
    fragment`e.executed_at`,
    fragment`${wasAlive} and exists (
      select from account_adjustment j where j.action_id = a.id and j.setup_id = o.setup_id)`,
  )}
  group by o.account_id, o.id`

export const accountRules: Record<string, Fragment> = {
  ledgerIsSumOfExecutions: fragment`
    select format('setup %s instrument %s of account %s holds %s, executions say %s', nullif(setup_id, 0),
      instrument_id, account_id, held, executed)
    from (
      select setup_id, account_id, instrument_id, coalesce(p.quantity, 0) as held, coalesce(e.quantity, 0) as executed
      from (
        select coalesce(setup_id, 0) as setup_id, account_id, instrument_id, quantity from account_position
      ) p full join (
        select coalesce(setup_id, 0) as setup_id, account_id, instrument_id, sum(quantity) as quantity from (
          select setup_id, account_id, instrument_id, case side when '1' then quantity else -quantity end as quantity
          from execution
          union all
          select j.setup_id, j.account_id, a.instrument_id, j.quantity_change
          from account_adjustment j join corporate_action a on a.id = j.action_id
        ) entries group by 1, 2, 3
      ) e using (setup_id, account_id, instrument_id)
    ) compared where held <> executed`,

  accountCashIsSumOfEntries: fragment`
    select format('account %s has %s, its entries say %s', id, cash, starting_cash + coalesce(entries.total, 0))
    from account left join (
      select account_id, sum(cash_change) as total from (
        select account_id, cash_change from execution
        union all select account_id, cash_change from account_adjustment
        union all select account_id, cash_change from account_entry
      ) entry group by account_id
    ) entries on entries.account_id = account.id
    where cash <> starting_cash + coalesce(entries.total, 0)`,

  // A replacement that was not sent yet shows what its order had executed when it was decided.
  executedIsSumOfExecutions: fragment`
    select format('order %s shows %s filled, executions say %s', id, cum_qty, quantity)
    from (${chainExecutions}) totals
    where case when replaces_order_id is null then abs(cum_qty - own_quantity) > leeway
      else status <> '5' and is_unsent is not true and abs(cum_qty - quantity) > leeway
        and not (status in ('4', '8') and cum_qty = 0) end`,

  executedValueIsSumOfExecutions: fragment`
    select format('order %s shows a value of %s, executions say %s', id, filled_value, value)
    from (${chainExecutions}) totals
    where status <> '5' and cum_qty = quantity and abs(filled_value - coalesce(value, 0)) > leeway`,

  executionAverageIsWeightedMean: fragment`
    select format('order %s shows %s, executions say %s', id, avg_px, value / quantity)
    from (${chainExecutions}) totals
    where status <> '5' and cum_qty > 0 and cum_qty = quantity
      and abs(avg_px - value / quantity) > greatest(leeway, 0.000000000001)`,

  orderStatusFitsQuantities: fragment`
    select format('order %s has status %s with %s of %s', id, status, cum_qty, order_qty) from account_order
    where case status
        when '0' then cum_qty <> 0
        when '1' then cum_qty = 0 or cum_qty >= order_qty
        when '2' then cum_qty < order_qty
        when '4' then cum_qty >= order_qty
        when 'C' then cum_qty >= order_qty
        else false end
      or (status in ${ended}) <> (ended_at is not null)`,

  // Two are live only while a replacement waits for its answer. One that was made once the signal had filled is another.
  oneLiveCopyPerSignal: fragment`
    select format('setup %s has %s live orders of signal %s', setup_id, count(*), source_id)
    from account_order o
    where source = 'S' and status in ${live} and not exists (
      select from account_order r where r.account_id = o.account_id and r.replaces_order_id = o.id
        and r.status in ${live})
    group by setup_id, source_id, signal_filled_before having count(*) > 1`,

  copiesStayInTheHorizon: fragment`
    select format('order %s of setup %s for signal %s', o.id, o.setup_id, s.id)
    from account_order o join signal s on s.id = o.source_id join setup on setup.id = o.setup_id
    where o.source = 'S' and o.revision = 0 and not coalesce(
      s.strategy_id = setup.strategy_id and setup.joined_version <= s.membership_horizon
      and (setup.left_version is null or setup.left_version > s.membership_horizon), false)`,

  everyFollowerIsAnswered: fragment`
    select format('setup %s has %s answers to signal %s', setup.id,
      (orders.first is not null)::int + (k.signal_id is not null)::int, s.id)
    from signal s
    join setup on setup.strategy_id = s.strategy_id and setup.joined_version <= s.membership_horizon
      and (setup.left_version is null or setup.left_version > s.membership_horizon)
    left join lateral (
      select min(o.id) as first from account_order o
      where o.source_id = s.id and o.setup_id = setup.id and o.source = 'S' and o.revision = 0
    ) orders on true
    left join account_skip k on k.signal_id = s.id and k.setup_id = setup.id
    where s.mirrored_at is not null and s.replaces_signal_id is null
      and (orders.first is not null) = (k.signal_id is not null)`,

  skipsHaveAReason: fragment`
    select format('signal %s skipped setup %s because of %s', signal_id, setup_id, code) from account_skip
    where code <> all(${skipCodes}::text[])`,

  noSignalIsForgotten: fragment`
    select format('signal %s works and is neither mirrored nor due', id) from signal
    where working_at is not null and mirrored_at is null and not mirror_due`,

  paperTotalsAreSums: fragment`
    select format('the paper account %s has %s %s, its executions say %s', account_id, coalesce(t.quantity, 0), symbol,
      coalesce(told.quantity, 0))
    from paper_total t full join (
      select account_id, symbol, sum(case when (side = '1') = (kind = 'fill') then quantity else -quantity end) as quantity
      from paper_report where kind in ('fill', 'bust') group by account_id, symbol
    ) told using (account_id, symbol)
    where coalesce(t.quantity, 0) <> coalesce(told.quantity, 0)`,

  // Compared once every report has arrived; executions without an order are not the platform's.
  brokerBookAgrees: fragment`
    select format('account %s instrument %s: the broker executed %s, we know %s',
      account_id, instrument_id, theirs, ours)
    from (
      select account_id, instrument_id, coalesce(b.quantity, 0) as theirs, coalesce(e.quantity, 0) as ours
      from (
        select account_id, instrument_id, sum(case side when '1' then cum_qty else -cum_qty end) as quantity
        from paper_order group by account_id, instrument_id
      ) b full join (
        select account_id, instrument_id, sum(case side when '1' then quantity else -quantity end) as quantity
        from execution where order_id is not null and account_id in (select account_id from paper_order)
        group by account_id, instrument_id
      ) e using (account_id, instrument_id)
    ) compared
    where theirs <> ours
      and not exists (select from paper_report r where r.account_id = compared.account_id and not r.is_delivered)
      and not exists (select from broker_report r where r.account_id = compared.account_id and r.applied_at is null)`,
}
