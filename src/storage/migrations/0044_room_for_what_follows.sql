-- What is entered is bounded; what follows from it is not: a price explodes, a split multiplies what is held, somebody
-- else trades in an account. A book without room for that failed the whole batch that it was written in, again and
-- again, for everybody. So only what is entered keeps its bounds. The places after the point stay what they were.

alter domain quantity rename to entered_quantity;
alter domain price rename to entered_price;
alter domain amount rename to entered_amount;
alter domain factor rename to entered_factor;
create domain quantity as numeric(200, 8) check (value > '-Infinity' and value < 'Infinity');
create domain price as numeric(200, 12) check (value > '-Infinity' and value < 'Infinity');
create domain amount as numeric(200, 12) check (value > '-Infinity' and value < 'Infinity');
create domain factor as numeric(200, 12) check (value > '-Infinity' and value < 'Infinity');

do $$
declare
  changed record;
  audited text[];
  definition text;
begin
  -- Triggers that name columns stand in the way of a change of their type: they are made again as they were.
  select array_agg(pg_get_triggerdef(oid)) into audited
  from pg_trigger where tgname = 'audited' and tgattr::text <> '';
  for changed in select tgrelid::regclass as name from pg_trigger where tgname = 'audited' and tgattr::text <> '' loop
    execute format('drop trigger audited on %s', changed.name);
  end loop;
  for changed in
    select table_name, string_agg(
      format('alter %I type %I', column_name, replace(domain_name, 'entered_', '')), ', ') as changes
    from information_schema.columns
    where table_schema = 'public' and domain_schema = 'public'
      and domain_name in ('entered_quantity', 'entered_price', 'entered_amount', 'entered_factor')
      and table_name not in ('instrument', 'corporate_action', 'index_close') and column_name <> 'monthly_cost'
    group by table_name
  loop
    execute format('alter table %I %s', changed.table_name, changed.changes);
  end loop;
  foreach definition in array audited loop
    execute definition;
  end loop;
end $$;
