-- The platform's first schema: tenants, people and keys, instruments and quotes, strategies and their signals,
-- brokerage accounts, setups and mirrored orders, and the work that joins the two processes.
--
-- Conventions: times are business times (UTC) passed in by the caller unless a comment says otherwise;
-- xid is the inserting transaction, by which pages find rows that committed late; every natural key is unique.

-- Exact numbers (amount is money; PostgreSQL has a type of that name). numeric accepts NaN and the infinities; a
-- book must not. NaN sorts above Infinity, so one upper bound refuses both.
create domain quantity as numeric(20, 8) check (value > '-Infinity' and value < 'Infinity');
create domain price as numeric(24, 12) check (value > '-Infinity' and value < 'Infinity');
create domain amount as numeric(24, 12) check (value > '-Infinity' and value < 'Infinity');
create domain factor as numeric(24, 12) check (value > '-Infinity' and value < 'Infinity');

create domain ord_status as text check (value in ('A', '0', '1', '2', '4', '5', '6', '8', 'C', 'E'));
create domain side as text check (value in ('1', '2'));
create domain ord_type as text check (value in ('1', '2', '3'));
create domain time_in_force as text check (value in ('0', '1'));
create domain position_effect as text check (value in ('O', 'C'));
create domain security_type as text check (value in ('CS', 'FUT', 'OPT', 'FOR'));

-- Tenants ---------------------------------------------------------------------------------------------------

create table site (
  id bigint generated always as identity primary key,
  kind text not null check (kind in ('platform', 'geo', 'whitelabel')),
  code text not null unique, -- what a GeoSite parameter names
  name text not null,
  domain text unique,
  parent_site_id bigint references site, -- the regional site a white-label site belongs to, if any
  created_at timestamptz not null
);
create unique index site_one_platform on site (kind) where kind = 'platform';
insert into site (kind, code, name, created_at) values ('platform', 'platform', 'Lockstep', '2000-01-01T00:00:00Z');

create table person (
  id bigint generated always as identity primary key,
  site_id bigint not null references site,
  role text not null check (role in ('user', 'geosite_admin', 'whitelabel_admin', 'platform_admin')),
  alias text not null,
  first_name text not null,
  last_name text not null,
  email text not null,
  language text not null default 'eng',
  country_code text not null default 'US',
  is_alive boolean not null default true,
  created_at timestamptz not null,
  xid xid8 not null default pg_current_xact_id()
);
create unique index person_email on person (lower(email));
create index person_site on person (site_id, id);

-- Only a keyed hash of a key is stored. The role and the site are the person's.
create table access_key (
  id bigint generated always as identity primary key,
  person_id bigint not null references person,
  key_id text not null unique, -- the public part, the only one that may be logged
  secret_hash bytea not null unique,
  masked text not null, -- prefix and last four characters
  comment text not null default '',
  limits jsonb, -- own windows instead of the platform's: {"10": 100, "3600": 3000, "86400": 20000}
  created_at timestamptz not null,
  expires_at timestamptz not null,
  deleted_at timestamptz
);
create index access_key_person on access_key (person_id);

-- Market ----------------------------------------------------------------------------------------------------

create table instrument (
  id bigint generated always as identity primary key,
  symbol text not null unique, -- native form, for example @ESM26
  security_type security_type not null,
  description text not null,
  underlying text,
  root text not null, -- ticker, futures root, option root or pair, as ExchangeSymbol.Symbol says it
  maturity_month_year text, -- FIX 200
  put_or_call text check (put_or_call in ('0', '1')),
  strike price,
  security_exchange text not null default 'DEFAULT',
  currency text not null,
  point_value factor not null check (point_value > 0),
  tick price not null check (tick > 0),
  calendar text not null,
  initial_margin amount, -- per contract in the instrument's currency
  maintenance_margin amount,
  settlement text check (settlement in ('physical', 'cash')),
  is_index_option boolean not null default false,
  expiry date,
  last_trading_day date,
  is_tradable boolean not null default true
);

-- The last quote of each instrument; is_valid says whether it may fill an order that arrives now.
create table quote (
  instrument_id bigint primary key references instrument,
  bid price not null,
  ask price not null,
  bid_size quantity,
  ask_size quantity,
  quoted_at timestamptz not null,
  is_valid boolean not null
);

-- Strategies ------------------------------------------------------------------------------------------------

