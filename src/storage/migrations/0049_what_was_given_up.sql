-- The page of measures counts these at every look: what is well is not read through for it.
create index webhook_delivery_given_up on webhook_delivery (endpoint_id)
where delivered_at is null and next_try_at is null;
create index position_gap_confirmed on position_gap (account_id) where confirmed_at is not null;
