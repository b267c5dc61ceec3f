/** Rules of money: what was paid was passed on to the cent, and nobody has access that is not paid for. */
import { type Fragment, fragment } from '../database/sql.ts'

export const billingRules: Record<string, Fragment> = {
  ledgerSumsToZero: fragment`
    select format('%s: %s', currency, sum(amount)) from ledger_entry group by currency having sum(amount) <> 0`,

  // Money only passes through a customer's account.
  customerStandsAtZero: fragment`
    select format('account %s: %s', e.account_id, sum(e.amount))
    from ledger_entry e join ledger_account a on a.id = e.account_id
    where a.kind = 'customer' group by e.account_id having sum(e.amount) <> 0`,

  // Of what came beside what was asked for no more is given back than came.
  surplusIsReturnedOnce: fragment`
    select format('payment %s: %s', payment_ref, sum(case reason when 'surplus' then amount else -amount end))
    from ledger_transfer where payment_ref is not null group by charge_id, payment_ref
    having sum(case reason when 'surplus' then amount else -amount end) < 0`,

  paidChargeIsBooked: fragment`
    select format('charge %s of %s: %s', c.id, c.amount, coalesce(t.amount, 0))
    from charge c left join ledger_transfer t on t.charge_id = c.id and t.reason = 'payment'
    where (c.status = 'paid') <> (t.id is not null) or c.amount <> t.amount or c.paid_at <> t.booked_at`,

  termIsCharged: fragment`
    select format('subscription %s from %s', s.id, s.term_started_at)
    from subscription s join strategy on strategy.id = s.strategy_id
    where s.ended_at is null and s.base_price + s.markup > 0 and not exists (
      select from charge c where c.subscription_id = s.id and c.purpose = 'term'
        and c.period_started_at = s.term_started_at and c.period_ends_at = s.term_ends_at)`,

  ownerPaysNothing: fragment`
    select format('charge %s', c.id)
    from charge c join subscription s on s.id = c.subscription_id join strategy on strategy.id = s.strategy_id
    where strategy.owner_person_id = s.person_id and c.purpose = 'term'`,

  // A fee is charged as it was settled, and nothing else is.
  feeIsCharged: fragment`
    select format('subscription %s at %s: settled %s, charged %s', coalesce(f.subscription_id, c.subscription_id),
      coalesce(f.settled_at, c.period_ends_at), f.charged, c.amount)
    from (select subscription_id, settled_at, sum(charged) as charged from fee_settlement group by 1, 2
      having sum(charged) > 0) f
    full join (select * from charge where purpose = 'performance') c
      on c.subscription_id = f.subscription_id and c.period_ends_at = f.settled_at
    where f.charged is distinct from c.amount`,

  // Every mark is the highest so far, to the cent that a fee is rounded by, and no fee is asked for twice.
  markNeverFalls: fragment`
    select format('setup %s at %s', setup_id, settled_at) from (
      select *, lag(mark) over later as mark_before, lag(fees, 1, 0::numeric) over later as fees_before
      from fee_settlement where not is_void window later as (partition by setup_id order by settled_at)
    ) f where mark < mark_before - 0.01 / units or fees <> fees_before + fee or mark < price`,

  // What was settled at a wrong price nobody is asked for.
  voidFeeIsLetGo: fragment`
    select format('charge %s', c.id) from fee_settlement f
    join charge c on c.subscription_id = f.subscription_id and c.period_ends_at = f.settled_at
    where f.is_void and f.charged > 0 and c.purpose = 'performance' and c.status in ('due', 'failed')`,

  suspendedOwesSomething: fragment`
    select format('subscription %s', s.id) from subscription s
    where s.status = 'suspended'
      and not exists (select from charge c where c.subscription_id = s.id and c.status in ('due', 'failed'))`,
}
