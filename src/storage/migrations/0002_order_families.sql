-- Families of orders: exits of an entry, groups of which one fill shrinks the others, orders that wait for their
-- parent or for a date.

alter table signal
  add column depth smallint not null default 0 check (depth >= 0), -- ancestors
  add column exit_role text check (exit_role in ('profitTarget', 'stopLoss')), -- what it is to its parent, an entry
  add column covers_from quantity not null default 0, -- of an exit: how much of its entry earlier exits stood for
  add column waits_for_parent boolean not null default false, -- until the parent is filled; never true of an exit
  add column is_parked boolean not null default false, -- until parked_until
  add check (exit_role is null or parent_signal_id is not null),
  add check (not waits_for_parent or parent_signal_id is not null),
  add check (not is_parked or parked_until is not null);
create index signal_parked on signal (parked_until) where is_parked;
