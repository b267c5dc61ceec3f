-- What a lost dispute takes of a surplus stands apart from what is refunded of it: of refunds all are told together, of a
-- dispute its own amount, so the one says nothing of the other.
alter table ledger_transfer
  drop constraint ledger_transfer_reason_check,
  drop constraint ledger_transfer_check1,
  drop constraint ledger_transfer_check2,
  add check (reason in
    ('payment', 'ownerShare', 'siteMarkup', 'platformShare', 'surplus', 'surplusReturned', 'surplusLost')),
  add check ((reason in ('surplus', 'surplusReturned', 'surplusLost')) = (payment_ref is not null)),
  add check ((reason in ('surplusReturned', 'surplusLost')) = (event_ref is not null));
