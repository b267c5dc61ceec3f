-- Orders at work by the way their price is reached: from above (buy limits, sell stops) or from below (sell limits, buy
-- stops). What needs no price is reached from above by any. A quote asks twice instead of once for each kind of order.

drop index signal_trigger;
create index signal_trigger on signal (
  instrument_id,
  (case when ord_type = '1' or is_triggered or (ord_type = '2') = (side = '1') then -1 else 1 end),
  (case when ord_type = '1' or is_triggered then 'Infinity'::numeric else coalesce(limit_px, stop_px) end)
) where status in ('0', '1', '6', 'E');
