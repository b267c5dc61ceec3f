-- An order whose replacement was rejected goes on, and may be replaced again.
drop index signal_replaced_once;
create unique index signal_replaced_once on signal (replaces_signal_id)
  where replaces_signal_id is not null and status <> '8';
