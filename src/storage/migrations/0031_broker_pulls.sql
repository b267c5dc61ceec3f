-- How far an account's history was read at its broker. What happened before is known, or will be asked for again.
create table broker_pull (
  account_id bigint primary key references account,
  pulled_until timestamptz not null
);
