-- What a strategy's owner takes of the gains of those who follow it with money, in percent; 0: nothing. A term keeps
-- the percentage with which it began.
alter table strategy add column performance_fee_percent integer not null default 0
  check (performance_fee_percent between 0 and 100);
alter table subscription add column performance_fee_percent integer not null default 0
  check (performance_fee_percent between 0 and 100);

-- How the fee on one setup was settled at the end of a term: the units, their price and the mark afterwards. Amounts are
-- in the account's currency; what is charged is in the subscription's.
create table fee_settlement (
  setup_id bigint not null references setup,
  settled_at timestamptz not null,
  subscription_id bigint not null references subscription,
  percent integer not null check (percent between 0 and 100),
  -- Of the account when the setup began, and what it has gained since, fees not counted.
  capital amount not null check (capital > 0),
  gain amount not null,
  fee amount not null check (fee >= 0),
  charged minor_units not null,
  units amount not null check (units > 0),
  price factor not null,
  mark factor not null,
  -- All fees so far, this one included.
  fees amount not null check (fees >= fee),
  primary key (setup_id, settled_at)
);
create index fee_settlement_subscription on fee_settlement (subscription_id, settled_at);

-- The plan that an upgrade leads to, once it is paid.
alter table charge add column plan_id bigint references plan, add check ((purpose = 'upgrade') = (plan_id is not null));
