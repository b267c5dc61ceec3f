-- What subscribers owe and pay, and the ledger of it. Amounts are whole minor units.

-- How a person pays with a provider; the references are the provider's own.
create table payment_method (
  person_id bigint not null references person,
  provider text not null check (provider in ('simulated', 'stripe')),
  customer_ref text not null,
  method_ref text not null,
  changed_at timestamptz not null,
  primary key (person_id, provider)
);

-- One payment asked for: a term in advance, or what an upgrade costs more. Created with what it is for, so that
-- nothing is charged twice; a free term has none.
create table charge (
  id bigint generated always as identity primary key,
  subscription_id bigint not null references subscription,
  purpose text not null check (purpose in ('term', 'upgrade', 'performance')),
  period_started_at timestamptz not null,
  period_ends_at timestamptz not null check (period_ends_at > period_started_at),
  base_price minor_units not null,
  markup minor_units not null,
  amount bigint not null generated always as (base_price + markup) stored check (amount > 0),
  currency currency not null,
  provider text not null check (provider in ('simulated', 'stripe')),
  -- failed: given up until somebody asks for another try
  status text not null default 'due' check (status in ('due', 'paid', 'failed')),
  attempts integer not null default 0 check (attempts >= 0), -- the provider was asked, by attempt number
  next_try_at timestamptz, -- when the next attempt is due
  claimed_until timestamptz, -- by the database's clock: somebody is asking the provider
  payment_ref text, -- the provider's own, of the last attempt
  failure_reason text,
  failed_at timestamptz,
  paid_at timestamptz,
  unique (subscription_id, purpose, period_started_at),
  check ((status = 'due') = (next_try_at is not null)),
  check ((status = 'paid') = (paid_at is not null)),
  check (status <> 'failed' or failed_at is not null)
);
create index charge_due on charge (next_try_at) where status = 'due';
create unique index charge_payment on charge (provider, payment_ref) where payment_ref is not null;

-- The ledger: a transfer leaves one account and arrives at another in the same currency, so that what is booked
-- sums to zero in every currency. It is never changed.
create table ledger_account (
  id bigint generated always as identity primary key,
  name text not null unique generated always as (
    kind || ':' || coalesce(person_id::text, site_id::text, provider, '') || ':' || currency) stored,
  kind text not null check (kind in ('customer', 'owner', 'site', 'platform', 'provider')),
  person_id bigint references person,
  site_id bigint references site,
  provider text,
  currency currency not null,
  unique (id, currency),
  check ((kind in ('customer', 'owner')) = (person_id is not null)),
  check ((kind = 'site') = (site_id is not null)),
  check ((kind = 'provider') = (provider is not null))
);
create table ledger_transfer (
  id bigint generated always as identity primary key,
  charge_id bigint not null references charge,
  reason text not null check (reason in ('payment', 'ownerShare', 'siteMarkup', 'platformShare')),
  from_account_id bigint not null,
  to_account_id bigint not null check (to_account_id <> from_account_id),
  amount bigint not null check (amount > 0),
  currency currency not null,
  booked_at timestamptz not null,
  xid xid8 not null default pg_current_xact_id(),
  unique (charge_id, reason),
  foreign key (from_account_id, currency) references ledger_account (id, currency),
  foreign key (to_account_id, currency) references ledger_account (id, currency)
);
create index ledger_transfer_from on ledger_transfer (from_account_id);
create index ledger_transfer_to on ledger_transfer (to_account_id);

create view ledger_entry as
  select id as transfer_id, charge_id, from_account_id as account_id, currency, -amount as amount, booked_at
  from ledger_transfer
  union all
  select id, charge_id, to_account_id, currency, amount, booked_at from ledger_transfer;

create function ledger_transfer_is_final() returns trigger language plpgsql as $$
begin
  raise exception 'a booked transfer is never changed' using errcode = 'restrict_violation';
end $$;
create trigger ledger_transfer_is_final before update on ledger_transfer
  for each row execute function ledger_transfer_is_final();

-- At the commit a charge that is paid has been paid in full and passed on in full, and one that is not has moved
-- nothing.
create function charge_is_settled() returns trigger language plpgsql as $$
declare
  wanted bigint := case tg_table_name when 'charge' then (to_jsonb(new) ->> 'id')::bigint
    else (to_jsonb(coalesce(new, old)) ->> 'charge_id')::bigint end;
  unsettled boolean;
begin
  select case when charge.status = 'paid' then charge.amount else 0 end <> coalesce(sum(t.amount)
      filter (where t.reason = 'payment'), 0)
    or coalesce(sum(case t.reason when 'payment' then t.amount else -t.amount end), 0) <> 0
    or bool_or(t.currency <> charge.currency)
  into unsettled
  from charge left join ledger_transfer t on t.charge_id = charge.id
  where charge.id = wanted group by charge.id;
  if unsettled then
    raise exception 'charge % is not settled to the cent', wanted using errcode = 'check_violation';
  end if;
  return null;
end $$;
create constraint trigger charge_is_settled after update of status on charge
  deferrable initially deferred for each row execute function charge_is_settled();
create constraint trigger charge_is_settled after insert or delete on ledger_transfer
  deferrable initially deferred for each row execute function charge_is_settled();

-- What the built-in provider has answered: asked again with the same key it answers the same.
create table simulated_payment (
  payment_key text primary key,
  id bigint generated always as identity unique,
  amount bigint not null check (amount > 0),
  currency currency not null,
  decline_reason text, -- null: it was paid
  answered_at timestamptz not null
);

-- What a provider has told by itself, each event once.
create table payment_event (
  id bigint generated always as identity primary key,
  provider text not null,
  event_ref text not null,
  kind text not null check (kind in ('paid', 'declined')),
  payment_ref text not null,
  reason text,
  occurred_at timestamptz not null,
  applied_at timestamptz,
  unique (provider, event_ref)
);
create index payment_event_unapplied on payment_event (id) where applied_at is null;

-- A cheaper plan begins when the present term ends.
alter table subscription add column next_plan_id bigint references plan, add check (next_plan_id is null or plan_id is not null);
