-- A whole platform mirrors into this table: in the hour of a cursor a million orders may come, each in three versions. The
-- index tells those above what the cursor has passed from those below, with no look at their rows.
drop index account_order_xid;
create index account_order_xid on account_order (xid, id);
