-- Subscriptions, and what is sold with them: plans, the catalogs of white-label sites, who pays for Autotrade.
-- Money here is whole minor units of its currency (cents), because what is charged must add up exactly.

create domain currency as text check (value ~ '^[A-Z]{3}$');
create domain minor_units as bigint check (value >= 0);

-- What a strategy's price leaves to its owner; the platform keeps the rest. A markup is the reselling site's alone.
alter table strategy add column owner_share_percent integer not null default 70
  check (owner_share_percent between 0 and 100);

create table plan (
  id bigint generated always as identity primary key,
  site_id bigint not null references site, -- who offers it
  kind text not null check (kind in ('investor', 'manager')),
  name text not null,
  term_days integer not null check (term_days in (30, 365)),
  strategies_included integer not null check (strategies_included >= 0),
  price minor_units not null,
  currency currency not null default 'USD',
  is_offered boolean not null default true,
  unique (site_id, kind, name, term_days)
);

-- A strategy that a white-label site resells, under a name of its own if it likes, for more if it likes.
create table site_catalog (
  id bigint generated always as identity primary key,
  site_id bigint not null references site,
  strategy_id bigint not null references strategy,
  display_name text,
  markup minor_units not null default 0,
  added_at timestamptz not null,
  unique (site_id, strategy_id)
);
create index site_catalog_strategy on site_catalog (strategy_id);

-- Who pays for Autotrade at a site; without a row nobody does.
create table site_fee_policy (
  site_id bigint primary key references site,
  payer text not null check (payer in ('customer', 'site', 'none'))
);
create table site_fee_tier (
  site_id bigint not null references site_fee_policy,
  from_accounts integer not null check (from_accounts > 0),
  to_accounts integer check (to_accounts >= from_accounts),
  price_per_account minor_units not null,
  currency currency not null default 'USD',
  primary key (site_id, from_accounts)
);

-- A person's access to a strategy, or to a plan: term after term until it ends. Opening and joining one to a
-- strategy happen under the strategy's lock.
create table subscription (
  id bigint generated always as identity primary key,
  site_id bigint not null references site, -- the person's, when it was opened
  person_id bigint not null references person,
  strategy_id bigint references strategy,
  plan_id bigint references plan,
  kind text not null check (kind in ('paid', 'paper', 'simulated')), -- paper: followed in paper accounts alone
  -- pending: its first payment is awaited; suspended: a later one failed for good
  status text not null default 'active' check (status in ('pending', 'active', 'suspended', 'ended')),
  base_price minor_units not null, -- of the present term
  markup minor_units not null default 0,
  currency currency not null default 'USD',
  started_at timestamptz not null,
  term_started_at timestamptz not null,
  term_ends_at timestamptz check (term_ends_at > term_started_at), -- a simulated one has no terms
  is_cancel_pending boolean not null default false, -- ends with its term
  ended_at timestamptz,
  end_reason text,
  billing_failures integer not null default 0 check (billing_failures >= 0),
  billing_failure_reason text,
  billing_failed_at timestamptz,
  xid xid8 not null default pg_current_xact_id(),
  check (num_nonnulls(strategy_id, plan_id) = 1),
  check ((kind = 'simulated') = (term_ends_at is null)),
  check (kind = 'paid' or strategy_id is not null),
  check ((status = 'ended') = (ended_at is not null))
);
create unique index subscription_live on subscription (person_id, strategy_id) where ended_at is null;
create unique index subscription_live_plan on subscription (person_id, plan_id) where ended_at is null;
create index subscription_person on subscription (person_id, id);
create index subscription_strategy on subscription (strategy_id, id);
create index subscription_term on subscription (term_ends_at) where ended_at is null;

-- Whoever follows a strategy already has subscribed to it; the first term is free.
insert into subscription (site_id, person_id, strategy_id, kind, base_price, started_at, term_started_at, term_ends_at)
select site_id, person_id, strategy_id, kind, 0, started_at, term_started_at, term_started_at + interval '30 days'
from (
  select a.site_id, a.person_id, setup.strategy_id,
    case when bool_or(a.kind = 0) then 'paid' else 'paper' end as kind, min(setup.started_at) as started_at,
    min(setup.started_at) + floor(extract(epoch from greatest(now() - min(setup.started_at), interval '0')) / 2592000)
      * interval '30 days' as term_started_at
  from setup join account a on a.id = setup.account_id
  where setup.stopped_at is null and a.kind < 2
  group by a.site_id, a.person_id, setup.strategy_id
) following;
