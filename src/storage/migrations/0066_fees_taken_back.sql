-- What other setups of the account and strategy have gained or lost that is counted with this one: of one that has
-- stopped a trade may be taken back after its last settlement. Its own settlement then notes that it was counted.
alter table fee_settlement add column carried amount not null default 0;

-- Until now this was counted when the next setup was settled for the first time, and noted nowhere. It is found again:
-- by so much that one began with another shortfall than the one before it had been left with.
insert into fee_settlement (setup_id, settled_at, subscription_id, percent, capital, gain, fee, charged, units, price,
  mark, fees)
select e.setup_id, n.settled_at, n.subscription_id, 0, e.capital, e.gain + counted.since, 0, 0, e.units,
  e.price + counted.since / e.units, greatest(e.mark, e.price + counted.since / e.units), e.fees
from (select distinct on (setup_id) * from fee_settlement order by setup_id, settled_at) n
join setup next on next.id = n.setup_id
join lateral (
  select f.*, setup.positions_left_open, setup.account_id
  from fee_settlement f join setup on setup.id = f.setup_id
  where setup.account_id = next.account_id and setup.strategy_id = next.strategy_id and setup.id < next.id
    and f.settled_at <= n.settled_at
  order by f.settled_at desc, setup.id desc limit 1) e on e.settled_at < n.settled_at
cross join lateral (
  select greatest(0, (e.mark - e.price) * e.units) as before, case when n.mark > n.price then (n.mark - 1) * n.capital
    when n.percent > 0 then n.gain - n.fee * 100 / n.percent end as after) shortfall
cross join lateral (
  -- Since the one before was settled; what it still holds, or held on after its stop, was not counted.
  select case when exists (select from account_position p where p.setup_id = e.setup_id and p.quantity <> 0)
      or e.positions_left_open and exists (
        select from execution x where x.account_id = e.account_id and x.setup_id = e.setup_id
          and x.order_id is null and x.executed_at > e.settled_at) then 0
    else (select coalesce(sum(x.cash_change), 0) from execution x
        where x.account_id = e.account_id and x.setup_id = e.setup_id)
      + (select coalesce(sum(j.cash_change), 0) from account_adjustment j
        where j.account_id = e.account_id and j.setup_id = e.setup_id)
      + (select coalesce(sum(c.cash_change), 0) from account_entry c
        where c.account_id = e.account_id and c.setup_id = e.setup_id) - e.gain end as total) moved
cross join lateral (
  select case
    -- Of gains that passed free nobody can say any more what they made up for: nothing is counted once more.
    when shortfall.after is null then moved.total
    -- More than it was short of was given back, which passed free.
    when shortfall.after < 1 then greatest(shortfall.before, moved.total)
    -- Less than one is the rounding of a fee.
    when abs(shortfall.before - shortfall.after) < 1 then 0
    when abs(shortfall.before - shortfall.after - moved.total) < 1 then moved.total
    else shortfall.before - shortfall.after end as since) counted
where counted.since <> 0
  and not exists (select from fee_settlement f where f.setup_id = e.setup_id and f.settled_at > e.settled_at);