create table strategy (
  id bigint generated always as identity primary key,
  site_id bigint not null references site,
  owner_person_id bigint not null references person,
  name text not null,
  started_at timestamptz not null,
  starting_cash amount not null check (starting_cash >= 0),
  cash amount not null,
  is_alive boolean not null default true,
  is_private boolean not null default false,
  monthly_cost amount not null default 0 check (monthly_cost >= 0),
  is_resellable boolean not null default true,
  no_subs_allowed boolean not null default false,
  -- Counts joins and leaves of followers. A signal notes it when it starts to work; that fixes its followers.
  membership_version bigint not null default 0,
  xid xid8 not null default pg_current_xact_id()
);
create index strategy_owner on strategy (owner_person_id);
create index strategy_site on strategy (site_id);

create table signal (
  id bigint generated always as identity primary key,
  strategy_id bigint not null references strategy,
  instrument_id bigint not null references instrument,
  signal_type smallint not null default 1 check (signal_type in (1, 4, 5, 6)),
  side side not null,
  ord_type ord_type not null,
  time_in_force time_in_force not null,
  position_effect position_effect not null,
  order_qty quantity not null check (order_qty > 0),
  limit_px price,
  stop_px price,
  status ord_status not null,
  is_held boolean not null default false, -- status A and at no venue: parked, or waiting for its parent
  is_triggered boolean not null default false, -- a stop that has become a market order
  cum_qty quantity not null default 0 check (cum_qty >= 0), -- chain total for a replacement
  avg_px price,
  posted_at timestamptz not null,
  working_at timestamptz, -- since when it works; null while held or rejected
  expires_at timestamptz, -- end of its day; null for good till canceled
  ended_at timestamptz,
  replaces_signal_id bigint references signal,
  parent_signal_id bigint references signal,
  oca_group_id bigint,
  parked_until timestamptz,
  profit_target price,
  stop_loss price,
  do_not_create_oca_group boolean not null default false,
  do_not_sync_to_open boolean not null default false,
  reject_text text,
  info text,
  request_id text, -- carried from the request to the fill
  reference_px price, -- price its copies are sized with: limit, stop, or the quote when it began to work
  needs_match boolean not null default false, -- not yet held against the last quote
  -- Mirroring: due while copies must be planned or follow a change; horizon fixes the followers.
  membership_horizon bigint,
  mirror_due boolean not null default false,
  mirror_after_setup_id bigint, -- slices planned so far; null before the first
  mirrored_at timestamptz, -- every follower has its row
  xid xid8 not null default pg_current_xact_id(),
  check (ord_type <> '2' or limit_px is not null),
  check (ord_type <> '3' or stop_px is not null),
  check ((cum_qty = 0) = (avg_px is null))
);
create unique index signal_replaced_once on signal (replaces_signal_id) where replaces_signal_id is not null;
create index signal_strategy on signal (strategy_id, id);
create index signal_working on signal (instrument_id) where status in ('0', '1', '6', 'E');
create index signal_live on signal (strategy_id, instrument_id) where status in ('A', '0', '1', '6', 'E');
create index signal_needs_match on signal (id) where needs_match;
create index signal_mirror_due on signal (id) where mirror_due;
create index signal_expires on signal (expires_at) where expires_at is not null and status in ('A', '0', '1', '6', 'E');
create index signal_parent on signal (parent_signal_id) where parent_signal_id is not null;

-- The history lists signals that have ended: there a signal is as new as the transaction that ended it.
create function signal_ends() returns trigger language plpgsql as $$
begin
  new.xid := pg_current_xact_id();
  return new;
end $$;
create trigger signal_ends before update on signal for each row
  when (old.ended_at is null and new.ended_at is not null) execute function signal_ends();

-- A signal's whole life, one row per event; never updated. No foreign key: a row is written with its signal, or by
-- one who has locked it, and signals are never deleted.
create table signal_event (
  signal_id bigint not null,
  seq integer not null,
  event text not null,
  status ord_status not null, -- after the event
  occurred_at timestamptz not null,
  cause jsonb not null, -- who or what caused it, with the numbers it was decided from
  primary key (signal_id, seq)
);

create table fill (
  id bigint generated always as identity primary key,
  exec_id text not null unique,
  signal_id bigint not null references signal,
  strategy_id bigint not null references strategy,
  instrument_id bigint not null references instrument,
  side side not null,
  quantity quantity not null check (quantity > 0),
  px price not null,
  fx factor not null, -- account currency per unit of quote currency when it was booked
  commission amount not null default 0,
  cash_change amount not null, -- what it did to the strategy's cash, commission included
  filled_at timestamptz not null
);
create index fill_signal on fill (signal_id);
create index fill_strategy on fill (strategy_id, id);

