-- Orders of holders who confirm them first: no broker hears of one before its holder said yes.

alter table account_order
  -- Until when the holder may confirm; null where nobody is asked.
  add confirm_by timestamptz,
  add confirmed_at timestamptz check (confirmed_at < confirm_by);

create index account_order_unconfirmed on account_order (confirm_by)
  where confirm_by is not null and confirmed_at is null and pending_action is not null;
