/** The demo's rows as plain numbers: prices in cents, quantities whole. */
import type { Database } from '../../src/storage/database/database.ts'

export interface SignalView {
  id: number
  strategy: string
  symbol: string
  side: 1 | -1
  opens: boolean
  ordType: string
  quantity: number
  limit: number | null
  stop: number | null
  status: string
  postedAt: number
  workingAt: number
  filledAt: number | null
  filledQty: number | null
  px: number | null
  fills: number
}

/** All signals on recorded prices in the order of their posting, each with its fill. */
export const readSignals = ({ read }: Database): Promise<SignalView[]> =>
  read.rows<SignalView>`
    select s.id, strategy.name as strategy, i.symbol, case s.side when '1' then 1 else -1 end as side,
      s.position_effect = 'O' as opens, s.ord_type as "ordType", s.order_qty::int as quantity,
      (s.limit_px * 100)::int as limit, (s.stop_px * 100)::int as stop, s.status, s.posted_at as "postedAt",
      s.working_at as "workingAt", f.filled_at as "filledAt", f.quantity::int as "filledQty",
      (f.px * 100)::int as px, coalesce(f.fills, 0)::int as fills
    from signal s join strategy on strategy.id = s.strategy_id join instrument i on i.id = s.instrument_id
    left join (
      select signal_id, max(filled_at) as filled_at, sum(quantity) as quantity, max(px) as px, count(*) as fills
      from fill group by signal_id) f on f.signal_id = s.id
    where i.security_type = 'CS' order by s.id`

export interface FollowerView {
  setupId: number
  account: string
  strategy: string
  percent: number
  maxDollars: number | null
  joins: boolean
  startedAt: number
  stoppedAt: number | null
  leftOpen: boolean | null
}

/** The setups on strategies that trade recorded prices. */
export const readFollowers = ({ read }: Database): Promise<FollowerView[]> =>
  read.rows<FollowerView>`
    select setup.id as "setupId", account.account, strategy.name as strategy, scaling_percentage as percent,
      max_stocks_dollars as "maxDollars", joins_positions as joins, setup.started_at as "startedAt",
      stopped_at as "stoppedAt", positions_left_open as "leftOpen"
    from setup join account on account.id = setup.account_id join strategy on strategy.id = setup.strategy_id
    where strategy.name not like '%(synthetic prices)' order by setup.id`

export interface ExecutionView {
  symbol: string
  quantity: number
  px: number
  at: number
}

/** What a setup's account really traded, signed, in order. */
export const readExecutions = ({ read }: Database, setupId: number): Promise<ExecutionView[]> =>
  read.rows<ExecutionView>`
    select i.symbol, (case e.side when '1' then quantity else -quantity end)::int as quantity,
      (px * 100)::int as px, executed_at as at
    from execution e join instrument i on i.id = e.instrument_id
    where setup_id = ${setupId} order by executed_at, i.symbol, e.order_id`

/** What a setup's ledger holds at the end, flat symbols left out. */
export const readLedger = ({ read }: Database, setupId: number) =>
  read.rows<{ symbol: string; quantity: number }>`
    select i.symbol, quantity::int from account_position p join instrument i on i.id = p.instrument_id
    where setup_id = ${setupId} and quantity <> 0 order by i.symbol`

/** Everything that must be the same after the same history, in a stable order. */
export async function dump({ read }: Database): Promise<Record<string, unknown[]>> {
  const books: Record<string, unknown[]> = {
    strategies: await read.rows`select id, name, cash, membership_version from strategy order by id`,
    signals: await read.rows`
      select id, strategy_id, instrument_id, side, ord_type, order_qty, status, cum_qty, avg_px, posted_at, ended_at
      from signal order by id`,
    fills:
      await read.rows`select exec_id, quantity, px, commission, cash_change, filled_at from fill order by exec_id`,
    positions: await read.rows`select * from position order by strategy_id, instrument_id`,
    accounts: await read.rows`select id, person_id, account, cash from account order by id`,
    setups:
      await read.rows`select id, account_id, strategy_id, joined_version, left_version from setup order by id`,
    orders: await read.rows`
      select source_id, setup_id, source, revision, side, order_qty, status, cum_qty, avg_px, posted_at, ended_at
      from account_order order by source_id, setup_id, source, revision`,
    skips: await read.rows`select signal_id, setup_id, code, skipped_at from account_skip order by 1, 2`,
    executions: await read.rows`
      select account_id, setup_id, instrument_id, side, quantity, px, commission, executed_at
      from execution order by account_id, setup_id, executed_at, instrument_id, side, quantity`,
    ledgers: await read.rows`select * from account_position order by setup_id, instrument_id`,
  }
  return books
}