create table position (
  strategy_id bigint not null references strategy,
  instrument_id bigint not null references instrument,
  quantity quantity not null,
  avg_px price,
  opened_at timestamptz,
  primary key (strategy_id, instrument_id),
  check ((quantity = 0) = (avg_px is null))
);

-- Brokers, accounts, setups ---------------------------------------------------------------------------------

create table broker (
  id integer generated always as identity primary key,
  name text not null unique,
  connection_name text not null,
  environment text not null check (environment in ('live', 'paper')),
  adapter text not null,
  is_enabled boolean not null default true,
  unique (id, environment)
);

create table account (
  id bigint generated always as identity primary key,
  site_id bigint not null references site,
  person_id bigint not null references person,
  broker_id integer not null references broker,
  broker_environment text not null,
  kind smallint not null check (kind in (0, 1, 2)), -- 0 live, 1 paper, 2 simulated
  account text not null,
  currency text not null default 'USD',
  starting_cash amount not null,
  cash amount not null,
  is_sync_enabled boolean not null default true,
  sync_disabled_reason text,
  is_autotrade_disabled boolean not null default false,
  autotrade_disabled_reason text,
  ignore_manual_orders boolean not null default false,
  settings_changed_at timestamptz not null,
  authenticated_at timestamptz,
  created_at timestamptz not null,
  unique (broker_id, account),
  -- A paper or simulated account cannot reach a live broker, whatever the code does.
  foreign key (broker_id, broker_environment) references broker (id, environment),
  check ((kind = 0) = (broker_environment = 'live'))
);
create index account_person on account (person_id);
create index account_number on account (account);
create index account_site on account (site_id);

-- One strategy autotraded in one account, from a StartAutotrade to its StopAutotrade.
create table setup (
  id bigint generated always as identity primary key,
  account_id bigint not null references account,
  strategy_id bigint not null references strategy,
  scaling_percentage integer not null check (scaling_percentage between 1 and 1000),
  stocks_enabled boolean not null,
  stocks_long boolean not null,
  stocks_short boolean not null,
  max_stocks_dollars integer check (max_stocks_dollars >= 0),
  options_enabled boolean not null,
  options_long boolean not null,
  options_short boolean not null,
  min_options integer not null default 0 check (min_options >= 0),
  max_options integer check (max_options >= 0),
  futures_enabled boolean not null,
  futures_long boolean not null,
  futures_short boolean not null,
  min_futures integer not null default 0 check (min_futures >= 0),
  max_futures integer check (max_futures >= 0),
  forex_enabled boolean not null,
  forex_long boolean not null,
  forex_short boolean not null,
  forex_lot_size integer check (forex_lot_size > 0),
  min_forex integer not null default 0 check (min_forex >= 0),
  max_forex integer check (max_forex >= 0),
  closing_orders_only boolean not null default false,
  chase_filled boolean not null default true, -- a copy left behind by its signal becomes a market order
  joins_positions boolean not null,
  is_confirmation_needed boolean not null default false,
  virtual_limit_orders_enabled boolean not null default false,
  trade_stocks_as_cfd boolean not null default false,
  -- May AutoSync open what is missing, per class and region; and when a group was last in step.
  will_sync_stocks_usa boolean not null default false,
  will_sync_stocks_europe boolean not null default false,
  will_sync_options_usa boolean not null default false,
  will_sync_options_europe boolean not null default false,
  will_sync_futures_usa boolean not null default false,
  will_sync_futures_europe boolean not null default false,
  will_sync_futures_asia boolean not null default false,
  will_sync_forex boolean not null default false,
  last_sync_stocks_usa timestamptz,
  last_sync_stocks_europe timestamptz,
  last_sync_options_usa timestamptz,
  last_sync_options_europe timestamptz,
  last_sync_futures_usa timestamptz,
  last_sync_futures_europe timestamptz,
  last_sync_futures_asia timestamptz,
  last_sync_forex timestamptz,
  auto_stop_loss_dollars bigint not null default 0 check (auto_stop_loss_dollars >= 0),
  joined_version bigint not null, -- the strategy's membership version that this start made
  left_version bigint, -- and the one its stop made
  fence bigint not null default 1, -- raised by a stop; an opening order is sent only under the fence it was planned with
  started_at timestamptz not null,
  changed_at timestamptz not null,
  stopped_at timestamptz,
  positions_left_open boolean,
  closed_at timestamptz, -- when what a stopped setup held was found closed
  xid xid8 not null default pg_current_xact_id(),
  check ((left_version is null) = (stopped_at is null))
);
create unique index setup_live on setup (account_id, strategy_id) where stopped_at is null;
create index setup_strategy on setup (strategy_id, id);
create index setup_account on setup (account_id, id);
create index setup_closing on setup (id)
  where stopped_at is not null and not positions_left_open and closed_at is null;

