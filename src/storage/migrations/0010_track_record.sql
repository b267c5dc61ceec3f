-- The track record: marks by day, what strategies and accounts were worth at the end of each trading day, the index
-- they are held against, and one row of current figures per strategy.

-- A statistic; one that is not defined is null, never NaN or infinite.
create domain figure as double precision check (value > '-Infinity' and value < 'Infinity');

-- The last quote of an instrument on each day before that of its present quote. A day ends at 17:00 in New York.
create table daily_mark (
  instrument_id bigint not null references instrument,
  day date not null,
  bid price not null,
  ask price not null,
  primary key (instrument_id, day)
);

alter table quote add column day date not null default '1970-01-01';
update quote set day = (quoted_at at time zone 'America/New_York' + interval '7 hours')::date;
alter table quote alter column day drop default;

-- A strategy when a trading day ended. Cash and value are not rounded.
create table strategy_day (
  strategy_id bigint not null references strategy,
  day date not null,
  cash amount not null,
  value amount not null, -- cash, stocks and options at their marks, and what futures and forex would realise
  leverage factor,       -- the highest of the day; null where the account was worth nothing
  primary key (strategy_id, day)
);

-- The highest leverage seen at a mark or a fill of a day; a day without positions has no row.
create table strategy_leverage (
  strategy_id bigint not null references strategy,
  day date not null,
  leverage factor not null,
  primary key (strategy_id, day)
);

create table account_day (
  account_id bigint not null references account,
  day date not null,
  cash amount not null,
  value amount not null,
  primary key (account_id, day)
);

-- How far a record is closed. Every fill and every correction touches its row, so that nobody closes a day from
-- books that are just being changed.
create table strategy_record (
  strategy_id bigint primary key references strategy,
  closed_day date,
  stale_from date,                    -- something of this day or later changed after the day had been closed
  next_close_at timestamptz not null, -- when the next day is due, or at once
  last_fill_at timestamptz,
  statistics_due boolean not null default true
);
create index strategy_record_next on strategy_record (next_close_at);
create index strategy_record_statistics on strategy_record (strategy_id) where statistics_due;

create table account_record (
  account_id bigint primary key references account,
  closed_day date,
  stale_from date,
  next_close_at timestamptz not null,
  last_execution_at timestamptz,
  has_own_executions boolean not null default false -- some belong to no setup
);
create index account_record_next on account_record (next_close_at);

create function strategy_begins() returns trigger language plpgsql as $$
begin
  insert into strategy_record (strategy_id, next_close_at) values (new.id, new.started_at);
  return null;
end $$;
create trigger strategy_begins after insert on strategy for each row execute function strategy_begins();

create function account_begins() returns trigger language plpgsql as $$
begin
  insert into account_record (account_id, next_close_at) values (new.id, new.created_at);
  return null;
end $$;
create trigger account_begins after insert on account for each row execute function account_begins();

insert into strategy_record (strategy_id, next_close_at, last_fill_at)
select s.id, s.started_at, (select max(filled_at) from fill f where f.strategy_id = s.id) from strategy s;
insert into account_record (account_id, next_close_at, last_execution_at, has_own_executions)
select a.id, a.created_at, max(e.executed_at), coalesce(bool_or(e.setup_id is null), false)
from account a left join execution e on e.account_id = a.id group by a.id;

-- Closes of the S&P 500.
create table index_close (
  day date primary key,
  close price not null check (close > 0)
);

-- What a strategy may trade, and what it says of itself.
alter table strategy
  add column stocks_enabled boolean not null default true,
  add column options_enabled boolean not null default true,
  add column futures_enabled boolean not null default true,
  add column forex_enabled boolean not null default true,
  add column short_description text,
  add column long_description text;

-- The figures of a strategy as of its last close and its last finished trade. Null is a figure that is not defined.
-- Percentages are numbers like 12.5; ratios and alpha plain numbers.
create table strategy_statistics (
  strategy_id bigint primary key references strategy,
  computed_at timestamptz not null,
  valued_day date not null, -- the last close, or the start
  value amount not null,    -- of that day, in cents
  age_in_days integer not null,
  return_percent figure,
  is_annual boolean not null, -- the return is compounded to a year
  cumulative_percent figure,
  sharpe figure,
  sortino figure,
  calmar figure,
  alpha figure,
  beta figure,
  treynor figure,
  correlation figure,
  index_percent figure,
  percent_above_index figure,
  max_drawdown figure not null,
  max_drawdown_days integer not null,
  max_drawdown_start text,
  max_drawdown_end text,
  months integer not null,
  win_months integer not null,
  win_months_shown integer not null,
  win_months_ratio figure,
  avg_leverage figure,
  max_leverage figure,
  trades integer not null,
  winners integer not null,
  losers integer not null,
  win_percent figure,
  won_amount figure not null,
  lost_amount figure not null,
  average_win figure,
  average_loss figure,
  profit_factor figure,
  average_trade_days figure,
  -- Finished trades of each class.
  stock_trades integer not null,
  option_trades integer not null,
  future_trades integer not null,
  forex_trades integer not null
);
create index strategy_statistics_return on strategy_statistics (return_percent desc nulls last, strategy_id);
create index strategy_statistics_sharpe on strategy_statistics (sharpe desc nulls last, strategy_id);
