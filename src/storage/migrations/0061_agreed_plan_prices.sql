-- What the plan costs in whole that an upgrade leads to, as it was chosen: its price may change before the payment comes.
-- Null for what was asked for earlier.
alter table charge add column plan_price minor_units;
