/**
 * Order books between rows and rules: many are loaded in one statement, with no more orders than a rule can
 * still look at, and only what changed is written back, in as many statements again. Whoever works on a book
 * has locked its strategy.
 */

import {
  isLive,
  type OrdStatus,
  type OrdType,
  type PositionEffect,
  type Side,
  type TimeInForce,
} from '../../domain/codes.ts'
import { type Decimal, dec, decOrNull } from '../../domain/decimal.ts'
import { groupBy } from '../../domain/group.ts'
import { type CalendarName, dayOrderExpiry } from '../../domain/market/calendar.ts'
import type {
  BookAlert,
  BookEvent,
  BookOrder,
  BookResult,
  EndedOrder,
  ExitRole,
  OrderBook,
} from '../../domain/orders/order-book.ts'
import type { Instant } from '../../domain/time.ts'
import { live } from '../database/order-statuses.ts'
import { type Fragment, fragment, type Sql } from '../database/sql.ts'
import { type BookKey, bookKeys } from '../work/matching.ts'

/** What is known of a stored signal beside the rules of its book. */
export interface SignalFacts {
  readonly expiresAt: Instant | null
  readonly parkedUntil: Instant | null
  /** Not yet held against the last quote. */
  readonly needsMatch: boolean
  /** Orders in other symbols depend on it. */
  readonly hasChildrenElsewhere: boolean
  /** Of its own fills: how many, how much, and what they were worth per point in account currency. */
  readonly fills: number
  readonly ownQuantity: Decimal
  readonly ownNotional: Decimal
}

export interface StampedEvent extends BookEvent {
  readonly at: Instant
  readonly cause: Record<string, unknown>
}

/** A book under work: as it was loaded, as it is now, and what happened in between. */
export interface WorkedBook extends BookKey {
  readonly calendar: CalendarName
  readonly facts: ReadonlyMap<string, SignalFacts>
  readonly before: OrderBook
  readonly book: OrderBook
  readonly events: readonly StampedEvent[]
  readonly alerts: readonly (BookAlert & { readonly at: Instant })[]
  readonly ended: readonly EndedOrder[]
}

/** A book as it is stored, and the strategy's position in it. */
export interface StoredBook extends WorkedBook {
  readonly positionAvgPx: Decimal | null
  readonly openedAt: Instant | null
  /** Last rate this strategy booked in the instrument; null in the account's own currency or without a fill. */
  readonly lastFx: Decimal | null
}

/** A book nobody has worked on yet. */
export const unworked = (
  key: BookKey & { readonly calendar: CalendarName },
  book: OrderBook,
  facts: WorkedBook['facts'] = new Map(),
): WorkedBook => ({
  strategyId: key.strategyId,
  instrumentId: key.instrumentId,
  calendar: key.calendar,
  facts,
  before: book,
  book,
  events: [],
  alerts: [],
  ended: [],
})

/** The book after an operation on it; `causeOf` tells what is written beside each event. */
export function worked<Book extends WorkedBook>(
  book: Book,
  result: BookResult,
  at: Instant,
  causeOf: (event: BookEvent) => Record<string, unknown>,
): Book {
  const events = result.events.map((event) => stamped(event, at, causeOf(event)))
  return {
    ...book,
    book: result.book,
    events: [...book.events, ...events],
    alerts: [...book.alerts, ...result.alerts.map((alert) => ({ at, ...alert }))],
    ended: [...book.ended, ...result.ended],
  }
}

const stamped = (
  { orderId, event, status, orderQuantity, info }: BookEvent,
  at: Instant,
  cause: StampedEvent['cause'],
): StampedEvent => ({ orderId, event, status, orderQuantity, info, at, cause })

/** The cause of an event that somebody or something brought about: what it was, and what the book says of it. */
export const causedBy =
  (cause: Record<string, unknown>) =>
  ({ event, info, orderQuantity }: BookEvent): Record<string, unknown> => {
    if (info === null && event !== 'RESTATE') return cause
    return {
      ...cause,
      ...(info !== null && { info }),
      ...(event === 'RESTATE' && { orderQuantity: orderQuantity.toFixed() }),
    }
  }

