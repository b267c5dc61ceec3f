-- What a simulated subscription is measured by: the worth of its strategy when it began, and when it ended.
create table simulation (
  subscription_id bigint primary key, -- of a table that a later number makes
  started_equity amount not null,
  ended_equity amount
);
