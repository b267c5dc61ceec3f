-- A family: a strategy and variants of it that follow its orders by themselves, scaled and of some classes only.
create table variant (
  strategy_id bigint primary key references strategy,
  parent_id bigint not null references strategy check (parent_id <> strategy_id),
  -- Percent of the parent's quantities.
  scaling_percentage smallint not null check (scaling_percentage between 1 and 1000),
  security_types text[] not null check (
    cardinality(security_types) > 0 and security_types <@ array['CS', 'FUT', 'OPT', 'FOR']),
  created_at timestamptz not null,
  -- It goes on as a strategy of its own.
  ended_at timestamptz,
  -- When time alone makes it worth another look.
  look_at timestamptz
);
create index variant_parent on variant (parent_id);
create index variant_look on variant (look_at) where look_at is not null;

-- Something has happened to a variant or its parent. Appended, so that nobody waits for anybody.
create table variant_mark (
  id bigint generated always as identity primary key,
  variant_id bigint not null references variant
);
create index variant_mark_variant on variant_mark (variant_id);

-- The orders that a variant has made by itself: copies of the parent's signals, each revision once, and corrections.
create table variant_order (
  signal_id bigint primary key references signal,
  variant_id bigint not null references variant,
  copied_signal_id bigint references signal,
  revision int not null,
  -- What the copied signal had filled when its first copy was made.
  filled_before quantity not null,
  unique (variant_id, copied_signal_id, revision)
);
