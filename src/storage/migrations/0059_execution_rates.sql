-- At which rate an execution was booked: account currency per unit of its instrument's. What takes it back goes by it, and
-- the money of a future does not tell it. Of older ones what was paid in full tells it, and what was traded next to them.
alter table execution add column fx factor;

update execution e set fx = case
  when i.currency = a.currency then 1
  when i.security_type in ('CS', 'OPT') and e.px <> 0 and e.cash_change + e.commission <> 0
    then abs(e.cash_change + e.commission) / (e.quantity * abs(e.px) * i.point_value)
end
from instrument i, account a where i.id = e.instrument_id and a.id = e.account_id;

-- By an index: an account that trades futures alone would look through all that it ever did for each of them.
create temporary table told_rate on commit drop as
select e.account_id, i.currency, e.executed_at, e.fx
from execution e join instrument i on i.id = e.instrument_id where e.fx is not null;

create index on told_rate (account_id, currency, executed_at);

update execution e set fx = coalesce((
  select near.fx from (
    (select * from told_rate t where t.account_id = e.account_id and t.currency = i.currency
      and t.executed_at <= e.executed_at order by t.executed_at desc limit 1)
    union all
    (select * from told_rate t where t.account_id = e.account_id and t.currency = i.currency
      and t.executed_at > e.executed_at order by t.executed_at limit 1)
  ) near order by abs(extract(epoch from near.executed_at - e.executed_at)) limit 1
), 1)
from instrument i where i.id = e.instrument_id and e.fx is null;

alter table execution alter column fx set not null;
