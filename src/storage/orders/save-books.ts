/**
 * Writes what happened in order books: new orders, changed ones, their events and what an operator must see,
 * each kind in one statement for all books. An order that starts to work is due for mirroring, and the version
 * of its strategy's membership at that moment fixes its followers.
 */
import type { BookOrder } from '../../domain/orders/order-book.ts'
import { averageFillPrice } from '../../domain/orders/order-state.ts'
import type { Instant } from '../../domain/time.ts'
import type { Sql } from '../database/sql.ts'
import { instant } from '../database/wire.ts'
import { markVariants } from '../strategies/variants.ts'
import { insertIncidents } from '../work/incidents.ts'
import { type SignalChange, updateSignals } from './fills.ts'
import { expiryOf, hasEnded, type WorkedBook } from './order-books.ts'
import {
  insertSignalEvents,
  insertSignals,
  type NewSignal,
  type NewSignalEvent,
  newSignalIds,
} from './signals.ts'

/** What a new signal has beside its order. */
export type SignalWish = Pick<
  NewSignal,
  | 'doNotSyncToOpen'
  | 'fromDesired'
  | 'parkedUntil'
  | 'profitTarget'
  | 'stopLoss'
  | 'doNotCreateOcaGroup'
  | 'referencePx'
> & {
  /** Made by the books themselves and no order of the strategy's owner: nobody copies it. */
  readonly isInternal?: boolean
}

/** A signal with nothing beside its order. */
export const noWish: SignalWish = {
  doNotSyncToOpen: false,
  fromDesired: false,
  parkedUntil: null,
  profitTarget: null,
  stopLoss: null,
  doNotCreateOcaGroup: false,
  referencePx: null,
}

export interface SavedBook extends WorkedBook {
  /** By the ids of new orders. */
  readonly wishes?: ReadonlyMap<string, SignalWish>
  /** The request that changed the book. */
  readonly requestId?: string
  /** Orders that started to work have been held against the quote that is the last one now. */
  readonly isServed?: boolean
}

/** Writes the books and answers how many signals were made or moved. */
export async function saveOrderBooks(sql: Sql, books: readonly SavedBook[]): Promise<number> {
  const named = await withRealIds(
    sql,
    books.filter(({ before, book }) => before !== book),
  )
  const made = named.flatMap(newSignals)
  const changed = named.flatMap(signalChanges)
  // Events and changes refer to signals of their own transaction only, so nothing waits for anything.
  await Promise.all([
    made.length > 0 && insertSignals(sql, made),
    changed.length > 0 && updateSignals(sql, changed),
    made.length + changed.length > 0 && insertSignalEvents(sql, named.flatMap(newEvents)),
    insertIncidents(sql, named.flatMap(incidentsOf)),
    named.length > 0 && markVariants(sql, [...new Set(named.map(({ strategyId }) => strategyId))]),
  ])
  return made.length + changed.length
}

const isNew = ({ before }: SavedBook, id: string): boolean => !before.orders.has(id)

/** Books name what they make themselves by words; such orders and groups get their ids here. */
async function withRealIds(sql: Sql, books: readonly SavedBook[]): Promise<readonly SavedBook[]> {
  const words = new Set(
    books.flatMap((saved) =>
      [...saved.book.orders.values()]
        .filter(({ id }) => isNew(saved, id))
        .flatMap(({ id, ocaGroup }) => [id, ...(ocaGroup === null ? [] : [ocaGroup])])
        .filter((id) => !/^\d+$/.test(id)),
    ),
  )
  if (words.size === 0) return books
  const fresh = await newSignalIds(sql, words.size)
  const ids = new Map([...words].map((word, place) => [word, String(fresh[place])]))
  return books.map((saved) => renamed(saved, (id) => ids.get(id) ?? id))
}

function renamed(saved: SavedBook, nameOf: (id: string) => string): SavedBook {
  const orders = [...saved.book.orders.values()].map((order) => ({
    ...order,
    id: nameOf(order.id),
    parent: order.parent === null ? null : nameOf(order.parent),
    ocaGroup: order.ocaGroup === null ? null : nameOf(order.ocaGroup),
  }))
  // What was loaded keeps its identity: by it a change is known.
  const kept = orders.map((order) =>
    isNew(saved, order.id) ? order : (saved.book.orders.get(order.id) ?? order),
  )
  return {
    ...saved,
    book: { ...saved.book, orders: new Map(kept.map((order) => [order.id, order])) },
    ...(saved.wishes && { wishes: new Map([...saved.wishes].map(([id, wish]) => [nameOf(id), wish])) }),
    events: saved.events.map((event) => ({ ...event, orderId: nameOf(event.orderId) })),
    alerts: saved.alerts.map((alert) => ({ ...alert, orderId: nameOf(alert.orderId) })),
  }
}

