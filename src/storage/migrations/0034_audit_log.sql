-- The audit log: who changed what, and what it was before and after. Entries are written by the database itself in
-- the transaction of the change, are never changed or removed, and are chained by hashes in the order of their
-- numbers. Who acts is said by the setting lockstep.acting, of a transaction or of a whole connection.

create table audit_entry (
  id bigint generated always as identity primary key,
  -- The site of the person who acted; 0: the installation's own, for operators and workers.
  chain bigint not null,
  recorded_at timestamptz not null default clock_timestamp(),
  occurred_at timestamptz not null,
  actor text not null check (actor in ('person', 'operator', 'worker', 'platform')),
  who text,
  key_id text,
  operation text not null,
  object text not null,
  request_id text,
  before jsonb,
  after jsonb,
  seq bigint check (seq > 0),
  hash bytea,
  check ((seq is null) = (hash is null)),
  unique (chain, seq)
);
create index audit_entry_unsealed on audit_entry (id) where hash is null;

-- Where each chain ends.
create table audit_chain (
  chain bigint primary key,
  seq bigint not null,
  hash bytea not null
);

create function audit_entry_is_final() returns trigger language plpgsql as $$
begin
  -- It is chained once, and nothing else ever happens to it.
  if tg_op = 'UPDATE' and old.hash is null and new.hash is not null
    and to_jsonb(new) - 'seq' - 'hash' = to_jsonb(old) - 'seq' - 'hash' then
    return new;
  end if;
  raise exception 'an entry of the audit log is never changed' using errcode = 'restrict_violation';
end $$;
create trigger audit_entry_is_final before update or delete on audit_entry
  for each row execute function audit_entry_is_final();
create trigger audit_entry_stays before truncate on audit_entry
  for each statement execute function audit_entry_is_final();

-- Arguments: the columns that name the row, those that are shown, and those of which only is told that they changed.
create function audit_change() returns trigger language plpgsql as $$
declare
  acting jsonb := coalesce(nullif(current_setting('lockstep.acting', true), ''), '{}');
  was jsonb := to_jsonb(old);
  is_now jsonb := to_jsonb(new);
  before jsonb;
  after jsonb;
begin
  if current_setting('lockstep.emptying', true) = 'on' then return null; end if;
  select
    jsonb_object_agg(name, case when is_private and was ->> name is not null then '"[private]"' else was -> name end),
    jsonb_object_agg(name, case when is_private and is_now ->> name is not null then '"[private]"' else is_now -> name end)
  into before, after
  from (
    select name, false as is_private from unnest(string_to_array(tg_argv[1], ',')) name
    union all select name, true from unnest(string_to_array(tg_argv[2], ',')) name
  ) watched
  where was ->> name is distinct from is_now ->> name;
  if tg_op = 'UPDATE' and after is null then return null; end if;
  insert into audit_entry (chain, occurred_at, actor, who, key_id, operation, request_id, object, before, after)
  values (
    coalesce((acting ->> 'chain')::bigint, 0), coalesce((acting ->> 'at')::timestamptz, clock_timestamp()),
    coalesce(acting ->> 'actor', 'platform'), acting ->> 'who', acting ->> 'keyId',
    coalesce(acting ->> 'operation', lower(tg_op)), acting ->> 'requestId',
    tg_table_name || ' ' || (
      select string_agg(coalesce(is_now, was) ->> name, ' ') from unnest(string_to_array(tg_argv[0], ',')) name),
    case when tg_op <> 'INSERT' then before end, case when tg_op <> 'DELETE' then after end);
  return null;
end $$;

-- What people and operators change. Books, queues and market data have records of their own.
do $$
declare
  watched record;
