-- A page of a listing looks for what was inserted since the pages before it.
create index account_xid on account (xid);
create index instrument_xid on instrument (xid);
create index ledger_transfer_xid on ledger_transfer (xid);
create index person_xid on person (xid);
create index setup_xid on setup (xid);
create index strategy_xid on strategy (xid);
create index subscription_xid on subscription (xid);
create index watch_list_xid on watch_list (xid);
create index watch_list_member_xid on watch_list_member (xid);
-- A whole platform mirrors into this table: in the hour of a cursor a million orders may come, each in three versions. The
-- index tells those above what the cursor has passed from those below, with no look at their rows.
create index account_order_xid on account_order (xid, id);

-- Where one owner has nearly all strategies, or one subscription nearly all charges, a sample says that any owner has
-- thousands: for each person of a page all strategies were read, and for each subscription all charges.
alter table strategy alter column owner_person_id set (n_distinct = -0.5);
alter table charge alter column subscription_id set (n_distinct = -0.1);
analyze strategy (owner_person_id);
analyze charge (subscription_id);