/** When each order last had an event; nothing ended without one. */
function endsOf({ events }: SavedBook): ReadonlyMap<string, Instant> {
  return new Map(events.map(({ orderId, at }) => [orderId, at]))
}

function newSignals(saved: SavedBook): NewSignal[] {
  const ends = endsOf(saved)
  return [...saved.book.orders.values()]
    .filter(({ id }) => isNew(saved, id))
    .map((order) => newSignal(saved, order, ends.get(order.id)))
}

/** What is spread comes last: a literal that begins with a spread takes many times as long. */
function newSignal(saved: SavedBook, order: BookOrder, lastAt: Instant | undefined): NewSignal {
  const wish = saved.wishes?.get(order.id) ?? noWish
  return {
    id: Number(order.id),
    strategyId: saved.strategyId,
    instrumentId: saved.instrumentId,
    side: order.side,
    ordType: order.type,
    timeInForce: order.timeInForce,
    positionEffect: order.openClose,
    orderQty: order.orderQuantity.toFixed(),
    limitPx: order.limit?.toFixed() ?? null,
    stopPx: order.stop?.toFixed() ?? null,
    status: order.status,
    cumQty: order.filledQuantity.toFixed(),
    avgPx: averageFillPrice(order)?.toFixed(12) ?? null,
    postedAt: instant(order.acceptedAt),
    replacesSignalId: order.replaces === undefined ? null : Number(order.replaces),
    parentSignalId: idOf(order.parent),
    depth: order.depth,
    exitRole: order.exit,
    coversFrom: order.coversFrom.toFixed(),
    ocaGroupId: idOf(order.ocaGroup),
    requestId: saved.requestId ?? null,
    needsMatch: !order.held && !hasEnded(order) && saved.isServed !== true,
    mirroredAt: wish.isInternal ? instant(order.acceptedAt) : null,
    ...waitOf(order),
    ...timesOf(order, saved, lastAt),
    ...wordsOf(order),
    ...wish,
    referencePx: (order.limit ?? order.stop)?.toFixed() ?? wish.referencePx,
  }
}

const idOf = (name: string | null): number | null => (name === null ? null : Number(name))

function timesOf(order: BookOrder, { calendar }: SavedBook, lastAt: Instant | undefined) {
  const { workingSince } = order
  return {
    workingAt: instant(workingSince),
    expiresAt: instant(workingSince === null ? null : expiryOf(order, calendar, workingSince)),
    endedAt: hasEnded(order) ? instant(lastAt ?? order.acceptedAt) : null,
  }
}

/** What the order waits for; one that has ended waits for nothing. */
function waitOf(order: BookOrder) {
  const isHeld = order.held && !hasEnded(order)
  return { isHeld, waitsForParent: isHeld && order.waitsForParent, isParked: isHeld && order.isParked }
}

/** Why an order is what it is: a rejection's reason has a place of its own. */
const wordsOf = ({ status, info }: BookOrder) =>
  status === '8' ? { info: null, rejectText: info } : { info, rejectText: null }

function signalChanges(saved: SavedBook): SignalChange[] {
  const ends = endsOf(saved)
  return [...saved.book.orders.values()].flatMap((order) => {
    const known = saved.before.orders.get(order.id)
    if (known === undefined || known === order) return []
    const starts = known.workingSince === null && order.workingSince !== null
    return {
      signalId: Number(order.id),
      status: order.status,
      orderQty: order.orderQuantity,
      cumQty: order.filledQuantity,
      avgPx: averageFillPrice(order) ?? null,
      isTriggered: order.isTriggered,
      parentSignalId: idOf(order.parent),
      starts,
      isServed: saved.isServed ?? false,
      ...timesOf(order, saved, ends.get(order.id)),
      ...waitOf(order),
      ...wordsOf(order),
    }
  })
}

/**
 * Events of a book as rows: each signal's in the order in which they happened. That an order is new, its own row tells:
 * it is an event where nothing else has happened to it.
 */
function newEvents(saved: SavedBook): NewSignalEvent[] {
  const counts = new Map<string, number>()
  return saved.events.flatMap((told, place) => {
    const { orderId, event, status, at, cause } = told
    if (event === 'NEW' && saved.events.some((other, later) => later > place && other.orderId === orderId))
      return []
    const offset = counts.get(orderId) ?? 0
    counts.set(orderId, offset + 1)
    const isFirst = isNew(saved, orderId)
    return { signalId: Number(orderId), offset, isFirst, event, status, occurredAt: instant(at), cause }
  })
}

const incidentsOf = ({ alerts, strategyId }: SavedBook) =>
  alerts.map(({ alert, orderId, at }) => ({
    key: `${alert}:${orderId}:${at}`,
    kind: alert,
    detail: { strategyId, signalId: Number(orderId) },
    occurredAt: at,
  }))
