/** A small market for the tests of the worker: instruments, strategies, orders as an owner leaves them. */

import type { SecurityType } from '../../src/domain/codes.ts'
import { dec } from '../../src/domain/decimal.ts'
import { type CalendarName, dayOrderExpiry } from '../../src/domain/market/calendar.ts'
import { momentsOf, type Step, type WorkContext, type WorkSettings } from '../../src/execution/context.ts'
import type { MarketBar, MarketQuote } from '../../src/execution/market/feed.ts'
import { expiryStep, releaseStep } from '../../src/execution/orders/expiries.ts'
import { arrivalStep } from '../../src/execution/orders/matcher.ts'
import { newTally } from '../../src/execution/tally.ts'
import type { Database } from '../../src/storage/database/database.ts'
import type { Sql } from '../../src/storage/database/sql.ts'
import { instant } from '../../src/storage/database/wire.ts'
import { silentLog } from '../support/database-server.ts'

/** A Tuesday, 10:00 in New York: the session runs from 13:30Z to 20:00Z. */
export const opening = Date.parse('2024-03-12T14:00:00Z')
export const close = Date.parse('2024-03-12T20:00:00Z')

export const steps: readonly Step[] = [arrivalStep, expiryStep, releaseStep]

export interface World {
  ctx: WorkContext
  clock: { time: number; now(): number }
}

/** A worker's context whose clock stands still at `opening`. */
export function makeWorld(db: Database, settings: Partial<WorkSettings> = {}): World {
  const clock = { time: opening, now: () => clock.time }
  const all: WorkSettings = {
    commissionPlan: 'none',
    environment: 'T',
    quoteSinks: [],
    barSinks: [],
    dueSources: momentsOf(steps),
    ...settings,
  }
  return { clock, ctx: { db, clock, log: silentLog, workerId: 'w1', settings: all, tally: newTally() } }
}

let made = 0

export interface InstrumentWish {
  securityType?: SecurityType
  calendar?: CalendarName
  pointValue?: string
  currency?: string
  symbol?: string
}

/** An instrument of its own; answers its symbol and id. */
export async function addInstrument(
  db: Database,
  wish: InstrumentWish = {},
): Promise<{ symbol: string; id: number }> {
  made += 1
  const symbol = wish.symbol ?? `T${made}`
  const { id } = await db.write.one<{ id: number }>`
    insert into instrument (symbol, security_type, description, root, currency, point_value, tick, calendar,
      initial_margin)
    values (${symbol}, ${wish.securityType ?? 'CS'}, ${symbol}, ${symbol}, ${wish.currency ?? 'USD'},
      ${wish.pointValue ?? '1'}, 0.01, ${wish.calendar ?? 'US_EQUITY'}, 1000) returning id`
  return { symbol, id }
}

/** A strategy with its starting cash, 100,000 where none is said. */
export async function addStrategy(db: Database, cash = '100000'): Promise<number> {
  made += 1
  const { id } = await db.write.one<{ id: number }>`
    with owner as (
      insert into person (site_id, role, alias, first_name, last_name, email, created_at)
      select id, 'user', 'p', 'P', 'P', ${`p${made}@example.com`}, now() from site where kind = 'platform'
      returning id, site_id)
    insert into strategy (site_id, owner_person_id, name, started_at, starting_cash, cash)
    select site_id, id, 'S', now(), ${cash}, ${cash} from owner returning id`
  return id
}

export interface OrderWish {
  strategyId: number
  instrumentId: number
  side: '1' | '2'
  quantity?: string
  limit?: string
  stop?: string
  positionEffect?: 'O' | 'C'
  goodTillCanceled?: boolean
  replaces?: number
}