/** Numbers are exact texts. */
interface BookRow extends BookKey {
  readonly calendar: CalendarName
  readonly positionQty: string
  readonly positionAvgPx: string | null
  readonly openedAt: Instant | null
  readonly lastFx: string | null
  readonly signalId: number
  readonly side: Side
  readonly ordType: OrdType
  readonly timeInForce: TimeInForce
  readonly positionEffect: PositionEffect
  readonly orderQty: string
  readonly limitPx: string | null
  readonly stopPx: string | null
  readonly status: OrdStatus
  readonly isHeld: boolean
  readonly isTriggered: boolean
  readonly cumQty: string
  readonly filledValue: string
  readonly postedAt: Instant
  readonly workingAt: Instant | null
  readonly expiresAt: Instant | null
  readonly parkedUntil: Instant | null
  readonly needsMatch: boolean
  readonly replaces: number | null
  readonly parent: number | null
  readonly depth: number
  readonly exitRole: ExitRole | null
  readonly coversFrom: string
  readonly ocaGroup: number | null
  readonly waitsForParent: boolean
  readonly isParked: boolean
  readonly info: string | null
  readonly hasChildrenElsewhere: boolean
  readonly fills: number
  readonly ownQty: string
  readonly ownNotional: string
}

/** Strategies keep their books in this currency. */
export const bookCurrency = 'USD'

/** The last rate that a strategy, a column, booked in the instrument `i`; null in its own currency or without a fill. */
export const lastFx = (strategyId: Fragment): Fragment => fragment`
  case when i.currency <> ${bookCurrency} then (
    select f.fx from fill f where f.strategy_id = ${strategyId} and f.instrument_id = i.id
    order by f.id desc limit 1) end`

/** The live signals of the books and what these still depend on. */
const keptSignals = (keys: readonly BookKey[]): Fragment => fragment`
  with recursive kept (id, replaces, entry) as (
    select s.id, s.replaces_signal_id, case when s.exit_role is not null then s.parent_signal_id end
    from unnest(${bookKeys(keys)}) book (strategy_id, instrument_id)
    join signal s on s.strategy_id = book.strategy_id and s.instrument_id = book.instrument_id
      and s.status in ${live}
    union
    select needed.* from kept cross join lateral (
      select s.id, s.replaces_signal_id, case when s.exit_role is not null then s.parent_signal_id end
      from signal s where s.id = kept.replaces
      union all
      select s.id, s.replaces_signal_id, null from signal s where s.id = kept.entry
      union all
      select s.id, s.replaces_signal_id, s.parent_signal_id
      from signal s where s.parent_signal_id = kept.id and s.exit_role is not null
    ) needed
  )`

const bookColumns: Fragment = fragment`
  s.strategy_id as "strategyId", s.instrument_id as "instrumentId", i.calendar,
  coalesce(p.quantity, 0) as "positionQty", p.avg_px as "positionAvgPx", p.opened_at as "openedAt",
  ${lastFx(fragment`s.strategy_id`)} as "lastFx",
  s.id as "signalId", s.side, s.ord_type as "ordType", s.time_in_force as "timeInForce",
  s.position_effect as "positionEffect", s.order_qty as "orderQty", s.limit_px as "limitPx",
  s.stop_px as "stopPx", s.status, s.is_held as "isHeld", s.is_triggered as "isTriggered",
  s.cum_qty as "cumQty", coalesce(done.value, 0) as "filledValue", s.posted_at as "postedAt",
  s.working_at as "workingAt", s.expires_at as "expiresAt", s.parked_until as "parkedUntil",
  s.needs_match as "needsMatch",
  s.replaces_signal_id as replaces, s.parent_signal_id as parent, s.depth, s.exit_role as "exitRole",
  s.covers_from as "coversFrom", s.oca_group_id as "ocaGroup", s.waits_for_parent as "waitsForParent",
  s.is_parked as "isParked", s.info,
  exists (select from signal c where c.parent_signal_id = s.id and c.waits_for_parent
    and c.instrument_id <> s.instrument_id) as "hasChildrenElsewhere",
  coalesce(done.fills, 0) as fills, coalesce(done.own_qty, 0) as "ownQty",
  coalesce(done.own_notional, 0) as "ownNotional"`

