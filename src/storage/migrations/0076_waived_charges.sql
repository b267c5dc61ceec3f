-- A charge may be let go: it is neither paid nor owed.

alter table charge drop constraint charge_status_check,
  add check (status in ('due', 'paid', 'failed', 'waived'));
