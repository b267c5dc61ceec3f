-- How often a person has signed in.
create index sign_in_person on sign_in (person_id, occurred_at);

-- The account whose own trades a strategy consists of.
alter table strategy add column transmit_account_id bigint references account;
create unique index strategy_transmit_account on strategy (transmit_account_id) where transmit_account_id is not null;

-- What such an account has traded, on its way to the strategy.
create table transmission (
  id bigint generated always as identity primary key,
  strategy_id bigint not null references strategy,
  account_id bigint not null references account,
  exec_id text not null,
  instrument_id bigint not null references instrument,
  side side not null,
  quantity quantity not null check (quantity > 0),
  px price not null,
  executed_at timestamptz not null,
  transmitted_at timestamptz,
  unique (account_id, exec_id)
);
create index transmission_due on transmission (strategy_id, id) where transmitted_at is null;
