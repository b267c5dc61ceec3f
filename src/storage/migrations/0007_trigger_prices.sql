-- Orders at work by what sets them off: at once, or a price of their instrument that reaches theirs. A quote finds
-- the orders that it reaches, however many rest beyond it.

create index signal_trigger on signal (
  instrument_id,
  (case when ord_type = '1' or is_triggered then 'now' else ord_type || side end),
  (coalesce(limit_px, stop_px))
) where status in ('0', '1', '6', 'E');
drop index signal_working;
