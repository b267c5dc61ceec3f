-- The next page of a listing asks for rows that were committed after the pages before it. Without an index on the
-- inserting transaction that would read every row the scan has passed: the last of a thousand pages the most.
create index signal_xid on signal (xid);
