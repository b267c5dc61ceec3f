-- When a price, and the last change of a strategy's books, were written: both may be of a time that has passed, and are
-- news nevertheless. Null: not since this was noted.
alter table quote add column booked_at timestamptz;
alter table strategy_record add column noted_at timestamptz;
-- When the operator changed the broker last: whether it is enabled is shown with the settings of its accounts.
alter table broker add column changed_at timestamptz;
