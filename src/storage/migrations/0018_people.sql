-- People beyond their names: addresses, passwords, confirmed e-mail addresses, sign-ins, watch lists, and the mail
-- that waits to be sent. Sites say who supports their people, and what their admins may do.

alter table site
  add support_company_name text,
  add support_site_url text,
  add support_email text;

alter table person
  add division_code text, -- as it was given: US-NY or NY
  add city text,
  add street text,
  add street2 text,
  add zip_code text,
  add company text,
  add phone text, -- +12125550123
  add is_phone_verified boolean not null default false,
  add password_hash text, -- argon2id with its parameters; null: nobody can sign in with a password
  add email_validated_at timestamptz,
  add last_logged_in_at timestamptz,
  add last_ip text,
  add icon text, -- a data: address; null: one is drawn from the name
  -- What an admin of a white-label site may do there; null: everything.
  add permissions text[] check (permissions <@ array['catalog', 'members', 'kyc', 'reports', 'billing']);
create index person_phone on person (phone) where phone is not null;

-- A link in a message. Only the hash of its token is stored.
create table email_confirmation (
  id bigint generated always as identity primary key,
  person_id bigint not null references person,
  email text not null, -- the address that the link was sent to
  token_hash bytea not null unique,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  confirmed_at timestamptz
);
create index email_confirmation_person on email_confirmation (person_id);

-- The first dashboard session of a person waits for its sign-in; its anti-forgery token is stored as a hash.
create table dashboard_session (
  id bigint generated always as identity primary key,
  person_id bigint not null references person,
  csrf_hash bytea not null,
  created_at timestamptz not null
);
create index dashboard_session_person on dashboard_session (person_id);

-- Every attempt to sign in as somebody: at the platform, or handed over by a partner site.
create table sign_in (
  id bigint generated always as identity primary key,
  site_id bigint not null references site, -- the person's
  person_id bigint not null references person,
  kind text not null check (kind in ('login', 'sso')),
  outcome text not null check (outcome in ('success', 'failure')),
  ip_address text,
  occurred_at timestamptz not null
);
create index sign_in_site on sign_in (site_id, occurred_at);

-- Messages on their way; a sent one is deleted, and with it what only its reader may know.
create table mail (
  id bigint generated always as identity primary key,
  kind text not null check (kind in ('confirm-email')),
  address text not null,
  facts jsonb not null, -- what the words of this kind need
  created_at timestamptz not null,
  attempts integer not null default 0,
  next_try_at timestamptz not null,
  claimed_until timestamptz -- by the database's clock
);
create index mail_due on mail (next_try_at);

create table watch_list (
  id bigint generated always as identity primary key,
  person_id bigint not null references person,
  name text not null,
  created_at timestamptz not null,
  xid xid8 not null default pg_current_xact_id(),
  unique (person_id, name)
);

create table watch_list_member (
  id bigint generated always as identity primary key,
  watch_list_id bigint not null references watch_list on delete cascade,
  strategy_id bigint not null references strategy,
  added_at timestamptz not null,
  xid xid8 not null default pg_current_xact_id(),
  unique (watch_list_id, strategy_id)
);
create index watch_list_member_strategy on watch_list_member (strategy_id);

-- Know your customer. What identifies a person is sealed with a key of its own, which is itself sealed with a key
-- that is not in the database; replacing the data destroys that key. Only the hash of a user token is stored.
create table kyc (
  id bigint generated always as identity primary key,
  person_id bigint not null unique references person,
  token_hash bytea unique,
  redirected_times integer not null default 0, -- how often the person was sent to KYC with a new token
  created_at timestamptz not null,
  started_at timestamptz,
  finished_at timestamptz,
  approved_at timestamptz,
  score bigint
);

create table kyc_info (
  id bigint generated always as identity primary key,
  person_id bigint not null unique references person,
  sealed_key bytea not null,
  fields bytea not null,
  photo_1 bytea,
  photo_2 bytea,
  created_at timestamptz not null
);

-- Who saw what of whom; rows are only ever added.
create table kyc_read (
  id bigint generated always as identity primary key,
  site_id bigint not null references site, -- the person's
  person_id bigint not null references person,
  reader_person_id bigint not null references person,
  access_key_id bigint not null references access_key,
  operation text not null,
  request_id text not null,
  occurred_at timestamptz not null
);
create index kyc_read_person on kyc_read (person_id, id);
