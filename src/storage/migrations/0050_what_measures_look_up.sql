-- The page of measures asks for these at every look, by index also when much waits or has lasted.
create index order_gap_confirmed on order_gap (account_id) where confirmed_at is not null;
create index broker_report_waiting on broker_report (occurred_at) where applied_at is null;