/** Places an order as the interface does: at work, its arrival still to be matched. Answers its id. */
export async function place({ ctx }: World, wish: OrderWish): Promise<number> {
  const now = ctx.clock.now()
  const [row] = await ctx.db.read.rows<{ calendar: CalendarName }>`
    select calendar from instrument where id = ${wish.instrumentId}`
  const expiry = wish.goodTillCanceled ? null : dayOrderExpiry(row!.calendar, now)
  const ordType = wish.limit ? '2' : wish.stop ? '3' : '1'
  const { id } = await ctx.db.write.one<{ id: number }>`
    with strategy as materialized (
      select membership_version from strategy where id = ${wish.strategyId} for no key update
    ), placed as (
      insert into signal (strategy_id, instrument_id, side, ord_type, time_in_force, position_effect, order_qty,
        limit_px, stop_px, status, posted_at, working_at, expires_at, needs_match, mirror_due, replaces_signal_id,
        cum_qty, avg_px, membership_horizon)
      values (${wish.strategyId}, ${wish.instrumentId}, ${wish.side}, ${ordType}, ${wish.goodTillCanceled ? '1' : '0'},
        ${wish.positionEffect ?? 'O'}, ${wish.quantity ?? '100'}, ${wish.limit}, ${wish.stop}, '0', ${instant(now)},
        ${instant(now)}, ${instant(expiry)}, true, true, ${wish.replaces}, 0, null,
        (select membership_version from strategy))
      returning id)
    insert into signal_event (signal_id, seq, event, status, occurred_at, cause)
    select id, 1, 'ACK', '0', ${instant(now)}, '{}' from placed returning signal_id as id`
  return id
}

/** Ends a signal as a request of its owner does. */
export async function endSignal(sql: Sql, id: number, status: string, endedAt: string): Promise<void> {
  await sql.run`
    update signal set status = ${status}::text, ended_at = ${endedAt}::timestamptz, needs_match = false,
      mirror_due = working_at is not null
    where id = ${id}::bigint`
}

export const quote = (symbol: string, bid: string, ask: string, at = opening): MarketQuote => ({
  symbol,
  bid: dec(bid),
  ask: dec(ask),
  at,
})

/** Prices as open, high, low, close. */
export const bar = (
  symbol: string,
  prices: readonly [string, string, string, string],
  at: number,
  endsAt?: number,
): MarketBar => {
  const [open, high, low, last] = prices
  return {
    symbol,
    at,
    open: dec(open),
    high: dec(high),
    low: dec(low),
    close: dec(last),
    ...(endsAt !== undefined && { endsAt }),
  }
}

export interface SignalView {
  status: string
  cumQty: number
  avgPx: number | null
  info: string | null
  endedAt: number | null
  needsMatch: boolean
  mirrorDue: boolean
  isTriggered: boolean
}

export const readSignal = ({ ctx }: World, id: number): Promise<SignalView> =>
  ctx.db.read.one<SignalView>`
    select status, cum_qty::float8 as "cumQty", avg_px::float8 as "avgPx", info, ended_at as "endedAt",
      needs_match as "needsMatch", mirror_due as "mirrorDue", is_triggered as "isTriggered" from signal where id = ${id}`

/** Cash and the quantity and average of one instrument. */
export const readBook = ({ ctx }: World, strategyId: number, instrumentId: number) =>
  ctx.db.read.one<{ cash: number; quantity: number; avgPx: number | null; openedAt: number | null }>`
    select cash::float8, coalesce(p.quantity, 0)::float8 as quantity, p.avg_px::float8 as "avgPx",
      p.opened_at as "openedAt"
    from strategy s left join position p on p.strategy_id = s.id and p.instrument_id = ${instrumentId}
    where s.id = ${strategyId}`

export interface EventView {
  event: string
  status: string
  occurredAt: number
  cause: Record<string, unknown>
}

export const readEvents = ({ ctx }: World, signalId: number): Promise<EventView[]> =>
  ctx.db.read.rows<EventView>`
    select event, status, occurred_at as "occurredAt", cause from signal_event where signal_id = ${signalId} order by seq`
