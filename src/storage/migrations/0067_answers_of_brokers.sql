-- When a broker last said what its accounts hold. It was asked a minute before it is due again.
alter table reconciliation add answered_at timestamptz;
update reconciliation set answered_at = due_at - interval '1 minute';
