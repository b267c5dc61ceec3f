-- The earliest price of an instrument that came when its day may have been closed, until those who hold the instrument are
-- told. Telling thousands takes its time, in which the market goes on.
alter table quote add column late_at timestamptz;
create index quote_late on quote (instrument_id) where late_at is not null;
