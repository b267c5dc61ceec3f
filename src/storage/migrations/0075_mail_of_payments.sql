-- People are told when a payment of theirs has failed.

alter table mail drop constraint mail_kind_check,
  add check (kind in ('confirm-email', 'autosync-off', 'payment-failed'));