begin
  for watched in select * from (values
    ('access_key', 'id', 'person_id,key_id,limits,expires_at,deleted_at', 'comment'),
    ('account', 'id', 'site_id,person_id,broker_id,kind,currency,starting_cash,is_sync_enabled,'
      'sync_disabled_reason,is_autotrade_disabled,autotrade_disabled_reason,ignore_manual_orders,'
      'authenticated_at,introducing_broker_id,introducing_broker,sales_rep_id,broker_authorization,account',
      'broker_user_id,sales_rep'),
    ('account_credential', 'account_id', 'key_id', 'sealed'),
    ('account_entry', 'id', 'account_id,setup_id,kind,cash_change', ''),
    ('approval_request', 'id', 'account_id,strategy_id,action,status,failure,superseded_by', 'choices'),
    ('approved_account', 'id', 'connection_type,person_id,broker_id,account,is_cfd,added_by_person_id,deleted_at', ''),
    ('broker', 'id', 'name,connection_name,environment,adapter,is_enabled,needs_authorization,needs_credentials', ''),
    ('corporate_action', 'id', 'instrument_id,kind,ex_date,amount,new_units,old_units,takes_effect_at', ''),
    ('index_close', 'day', 'close', ''),
    ('instrument', 'id', 'symbol,security_type,description,underlying,root,maturity_month_year,put_or_call,strike,'
      'security_exchange,currency,point_value,tick,calendar,initial_margin,maintenance_margin,settlement,'
      'is_index_option,expiry,last_trading_day,is_tradable', ''),
    ('kyc', 'id', 'person_id,redirected_times,started_at,finished_at,approved_at,score', 'token_hash'),
    ('kyc_info', 'id', 'person_id', 'sealed_key'),
    ('payment_method', 'person_id', 'provider', 'customer_ref,method_ref'),
    ('person', 'id', 'site_id,role,permissions,language,is_alive,is_phone_verified,email_validated_at',
      'alias,first_name,last_name,email,phone,country_code,division_code,city,street,street2,zip_code,company,'
      'password_hash,icon'),
    ('plan', 'id', 'site_id,kind,name,term_days,strategies_included,price,currency,is_offered', ''),
    ('platform_switch', 'name', 'value', ''),
    ('setup', 'id', 'account_id,strategy_id,scaling_percentage,stocks_enabled,stocks_long,stocks_short,'
      'max_stocks_dollars,options_enabled,options_long,options_short,min_options,max_options,futures_enabled,'
      'futures_long,futures_short,min_futures,max_futures,forex_enabled,forex_long,forex_short,forex_lot_size,'
      'min_forex,max_forex,closing_orders_only,chase_filled,joins_positions,is_confirmation_needed,'
      'virtual_limit_orders_enabled,trade_stocks_as_cfd,will_sync_stocks_usa,will_sync_stocks_europe,'
      'will_sync_options_usa,will_sync_options_europe,will_sync_futures_usa,will_sync_futures_europe,'
      'will_sync_futures_asia,will_sync_forex,auto_stop_loss_dollars,stopped_at,positions_left_open', ''),
    ('site', 'id', 'kind,code,domain,parent_site_id', 'name,support_company_name,support_site_url,support_email'),
    ('site_catalog', 'id', 'site_id,strategy_id,markup', 'display_name'),
    ('site_fee_policy', 'site_id', 'payer', ''),
    ('site_fee_tier', 'site_id,from_accounts', 'to_accounts,price_per_account,currency', ''),
    ('strategy', 'id', 'site_id,owner_person_id,starting_cash,is_alive,is_private,monthly_cost,is_resellable,'
      'no_subs_allowed,stocks_enabled,options_enabled,futures_enabled,forex_enabled,owner_share_percent,'
      'transmit_account_id', 'name,short_description,long_description'),
    ('subscription', 'id', 'site_id,person_id,strategy_id,plan_id,kind,status,base_price,markup,currency,'
      'term_ends_at,is_cancel_pending,ended_at,end_reason,next_plan_id', ''),
    ('watch_list', 'id', 'person_id', 'name'),
    ('watch_list_member', 'id', 'watch_list_id,strategy_id', ''),
    ('webhook_endpoint', 'id', 'site_id,event_types,disabled_at,disabled_reason', 'url'),
    ('webhook_secret', 'id', 'endpoint_id,key_id', 'sealed')
  ) tables (name, keys, shown, private)
  loop
    execute format(
      'create trigger audited after insert or delete or update of %s on %I for each row
        execute function audit_change(%L, %L, %L)',
      trim(both ',' from concat_ws(',', watched.shown, nullif(watched.private, ''))),
      watched.name, watched.keys, watched.shown, watched.private);
  end loop;
end $$;

-- Looks at personal data are entries like all others.
insert into audit_entry (chain, occurred_at, actor, who, key_id, operation, object, request_id)
select r.site_id, r.occurred_at, 'person', r.reader_person_id::text, k.key_id, r.operation,
  'person ' || r.person_id, r.request_id
from kyc_read r join access_key k on k.id = r.access_key_id order by r.id;
drop table kyc_read;