/** What the fills of a signal, and of the signals it replaced, add up to. */
const ownFills: Fragment = fragment`
  left join lateral (
    with recursive chain (id, before) as (
      select s.id, s.replaces_signal_id where s.cum_qty > 0
      union all select e.id, e.replaces_signal_id from chain join signal e on e.id = chain.before
    )
    select sum(f.quantity * f.px) as value, count(*) filter (where f.signal_id = s.id) as fills,
      sum(f.quantity) filter (where f.signal_id = s.id) as own_qty,
      sum(f.quantity * abs(f.px) * f.fx) filter (where f.signal_id = s.id) as own_notional
    from chain join fill f on f.signal_id = chain.id
  ) done on true`

/**
 * The books with their live orders and whatever these still depend on: what they replaced, the entries of
 * exits, the exits of entries. A book without a live order is missing. The caller has locked the strategies.
 */
export async function loadOrderBooks(sql: Sql, keys: readonly BookKey[]): Promise<StoredBook[]> {
  if (keys.length === 0) return []
  const rows = await sql.rows<BookRow>`
    ${keptSignals(keys)}
    select ${bookColumns}
    from (select distinct id from kept) kept
    join signal s on s.id = kept.id
    join instrument i on i.id = s.instrument_id
    left join position p on p.strategy_id = s.strategy_id and p.instrument_id = s.instrument_id
    ${ownFills}
    order by s.id`
  const books = groupBy(rows, ({ strategyId, instrumentId }) => `${strategyId} ${instrumentId}`)
  return [...books.values()].map(bookOf)
}

function bookOf(rows: readonly [BookRow, ...BookRow[]]): StoredBook {
  const [first] = rows
  const orders = new Map(rows.map((row) => [String(row.signalId), orderOf(row)]))
  const facts = new Map(rows.map((row) => [String(row.signalId), factsOf(row)]))
  return {
    positionAvgPx: decOrNull(first.positionAvgPx),
    openedAt: first.openedAt,
    lastFx: decOrNull(first.lastFx),
    ...unworked(first, { position: dec(first.positionQty), orders }, facts),
  }
}

const name = (id: number | null): string | null => (id === null ? null : String(id))

const orderOf = (row: BookRow): BookOrder => ({
  id: String(row.signalId),
  side: row.side,
  type: row.ordType,
  timeInForce: row.timeInForce,
  positionEffect: row.positionEffect,
  limit: decOrNull(row.limitPx),
  stop: decOrNull(row.stopPx),
  parent: name(row.parent),
  depth: row.depth,
  exit: row.exitRole,
  coversFrom: dec(row.coversFrom),
  ocaGroup: name(row.ocaGroup),
  waitsForParent: row.waitsForParent,
  isParked: row.isParked,
  acceptedAt: row.postedAt,
  workingSince: row.workingAt,
  isTriggered: row.isTriggered,
  info: row.info,
  status: row.status,
  orderQuantity: dec(row.orderQty),
  filledQuantity: dec(row.cumQty),
  filledValue: dec(row.filledValue),
  acknowledged: row.status !== 'A',
  held: row.isHeld,
  replaces: name(row.replaces) ?? undefined,
})

const factsOf = (row: BookRow): SignalFacts => ({
  expiresAt: row.expiresAt,
  parkedUntil: row.parkedUntil,
  needsMatch: row.needsMatch,
  hasChildrenElsewhere: row.hasChildrenElsewhere,
  fills: row.fills,
  ownQuantity: dec(row.ownQty),
  ownNotional: dec(row.ownNotional),
})

/** When an order that starts to work at `since` ends with its day; null for good till canceled. */
export const expiryOf = (
  { timeInForce }: Pick<BookOrder, 'timeInForce'>,
  calendar: CalendarName,
  since: Instant,
): Instant | null => (timeInForce === '1' ? null : dayOrderExpiry(calendar, since))

/** Whether the order has come to an end. */
export const hasEnded = ({ status }: Pick<BookOrder, 'status'>): boolean => !isLive(status)
