-- Desired positions, trades from flat to flat, and pages of instruments.

alter table instrument add column xid xid8 not null default pg_current_xact_id();

-- A market order that was made to reach desired positions: the same wish again finds it waiting.
alter table signal add column from_desired boolean not null default false;

-- From flat to flat. While it is open it keeps what its fills add up to and its worst moment; turnover, result and
-- averages are never rounded before it closes.
create table trade (
  id bigint generated always as identity primary key,
  strategy_id bigint not null references strategy,
  instrument_id bigint not null references instrument,
  signal_id bigint not null references signal, -- whose fill opened it
  open_side side not null,
  opened_at timestamptz not null,
  changed_at timestamptz not null, -- its last fill
  closed_at timestamptz,
  opened_qty quantity not null check (opened_qty > 0),
  closed_qty quantity not null check (closed_qty between 0 and opened_qty),
  -- Price times quantity of all opening and of all closing fills.
  open_turnover numeric not null check (open_turnover > '-Infinity' and open_turnover < 'Infinity'),
  close_turnover numeric not null check (close_turnover > '-Infinity' and close_turnover < 'Infinity'),
  commission amount not null,
  realised numeric not null check (realised > '-Infinity' and realised < 'Infinity'),
  -- Average price and average cost of a unit in account currency of what is held.
  avg_px numeric check (avg_px > '-Infinity' and avg_px < 'Infinity'),
  avg_cost numeric check (avg_cost > '-Infinity' and avg_cost < 'Infinity'),
  fx factor not null, -- of its last fill
  profit_loss amount, -- net of commission, to the cent
  -- The mark at which it stood lowest, and what was held and worth then; null while it was never under water.
  worst_result amount check (worst_result < 0),
  worst_px price,
  worst_at timestamptz,
  worst_entry_px price,
  worst_qty quantity,
  worst_equity amount,
  watch_px price, -- a quote whose bid, for shorts its ask, is not beyond it cannot be a new worst mark
  check ((closed_at is null) = (closed_qty < opened_qty)),
  check ((closed_at is null) = (profit_loss is null)),
  check ((closed_at is null) = (avg_px is not null) and (avg_px is null) = (avg_cost is null)),
  check ((closed_at is null) = (watch_px is not null)),
  check (num_nulls(worst_result, worst_px, worst_at, worst_entry_px, worst_qty, worst_equity) in (0, 6))
);
create unique index trade_open on trade (strategy_id, instrument_id) where closed_at is null;
create index trade_closed on trade (strategy_id, closed_at desc, id desc) where closed_at is not null;
create index trade_watch on trade (instrument_id, open_side, watch_px) where closed_at is null;

alter table fill add column trade_id bigint references trade;
create index fill_trade on fill (trade_id);

-- Trades of the fills that are there already. How far they were under water nobody has noted.
create temporary table known_trade on commit drop as
with stepped as (
  select f.*, case f.side when '1' then f.quantity else -f.quantity end as change,
    sum(case f.side when '1' then f.quantity else -f.quantity end)
      over (partition by strategy_id, instrument_id order by id) as held
  from fill f
), placed as (
  select *, count(*) filter (where held = 0) over (partition by strategy_id, instrument_id order by id
    rows between unbounded preceding and 1 preceding) as place
  from stepped
)
select *, first_value(side) over (partition by strategy_id, instrument_id, place order by id) as open_side,
  first_value(id) over (partition by strategy_id, instrument_id, place order by id) as first_id
from placed;

with summed as (
  select k.strategy_id, k.instrument_id, k.first_id, k.open_side,
    min(k.filled_at) as opened_at, max(k.filled_at) as changed_at, sum(k.change) as held,
    sum(k.quantity) filter (where k.side = k.open_side) as opened_qty,
    coalesce(sum(k.quantity) filter (where k.side <> k.open_side), 0) as closed_qty,
    sum(k.quantity * k.px) filter (where k.side = k.open_side) as open_turnover,
    coalesce(sum(k.quantity * k.px) filter (where k.side <> k.open_side), 0) as close_turnover,
    sum(k.commission) as commission, sum(k.cash_change + k.commission) as flow, (array_agg(k.fx order by k.id desc))[1] as fx
  from known_trade k group by k.strategy_id, k.instrument_id, k.first_id, k.open_side
)
insert into trade (strategy_id, instrument_id, signal_id, open_side, opened_at, changed_at, closed_at, opened_qty,
  closed_qty, open_turnover, close_turnover, commission, fx, realised, avg_px, avg_cost, profit_loss, watch_px)
select s.strategy_id, s.instrument_id, f.signal_id, s.open_side, s.opened_at, s.changed_at,
  case when s.held = 0 then s.changed_at end, s.opened_qty, s.closed_qty, s.open_turnover, s.close_turnover,
  s.commission, s.fx,
  s.flow + case when i.security_type in ('CS', 'OPT') and s.held <> 0
    then s.held * p.avg_px * i.point_value * s.fx else 0 end,
  case when s.held <> 0 then p.avg_px end, case when s.held <> 0 then p.avg_px * i.point_value * s.fx end,
  case when s.held = 0 then round(s.flow - s.commission, 2) end, case when s.held <> 0 then p.avg_px end
from summed s join fill f on f.id = s.first_id join instrument i on i.id = s.instrument_id
left join position p on p.strategy_id = s.strategy_id and p.instrument_id = s.instrument_id
order by s.first_id;

update fill set trade_id = t.id
from known_trade k join fill opener on opener.id = k.first_id
join trade t on t.strategy_id = k.strategy_id and t.instrument_id = k.instrument_id
  and t.signal_id = opener.signal_id and t.opened_at = opener.filled_at
where fill.id = k.id;
