-- An order is placed while its owner waits, and these were half of what its row cost the database.

-- That a signal names a strategy and an instrument which exist is looked at once for all signals of a statement; a foreign
-- key looks at each of them twice, and locks what it finds.
alter table signal drop constraint signal_strategy_id_fkey, drop constraint signal_instrument_id_fkey;

create function signal_names_what_exists() returns trigger language plpgsql as $$
begin
  if exists (
    select from added
    where not exists (select from strategy where id = added.strategy_id)
      or not exists (select from instrument where id = added.instrument_id)
  ) then
    raise foreign_key_violation using message = 'a signal names a strategy or an instrument that does not exist';
  end if;
  return null;
end $$;
create trigger signal_names_what_exists after insert on signal referencing new table as added
  for each statement execute function signal_names_what_exists();

create function stays_while_signals_name_it() returns trigger language plpgsql as $$
declare
  is_named boolean;
begin
  execute format('select exists (select from signal where %I = $1)', tg_argv[0]) into is_named using old.id;
  if is_named then
    raise foreign_key_violation using message = format('signals name %s %s', tg_table_name, old.id);
  end if;
  return old;
end $$;
create trigger stays_while_signals_name_it before delete on strategy for each row
  when (current_setting('lockstep.emptying', true) is distinct from 'on')
  execute function stays_while_signals_name_it('strategy_id');
create trigger stays_while_signals_name_it before delete on instrument for each row
  when (current_setting('lockstep.emptying', true) is distinct from 'on')
  execute function stays_while_signals_name_it('instrument_id');

-- The history lists signals that have ended, and nothing else asks for the signals of a strategy in this order.
drop index signal_strategy;
create index signal_history on signal (strategy_id, id) where status in ('2', '4', '5', '8', 'C');
drop index signal_xid;
create index signal_xid on signal (xid) where status in ('2', '4', '5', '8', 'C');
