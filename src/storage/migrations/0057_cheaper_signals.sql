-- An order is placed while its owner waits, and these were half of what its row cost the database.

-- A signal names a strategy that is locked and an instrument that was just read in the same transaction; a foreign key looks
-- at each of them twice, and locks what it finds. What signals name stays, and the audit asks whether all of it is there.
alter table signal drop constraint signal_strategy_id_fkey, drop constraint signal_instrument_id_fkey;

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

-- Checks of a table are read anew by every statement that writes to it, those of a type are not. What one column says of
-- itself is said by its type, and the rest in fewer words.
create domain signal_type as smallint check (value in (1, 4, 5, 6));
create domain exit_role as text check (value in ('profitTarget', 'stopLoss'));
create domain generation as smallint check (value >= 0);
create domain ordered_quantity as numeric(200, 8) check (value > 0 and value < 'Infinity');
create domain executed_quantity as numeric(200, 8) check (value >= 0 and value < 'Infinity');
alter table signal
  drop constraint signal_check,
  drop constraint signal_check1,
  drop constraint signal_check2,
  drop constraint signal_check3,
  drop constraint signal_check4,
  drop constraint signal_check5,
  drop constraint signal_cum_qty_check,
  drop constraint signal_depth_check,
  drop constraint signal_exit_role_check,
  drop constraint signal_order_qty_check,
  drop constraint signal_signal_type_check;
alter table signal
  alter column signal_type type signal_type,
  alter column exit_role type exit_role,
  alter column depth type generation,
  alter column order_qty type ordered_quantity,
  alter column cum_qty type executed_quantity,
  add constraint signal_price check (
    case ord_type when '2' then limit_px is not null when '3' then stop_px is not null else true end),
  add constraint signal_average check ((cum_qty = 0) = (avg_px is null)),
  add constraint signal_family check (parent_signal_id is not null or exit_role is null and not waits_for_parent),
  add constraint signal_parking check (parked_until is not null or not is_parked);
