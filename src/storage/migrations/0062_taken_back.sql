-- Whether an execution was taken back is asked of every one that is reported: without this, of the whole account for each.
create index execution_busts on execution (account_id, busts) where busts is not null;
