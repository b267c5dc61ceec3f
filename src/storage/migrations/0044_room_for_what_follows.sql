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

-- They name columns that change their type.
drop trigger audited on account;
drop trigger audited on account_entry;
drop trigger audited on strategy;

do $$
declare changed record;
begin
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
end $$;

create trigger audited after insert or delete or update of site_id, person_id, broker_id, kind, currency, starting_cash,
    is_sync_enabled, sync_disabled_reason, is_autotrade_disabled, autotrade_disabled_reason, ignore_manual_orders,
    authenticated_at, introducing_broker_id, introducing_broker, sales_rep_id, broker_authorization, account,
    broker_user_id, sales_rep
  on account for each row
  execute function audit_change('id', 'site_id,person_id,broker_id,kind,currency,starting_cash,is_sync_enabled,'
    'sync_disabled_reason,is_autotrade_disabled,autotrade_disabled_reason,ignore_manual_orders,authenticated_at,'
    'introducing_broker_id,introducing_broker,sales_rep_id,broker_authorization,account', 'broker_user_id,sales_rep');
create trigger audited after insert or delete or update of account_id, setup_id, kind, cash_change
  on account_entry for each row
  execute function audit_change('id', 'account_id,setup_id,kind,cash_change', '');
create trigger audited after insert or delete or update of site_id, owner_person_id, starting_cash, is_alive, is_private,
    monthly_cost, is_resellable, no_subs_allowed, stocks_enabled, options_enabled, futures_enabled, forex_enabled,
    owner_share_percent, performance_fee_percent, transmit_account_id, name, short_description, long_description
  on strategy for each row
  execute function audit_change('id', 'site_id,owner_person_id,starting_cash,is_alive,is_private,monthly_cost,'
    'is_resellable,no_subs_allowed,stocks_enabled,options_enabled,futures_enabled,forex_enabled,owner_share_percent,'
    'performance_fee_percent,transmit_account_id', 'name,short_description,long_description');
