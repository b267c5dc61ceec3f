-- What owners trade by themselves is a ledger like those of setups, without one: it follows splits, dividends and the
-- ends of contracts as what setups hold does.
alter table account_position drop constraint account_position_pkey;
alter table account_position alter column setup_id drop not null;
alter table account_position alter column strategy_id drop not null;
alter table account_position add constraint account_position_ledger
  unique nulls not distinct (setup_id, instrument_id, account_id);
alter table account_position add constraint account_position_owner
  check ((setup_id is null) = (strategy_id is null));

alter table account_adjustment drop constraint account_adjustment_pkey;
alter table account_adjustment alter column setup_id drop not null;
alter table account_adjustment add constraint account_adjustment_ledger
  unique nulls not distinct (action_id, setup_id, account_id);

insert into account_position (account_id, instrument_id, quantity, avg_px, opened_at)
select account_id, instrument_id, sum(signed), sum(signed * px) / sum(signed), min(executed_at)
from (
  select *, case side when '1' then quantity else -quantity end as signed from execution where setup_id is null
) e
group by account_id, instrument_id having sum(signed) <> 0;

alter table account_record drop column has_own_executions;
