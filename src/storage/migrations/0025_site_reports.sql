-- What a white-label site asks about its past: executions by their time, of which reports want the latest only.
-- They come nearly in order, so a few bytes for each range of rows are enough.
create index execution_time on execution using brin (executed_at);