-- Symbols that a setup leaves alone until the strategy is flat in them or its side changes.
create table setup_exclusion (
  setup_id bigint not null references setup,
  instrument_id bigint not null references instrument,
  sign smallint not null check (sign in (-1, 1)), -- the strategy's side when it was excluded
  reason text not null,
  excluded_at timestamptz not null,
  primary key (setup_id, instrument_id)
);

-- An order in a brokerage account. The row is its own outbox: an action is pending until the broker answered it.
-- Its client order id is a function of (setup, source, revision), so the unique key below is the guard against
-- sending twice. No foreign key on signal and setup: the fan-out writes these rows by the ten thousand and has
-- just read and locked both.
create table account_order (
  account_id bigint not null references account,
  id bigint generated always as identity,
  broker_id integer not null,
  setup_id bigint not null,
  strategy_id bigint not null,
  -- S copy of a signal, Y AutoSync correction, M manual exit, L auto stop loss, X closing of a stopped setup.
  source text not null default 'S' check (source in ('S', 'Y', 'M', 'L', 'X')),
  source_id bigint not null, -- the signal of a copy, otherwise the number of what asked for the order
  revision integer not null default 0,
  instrument_id bigint not null,
  signal_type smallint not null default 1 check (signal_type in (1, 4, 5, 6)),
  side side not null,
  ord_type ord_type not null,
  time_in_force time_in_force not null,
  position_effect position_effect not null,
  order_qty quantity not null check (order_qty > 0),
  limit_px price,
  stop_px price,
  status ord_status not null default 'A',
  cum_qty quantity not null default 0 check (cum_qty >= 0),
  avg_px price,
  -- Quantity times price over what cum_qty counts, never rounded.
  filled_value numeric not null default 0 check (filled_value > '-Infinity' and filled_value < 'Infinity'),
  is_acknowledged boolean not null default false, -- the broker has accepted it at least once
  signal_filled_before quantity not null default 0, -- the signal's filled quantity when the copy was made
  -- A replacement shows the totals of its chain; of these the broker's own order does not know what was
  -- executed by orders that had ended before (carried_qty).
  replaces_order_id bigint,
  carried_qty quantity not null default 0,
  posted_at timestamptz not null,
  ended_at timestamptz,
  chase_at timestamptz, -- when the grace of a copy whose signal has filled runs out
  pending_action text check (pending_action in ('new', 'cancel', 'replace')),
  attempts integer not null default 0,
  claimed_until timestamptz, -- database clock; a sender that died loses its claim then
  claim_fence bigint,
  unknown_at timestamptz, -- since when nobody knows whether the broker has it
  reject_text text,
  info text,
  -- What its quantity was decided from.
  reason text,
  strategy_qty quantity not null,
  scaling_percentage integer not null,
  limit_value quantity,
  held_qty quantity not null,
  reference_px price,
  setup_fence bigint not null,
  xid xid8 not null default pg_current_xact_id(),
  primary key (account_id, id),
  unique (source_id, setup_id, source, revision)
);
create index account_order_live on account_order (setup_id, instrument_id) where status in ('A', '0', '1', '6', 'E');
create index account_order_pending on account_order (broker_id, account_id, id) where pending_action is not null;
create index account_order_chase on account_order (chase_at) where chase_at is not null;
create index account_order_unknown on account_order (account_id, instrument_id) where unknown_at is not null;
create index account_order_replaces on account_order (account_id, replaces_order_id)
  where replaces_order_id is not null;

-- A follower that gets no order from a signal, and why. Written like the orders, hence without foreign keys.
create table account_skip (
  signal_id bigint not null,
  setup_id bigint not null,
  account_id bigint not null,
  code text not null,
  strategy_qty quantity not null,
  scaling_percentage integer not null,
  limit_value quantity,
  held_qty quantity not null,
  reference_px price,
  skipped_at timestamptz not null,
  primary key (signal_id, setup_id)
);

-- What a broker reported, as it arrived; a repeat is dropped by the key. Applied in batches.
create table broker_report (
  id bigint generated always as identity primary key,
  broker_id integer not null references broker,
  report_key text not null, -- exec id of a fill, otherwise the broker's id of the answer
  account_id bigint not null references account,
  client_order_id text,
  -- cancelUnknown: the broker does not have the order that was to be canceled (FIX CxlRejReason 102 = 1).
  kind text not null check (kind in ('ack', 'fill', 'bust', 'cancel', 'reject', 'cancelReject', 'cancelUnknown',
    'replace', 'replaceReject', 'expire')),
  symbol text not null,
  side side,
  quantity quantity,
  px price,
  text text,
  occurred_at timestamptz not null,
  applied_at timestamptz,
  unique (broker_id, account_id, report_key)
);
create index broker_report_unapplied on broker_report (account_id, id) where applied_at is null;

