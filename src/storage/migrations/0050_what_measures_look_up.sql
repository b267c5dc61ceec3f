-- The page of measures asks for these at every look, by index also when many have lasted.
create index order_gap_confirmed on order_gap (account_id) where confirmed_at is not null;
