-- Where a FIX session stands, so that it goes on after a restart of the worker. What arrived with a number below
-- next_inbound is booked; it moves in the transaction of the reports. Numbers below next_outbound were used or set
-- aside: a worker sets some aside before it sends, and after a crash the next one begins above them.
create table fix_session (
  connection text primary key,
  next_inbound bigint not null default 1 check (next_inbound > 0),
  next_outbound bigint not null default 1 check (next_outbound > 0),
  -- When both sides began to count at 1, as far as that was agreed on; never: null.
  started_at timestamptz,
  -- The operator wants both sides to begin anew at the next Logon.
  is_reset_due boolean not null default false
);