-- Every execution of an account, once. A foreign one has no order.
create table execution (
  broker_id integer not null references broker,
  account_id bigint not null references account,
  exec_id text not null,
  order_id bigint,
  setup_id bigint,
  instrument_id bigint not null references instrument,
  side side not null,
  quantity quantity not null check (quantity > 0),
  px price not null,
  commission amount not null default 0,
  cash_change amount not null, -- what it did to the account's cash, commission included
  executed_at timestamptz not null,
  xid xid8 not null default pg_current_xact_id(),
  primary key (broker_id, account_id, exec_id)
);
create index execution_order on execution (account_id, order_id);

-- What each setup holds: the account's sub-ledgers. What a stopped setup left open is no longer the platform's.
create table account_position (
  setup_id bigint not null references setup,
  instrument_id bigint not null references instrument,
  account_id bigint not null references account,
  strategy_id bigint not null references strategy,
  quantity quantity not null,
  avg_px price,
  opened_at timestamptz,
  primary key (setup_id, instrument_id),
  check ((quantity = 0) = (avg_px is null))
);
create index account_position_account on account_position (account_id);

-- The paper broker's own book: another party that happens to live in the same database. -----------------------

-- An order's quantities are its own: a replacement starts with what was left, complete when nothing was.

create table paper_order (
  account_id bigint not null references account,
  client_order_id text not null,
  id bigint generated always as identity unique,
  broker_id integer not null references broker,
  instrument_id bigint not null references instrument,
  side side not null,
  ord_type ord_type not null,
  time_in_force time_in_force not null,
  position_effect position_effect not null,
  order_qty quantity not null check (order_qty >= 0),
  limit_px price,
  stop_px price,
  status ord_status not null,
  is_triggered boolean not null default false,
  cum_qty quantity not null default 0,
  fills integer not null default 0, -- by which its executions are numbered
  carried_qty quantity not null default 0, -- executed by the orders that it replaced
  fill_cap quantity, -- a script lets it trade no more than this
  reject_text text,
  accepted_at timestamptz not null,
  expires_at timestamptz,
  needs_match boolean not null default true,
  primary key (account_id, client_order_id)
);
create index paper_order_working on paper_order (instrument_id) where status in ('0', '1');
create index paper_order_needs_match on paper_order (accepted_at) where needs_match;
create index paper_order_expires on paper_order (expires_at)
  where expires_at is not null and status in ('0', '1');

create table paper_report (
  id bigint generated always as identity primary key,
  broker_id integer not null references broker,
  report_key text not null,
  account_id bigint not null references account,
  client_order_id text,
  kind text not null,
  symbol text not null,
  side side,
  quantity quantity,
  px price,
  text text,
  occurred_at timestamptz not null,
  is_delivered boolean not null default false,
  unique (broker_id, account_id, report_key)
);
create index paper_report_undelivered on paper_report (id) where not is_delivered;

-- What joins the processes ----------------------------------------------------------------------------------

-- One answer per key and idempotency key, written in the effect's transaction.
create table idempotency (
  access_key_id bigint not null references access_key,
  idempotency_key text not null,
  operation text not null,
  fingerprint bytea not null,
  status smallint,
  answer text,
  headers jsonb,
  created_at timestamptz not null,
  primary key (access_key_id, idempotency_key)
);
create index idempotency_age on idempotency (created_at);

-- Who does a job that only one may do. The fence rises with every change of holder and guards each write.
create table lease (
  name text primary key,
  holder text not null,
  fence bigint not null,
  expires_at timestamptz not null -- database clock
);

-- Used-up calls per window, shared by all processes; losing it on a crash costs nobody anything.
create unlogged table rate_window (
  subject text not null, -- key:<id> or address:<ip>
  window_seconds integer not null,
  started_at timestamptz not null,
  used integer not null,
  primary key (subject, window_seconds)
);
create index rate_window_age on rate_window (started_at);

-- Switches of the platform: maintenance, noOpeningOrders, seeding.
create table platform_switch (
  name text primary key,
  value jsonb not null,
  changed_at timestamptz not null
);

-- What an operator must look at. One row per thing that happened, however often it is seen.
create table incident (
  id bigint generated always as identity primary key,
  incident_key text not null unique,
  kind text not null,
  detail jsonb not null,
  occurred_at timestamptz not null
);
