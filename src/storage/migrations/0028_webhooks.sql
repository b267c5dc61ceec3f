-- Who is told when a request for approval has ended. An endpoint belongs to a site; the newest two secrets sign.
create table webhook_endpoint (
  id bigint generated always as identity primary key,
  site_id bigint not null references site,
  url text not null,
  event_types text[] not null check (cardinality(event_types) > 0 and event_types <@ array[
    'approval.completed', 'approval.failed', 'approval.expired', 'approval.superseded']),
  created_at timestamptz not null,
  disabled_at timestamptz,
  disabled_reason text,
  failures integer not null default 0, -- tries that failed one after the other
  rests_until timestamptz, -- after several failures nothing is sent for a while
  delivered_at timestamptz,
  check ((disabled_at is null) = (disabled_reason is null))
);
create index webhook_endpoint_site on webhook_endpoint (site_id);

create table webhook_secret (
  id uuid primary key,
  endpoint_id bigint not null references webhook_endpoint,
  key_id text not null,
  wrapped_key bytea not null,
  sealed bytea not null,
  created_at timestamptz not null
);
create index webhook_secret_endpoint on webhook_secret (endpoint_id, created_at desc);

-- What an endpoint is told, once: its id and its bytes are the same on every try.
create table webhook_delivery (
  id uuid primary key default gen_random_uuid(),
  endpoint_id bigint not null references webhook_endpoint,
  approval_request_id uuid not null references approval_request,
  event_type text not null,
  body text not null,
  created_at timestamptz not null,
  attempts integer not null default 0,
  next_try_at timestamptz, -- null: delivered, or given up
  claimed_until timestamptz, -- by the database's clock: a worker is sending it
  delivered_at timestamptz,
  unique (endpoint_id, approval_request_id),
  check (delivered_at is null or next_try_at is null)
);
create index webhook_delivery_due on webhook_delivery (next_try_at) where next_try_at is not null;
create index webhook_delivery_request on webhook_delivery (approval_request_id);

create table webhook_attempt (
  id bigint generated always as identity primary key,
  delivery_id uuid not null references webhook_delivery,
  attempted_at timestamptz not null,
  signature text not null,
  status integer, -- null: no answer came
  failure text
);
create index webhook_attempt_delivery on webhook_attempt (delivery_id);

-- A request is its own outbox: it has ended and nobody has been told.
alter table approval_request add column announced_at timestamptz;
update approval_request set announced_at = ended_at;
create index approval_request_unannounced on approval_request (ended_at)
  where ended_at is not null and announced_at is null;
