-- What accounts need beside trading: who brought them, what their broker asks for, whose approval they have, and
-- entries in their cash that no execution made.

alter table broker
  -- Every account must be enabled at the broker before anything is sent; the operator notes it.
  add column needs_authorization boolean not null default false,
  -- Signs in as its customer.
  add column needs_credentials boolean not null default false;

alter table account
  add column broker_user_id text,
  add column introducing_broker_id bigint,
  add column introducing_broker text,
  add column sales_rep_id bigint,
  add column sales_rep text,
  add column broker_authorization text not null default 'NotRequired'
    check (broker_authorization in ('NotRequired', 'Pending', 'Authorized', 'Revoked')),
  add column xid xid8 not null default pg_current_xact_id();

-- What the account was worth when the setup began, in its currency; returns are measured by it.
alter table setup add column started_equity amount;

-- A password for a broker, sealed with a key of its own, which is wrapped by a key outside the database.
create table account_credential (
  account_id bigint primary key references account,
  key_id text not null,
  wrapped_key bytea not null,
  sealed bytea not null,
  changed_at timestamptz not null
);

-- An account that a site's admin has approved; it may be approved before it is connected.
create table approved_account (
  id bigint generated always as identity primary key,
  connection_type smallint not null check (connection_type in (0, 1)), -- 0 autotrade, 1 broker transmit
  person_id bigint not null references person,
  broker_id integer not null references broker,
  account text not null,
  is_cfd boolean not null default false,
  added_by_person_id bigint not null references person,
  added_at timestamptz not null,
  deleted_at timestamptz,
  unique (connection_type, broker_id, account)
);
create index approved_account_person on approved_account (person_id);

-- Changes of an account's cash beside its executions.
create table account_entry (
  id bigint generated always as identity primary key,
  account_id bigint not null references account,
  setup_id bigint references setup,
  kind text not null check (kind in ('reset')),
  cash_change amount not null,
  booked_at timestamptz not null
);
create index account_entry_account on account_entry (account_id);

-- What a customer is asked for before a white-label site's call takes effect. A stop needs nobody's consent and
-- is written as completed, so that what it replaces can name it.
create table approval_request (
  id uuid primary key,
  account_id bigint not null references account,
  strategy_id bigint not null references strategy,
  action text not null check (action in ('start', 'stop')),
  status text not null check (status in
    ('PendingCustomer', 'Processing', 'PendingBroker', 'Completed', 'Failed', 'Expired', 'Superseded')),
  choices jsonb not null,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  ended_at timestamptz,
  failure text,
  xid xid8 not null default pg_current_xact_id(),
  superseded_by uuid references approval_request,
  check ((status in ('PendingCustomer', 'Processing', 'PendingBroker')) = (ended_at is null)),
  check ((status = 'Superseded') = (superseded_by is not null))
);
create unique index approval_request_live on approval_request (account_id, strategy_id)
  where status in ('PendingCustomer', 'Processing', 'PendingBroker');
create index approval_request_expires on approval_request (expires_at) where status = 'PendingCustomer';
create index approval_request_superseded_by on approval_request (superseded_by) where superseded_by is not null;
