-- What brokers say of accounts when they are asked, held against what we have booked.

-- When each broker is asked again.
create table reconciliation (
  broker_id integer primary key references broker,
  due_at timestamptz not null
);

-- What a broker says of an order and no report has told; confirmed once it has lasted.
create table order_gap (
  account_id bigint not null,
  order_id bigint not null,
  told text not null,
  since timestamptz not null,
  confirmed_at timestamptz,
  primary key (account_id, order_id),
  foreign key (account_id, order_id) references account_order (account_id, id)
);
create index order_gap_open on order_gap (since) where confirmed_at is null;

-- What a broker holds beyond what is booked here and what was accepted as the owner's own; confirmed once it has lasted.
create table position_gap (
  account_id bigint not null references account,
  symbol text not null,
  difference quantity not null,
  accepted quantity not null default 0,
  since timestamptz not null,
  confirmed_at timestamptz,
  primary key (account_id, symbol)
);
create index position_gap_open on position_gap (since) where confirmed_at is null and difference <> 0;

-- Who switches AutoSync on again accepts what else the account holds.
create function account_accepts() returns trigger language plpgsql as $$
begin
  update position_gap set accepted = accepted + difference, difference = 0, confirmed_at = null
  where account_id = new.id and confirmed_at is not null;
  return new;
end $$;
create trigger account_accepts after update of is_sync_enabled on account for each row
  when (new.is_sync_enabled and not old.is_sync_enabled) execute function account_accepts();

-- A fill that no report told of, booked from the broker's total until its own report comes.
alter table execution add column is_inferred boolean not null default false;
create index execution_inferred on execution (account_id, order_id) where is_inferred;
create index execution_own on execution (account_id) where setup_id is null;

-- A total is what the broker says it has executed of an order, and at what average.
alter table broker_report drop constraint broker_report_kind_check;
alter table broker_report add constraint broker_report_kind_check check (kind in ('ack', 'fill', 'bust', 'cancel',
  'reject', 'cancelReject', 'cancelUnknown', 'replace', 'replaceReject', 'expire', 'total',
  'delink', 'marginCall', 'patternDayTrader', 'restriction'));

create index paper_report_account on paper_report (account_id, client_order_id);
