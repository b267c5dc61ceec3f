-- At which rate an execution was booked: account currency per unit of its instrument's. What takes it back goes by it, and
-- the money of a future does not tell it. Of older ones what was paid in full tells it, and what was traded next to them.
alter table execution add column fx factor;

update execution e set fx = case
  when i.currency = a.currency then 1
  when i.security_type in ('CS', 'OPT') and e.px <> 0 and e.cash_change + e.commission <> 0
    then abs(e.cash_change + e.commission) / (e.quantity * abs(e.px) * i.point_value)
end
from instrument i, account a where i.id = e.instrument_id and a.id = e.account_id;

update execution e set fx = coalesce((
  select near.fx from execution near join instrument of_near on of_near.id = near.instrument_id
  where near.account_id = e.account_id and near.fx is not null and of_near.currency = i.currency
  order by abs(extract(epoch from near.executed_at - e.executed_at)) limit 1
), 1)
from instrument i where i.id = e.instrument_id and e.fx is null;

alter table execution alter column fx set not null;
