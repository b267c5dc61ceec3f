-- What works at the paper broker is asked of all its accounts every minute: without this, of all they ever ordered.
create index paper_order_account_working on paper_order (account_id) where status in ('0', '1');
