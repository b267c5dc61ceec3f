-- Dividends, splits and executions that are taken back move a record as fills do.

-- When cash or positions last moved, by a fill or by anything else.
alter table strategy_record add column moved_at timestamptz;
update strategy_record r set moved_at = greatest(r.last_fill_at, (
  select max(a.takes_effect_at) from position_adjustment j join corporate_action a on a.id = j.action_id
  where j.strategy_id = r.strategy_id));
alter table account_record rename column last_execution_at to moved_at;
update account_record r set moved_at = greatest(r.moved_at, (
  select max(a.takes_effect_at) from account_adjustment j join corporate_action a on a.id = j.action_id
  where j.account_id = r.account_id));

-- The order of booking: a number is drawn under the account's lock.
alter table execution add column id bigint generated always as identity;

-- What was closed before these counted is closed again.
update strategy_record r set stale_from = least(r.stale_from, j.day), next_close_at = least(r.next_close_at, j.at)
from (
  select strategy_id, min(a.ex_date) as day, min(a.takes_effect_at) as at
  from position_adjustment join corporate_action a on a.id = action_id group by strategy_id
) j where j.strategy_id = r.strategy_id and r.closed_day >= j.day;
update account_record r set stale_from = least(r.stale_from, j.day), next_close_at = least(r.next_close_at, j.at)
from (
  select account_id, min(day) as day, min(at) as at from (
    select account_id, a.ex_date as day, a.takes_effect_at as at
    from account_adjustment join corporate_action a on a.id = action_id
    union all
    select account_id, (executed_at at time zone 'America/New_York')::date, executed_at from execution
    where busts is not null
  ) moved group by account_id
) j where j.account_id = r.account_id and r.closed_day >= j.day;
