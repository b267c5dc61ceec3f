-- Dividends, splits and settlement values, and what they did to each book.

create table corporate_action (
  id bigint generated always as identity primary key,
  instrument_id bigint not null references instrument,
  kind text not null check (kind in ('dividend', 'settlement', 'split')),
  ex_date date not null, -- of a settlement value the expiry that it settles
  amount price, -- per unit, in the instrument's currency; of a settlement value the value
  -- For each `old_units` a holder has `new_units`.
  new_units quantity check (new_units > 0),
  old_units quantity check (old_units > 0),
  -- An option whose contract changed its size: the contracts stay, only prices are divided.
  resizes boolean not null default false,
  takes_effect_at timestamptz not null, -- the opening of the ex-date
  imported_at timestamptz not null,
  booked_at timestamptz,
  -- What a second import names again.
  unique (instrument_id, kind, ex_date),
  check (kind <> 'dividend' or amount > 0),
  check ((kind = 'split') = (amount is null)),
  check ((kind = 'split') = (new_units is not null and old_units is not null))
);
create index corporate_action_due on corporate_action (takes_effect_at) where booked_at is null;

-- What an action did to a strategy's position and cash beside fills.
create table position_adjustment (
  action_id bigint not null references corporate_action,
  strategy_id bigint not null references strategy,
  quantity_before quantity not null,
  quantity_change quantity not null,
  cash_change amount not null,
  primary key (action_id, strategy_id)
);
create index position_adjustment_strategy on position_adjustment (strategy_id);

-- The same for what a setup holds, and for the cash of its account.
create table account_adjustment (
  action_id bigint not null references corporate_action,
  setup_id bigint not null references setup,
  account_id bigint not null references account,
  quantity_before quantity not null,
  quantity_change quantity not null,
  cash_change amount not null,
  primary key (action_id, setup_id)
);
create index account_adjustment_account on account_adjustment (account_id);

-- When time next ends something about a contract; never later than that moment, null when nothing is left to end.
alter table instrument add column due_at timestamptz, add column ended_at timestamptz;
update instrument set due_at = last_trading_day - interval '4 days' where last_trading_day is not null;
create index instrument_due on instrument (due_at) where due_at is not null;
create index instrument_underlying on instrument (underlying) where security_type = 'OPT';

-- Deliveries and payments are fills of orders that the books make themselves, in the same transaction.
alter table fill alter constraint fill_signal_id_fkey deferrable initially deferred;
alter table trade alter constraint trade_signal_id_fkey deferrable initially deferred;
