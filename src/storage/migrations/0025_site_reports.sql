-- What a white-label site asks about its past. Executions by their time, of which reports want the latest only: they
-- come nearly in order, so a few bytes for each range of rows are enough.
create index execution_time on execution using brin (executed_at);

-- How steadily an account can be traded: when it could be reached, was cut off by its broker, was barred from
-- Autotrade. Triggers keep it, so that no way of changing an account is forgotten.
create table account_event (
  id bigint generated always as identity primary key,
  account_id bigint not null references account,
  kind text not null check (kind in ('connect', 'disconnect', 'disable')),
  occurred_at timestamptz not null
);
create index account_event_account on account_event (account_id, id);

create function account_connects() returns trigger language plpgsql as $$
begin
  insert into account_event (account_id, kind, occurred_at) values (new.id, 'connect', new.created_at);
  return null;
end $$;
create trigger account_connects after insert on account for each row execute function account_connects();

create function account_turns() returns trigger language plpgsql as $$
begin
  insert into account_event (account_id, kind, occurred_at)
  select new.id, turn.kind, new.settings_changed_at from (values
    ('disable', new.is_autotrade_disabled and not old.is_autotrade_disabled),
    ('disconnect', new.broker_authorization = 'Revoked' and old.broker_authorization <> 'Revoked'),
    ('connect', new.broker_authorization = 'Authorized' and old.broker_authorization <> 'Authorized'
      or old.is_autotrade_disabled and not new.is_autotrade_disabled and 'disconnect' = (
        select e.kind from account_event e where e.account_id = new.id and e.kind <> 'disable'
        order by e.id desc limit 1))
  ) turn (kind, happened) where turn.happened;
  return null;
end $$;
create trigger account_turns after update of is_autotrade_disabled, broker_authorization on account for each row
  when (new.is_autotrade_disabled <> old.is_autotrade_disabled or new.broker_authorization <> old.broker_authorization)
  execute function account_turns();

create function account_is_cut_off() returns trigger language plpgsql as $$
begin
  insert into account_event (account_id, kind, occurred_at) values (new.account_id, 'disconnect', new.occurred_at);
  return null;
end $$;
create trigger account_is_cut_off after insert on broker_report for each row when (new.kind = 'delink')
  execute function account_is_cut_off();

insert into account_event (account_id, kind, occurred_at) select id, 'connect', created_at from account;
insert into account_event (account_id, kind, occurred_at)
select account_id, 'disconnect', occurred_at from broker_report where kind = 'delink' order by id;
insert into account_event (account_id, kind, occurred_at)
select id, 'disable', settings_changed_at from account where is_autotrade_disabled;
