-- AutoSync: which setups are to be looked at and when, and what a broker refused. Executions that a broker cancels, and
-- accounts that it closes to us.

-- When a setup's next cycle is due. Written by whoever changes what a cycle is decided from, in the same
-- transaction, under the account's or the strategy's lock.
create table sync_due (
  setup_id bigint primary key references setup,
  due_at timestamptz not null
);
create index sync_due_at on sync_due (due_at);

-- Orders up to this one are forgiven: the owner asked to try again what a broker refused.
alter table setup add column retries_after bigint not null default 0;
create index account_order_rejected on account_order (setup_id, instrument_id, id) where status = '8';

-- A new choice makes a cycle due, whoever writes it.
create function setup_syncs() returns trigger language plpgsql as $$
begin
  insert into sync_due (setup_id, due_at) values (new.id, new.changed_at)
  on conflict (setup_id) do update set due_at = least(sync_due.due_at, excluded.due_at);
  return new;
end $$;
create trigger setup_starts_sync after insert on setup for each row execute function setup_syncs();
create trigger setup_changes_sync after update of changed_at on setup for each row
  when (new.stopped_at is null) execute function setup_syncs();

create function account_syncs() returns trigger language plpgsql as $$
begin
  insert into sync_due (setup_id, due_at)
  select id, new.settings_changed_at from setup where account_id = new.id and stopped_at is null order by id
  on conflict (setup_id) do update set due_at = least(sync_due.due_at, excluded.due_at);
  return new;
end $$;
create trigger account_syncs after update of is_sync_enabled, is_autotrade_disabled on account for each row
  when (new.is_sync_enabled and not old.is_sync_enabled
    or old.is_autotrade_disabled and not new.is_autotrade_disabled)
  execute function account_syncs();

-- A canceled execution stays; another one of the opposite side takes it back.
alter table execution add column busts text;

-- What brokers tell of an account as a whole.
alter table broker_report drop constraint broker_report_kind_check;
alter table broker_report add constraint broker_report_kind_check check (kind in ('ack', 'fill', 'bust', 'cancel',
  'reject', 'cancelReject', 'cancelUnknown', 'replace', 'replaceReject', 'expire',
  'delink', 'marginCall', 'patternDayTrader', 'restriction'));
create index broker_report_bust on broker_report (broker_id, account_id, text) where kind = 'bust';
