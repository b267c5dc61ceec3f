-- What a simulated subscription is measured by: the worth of its strategy when it began, and when it ended.
create table simulation (
  person_id bigint not null references person,
  strategy_id bigint not null references strategy,
  started_at timestamptz not null,
  started_equity amount not null,
  ended_equity amount,
  primary key (person_id, strategy_id, started_at)
);
create index simulation_strategy on simulation (strategy_id);
