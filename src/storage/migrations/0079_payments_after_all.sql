-- The last change of plans that had been asked for when its holder chose how to go on: paid after that, it leaves the choice.
alter table subscription add column chosen_after_charge_id bigint;

-- A fee on gains that a wrong price made is let go with its settlement: what is settled next goes on from the one before.
alter table fee_settlement add column is_void boolean not null default false;

-- Money that came beside what was asked for, such as a second payment, stands apart in the ledger until it is given back.
-- Its transfers name the payment, and a return what told of it; nobody passes it on. What a lost dispute takes stands apart
-- from what is refunded: of refunds all are told together, of a dispute its own amount, so the one says nothing of the other.
alter table ledger_account drop constraint ledger_account_kind_check,
  add check (kind in ('customer', 'owner', 'site', 'platform', 'provider', 'surplus'));
alter table ledger_transfer add column payment_ref text, add column event_ref text,
  drop constraint ledger_transfer_reason_check,
  add check (reason in
    ('payment', 'ownerShare', 'siteMarkup', 'platformShare', 'surplus', 'surplusReturned', 'surplusLost')),
  add check ((reason in ('surplus', 'surplusReturned', 'surplusLost')) = (payment_ref is not null)),
  add check ((reason in ('surplusReturned', 'surplusLost')) = (event_ref is not null)),
  drop constraint ledger_transfer_charge_id_reason_key,
  add constraint ledger_transfer_once unique nulls not distinct (charge_id, reason, payment_ref, event_ref);
create index ledger_transfer_surplus on ledger_transfer (payment_ref) where payment_ref is not null;

create or replace function charge_is_settled() returns trigger language plpgsql as $$
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
  from charge left join ledger_transfer t on t.charge_id = charge.id and t.payment_ref is null
  where charge.id = wanted group by charge.id;
  if unsettled then
    raise exception 'charge % is not settled to the cent', wanted using errcode = 'check_violation';
  end if;
  return null;
end $$;
