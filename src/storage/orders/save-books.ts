/**
 * Writes what happened in order books: new orders, changed ones, their events and what an operator must see,
 * each kind in one statement for all books. An order that starts to work is due for mirroring, and the version
 * of its strategy's membership at that moment fixes its followers.
 */
import { ledgerPlaces } from '../../domain/decimal.ts'
import type { BookOrder } from '../../domain/orders/order-book.ts'
import { averageFillPrice } from '../../domain/orders/order-state.ts'
import type { Sql } from '../database/sql.ts'
import { instant } from '../database/wire.ts'
import { markVariants } from '../strategies/variants.ts'
import { insertIncidents } from '../work/incidents.ts'
import { type SignalChange, updateSignals } from './fills.ts'
import { expiryOf, hasEnded, type StampedEvent, type WorkedBook } from './order-books.ts'
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
  /** Of the strategy, as its lock has shown it; absent: it is looked up where an order starts to work. */
  readonly membershipVersion?: number
  /** Orders that started to work have been held against the quote that is the last one now. */
  readonly isServed?: boolean
}

/**
 * Writes the books and answers how many signals were made or moved. `wakes`: workers are told that there is something to
 * do; those who write from within a step of a worker look again anyway.
 */
export async function saveOrderBooks(
  sql: Sql,
  books: readonly SavedBook[],
  { wakes = false }: { readonly wakes?: boolean } = {},
): Promise<number> {
  const named = await withRealIds(
    sql,
    books.filter(({ before, book }) => before !== book),
  )
  const told = named.map((saved): ToldBook => ({ saved, history: historyOf(saved) }))
  const made = told.flatMap(newSignals)
  const changed = told.flatMap(signalChanges)
  // Events and changes refer to signals of their own transaction only, so nothing waits for anything.
  await Promise.all([
    made.length > 0 && insertSignals(sql, made),
    changed.length > 0 && updateSignals(sql, changed),
    insertSignalEvents(sql, told.flatMap(newEvents)),
    insertIncidents(sql, named.flatMap(incidentsOf)),
    markVariants(sql, [...new Set(named.map(({ strategyId }) => strategyId))], { wakes }),
  ])
  return made.length + changed.length
}

/** A book with what has happened to each of its orders. */
interface ToldBook {
  readonly saved: SavedBook
  readonly history: ReadonlyMap<string, readonly StampedEvent[]>
}

/** The events of each order as they happened. That an order is new is one where nothing else has happened to it. */
function historyOf({ events }: SavedBook): ToldBook['history'] {
  const history = new Map<string, StampedEvent[]>()
  for (const event of events) {
    const known = history.get(event.orderId)
    if (known === undefined) history.set(event.orderId, [event])
    else if (known[0]?.event === 'NEW') known[0] = event
    else known.push(event)
  }
  return history
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

function newSignals(told: ToldBook): NewSignal[] {
  const { saved } = told
  return [...saved.book.orders.values()]
    .filter(({ id }) => isNew(saved, id))
    .map((order) => newSignal(told, order))
}

/** What its own row says of a new order: all that has happened to it, when it was posted. */
function eventOfRow({ history }: ToldBook, order: BookOrder): StampedEvent | undefined {
  const [first, ...others] = history.get(order.id) ?? []
  return others.length === 0 && first?.at === order.acceptedAt ? first : undefined
}

/** Member by member: what is spread takes many times as long. */
function newSignal(told: ToldBook, order: BookOrder): NewSignal {
  const wish = told.saved.wishes?.get(order.id) ?? noWish
  const event = eventOfRow(told, order)
  const { isHeld, waitsForParent, isParked } = waitOf(order)
  const { workingAt, expiresAt, endedAt } = timesOf(told, order)
  const { info, rejectText } = wordsOf(order)
  return {
    id: Number(order.id),
    strategyId: told.saved.strategyId,
    instrumentId: told.saved.instrumentId,
    side: order.side,
    ordType: order.type,
    timeInForce: order.timeInForce,
    positionEffect: order.positionEffect,
    orderQty: order.orderQuantity.toFixed(),
    limitPx: order.limit?.toFixed() ?? null,
    stopPx: order.stop?.toFixed() ?? null,
    status: order.status,
    isHeld,
    cumQty: order.filledQuantity.toFixed(),
    avgPx: averageFillPrice(order)?.toFixed(ledgerPlaces) ?? null,
    postedAt: instant(order.acceptedAt),
    workingAt,
    expiresAt,
    endedAt,
    replacesSignalId: order.replaces === undefined ? null : Number(order.replaces),
    parentSignalId: idOf(order.parent),
    depth: order.depth,
    exitRole: order.exit,
    coversFrom: order.coversFrom.toFixed(),
    ocaGroupId: idOf(order.ocaGroup),
    waitsForParent,
    isParked,
    parkedUntil: wish.parkedUntil,
    profitTarget: wish.profitTarget,
    stopLoss: wish.stopLoss,
    doNotCreateOcaGroup: wish.doNotCreateOcaGroup,
    doNotSyncToOpen: wish.doNotSyncToOpen,
    fromDesired: wish.fromDesired,
    rejectText,
    info,
    requestId: told.saved.requestId ?? null,
    referencePx: (order.limit ?? order.stop)?.toFixed() ?? wish.referencePx,
    needsMatch: !order.held && !hasEnded(order) && told.saved.isServed !== true,
    membershipVersion: told.saved.membershipVersion ?? null,
    mirroredAt: wish.isInternal ? instant(order.acceptedAt) : null,
    event: event?.event ?? null,
    cause: event?.cause ?? null,
  }
}

const idOf = (name: string | null): number | null => (name === null ? null : Number(name))

/** Nothing ended without an event. */
function timesOf({ saved, history }: ToldBook, order: BookOrder) {
  const { workingSince } = order
  const lastAt = history.get(order.id)?.at(-1)?.at
  return {
    workingAt: instant(workingSince),
    expiresAt: instant(workingSince === null ? null : expiryOf(order, saved.calendar, workingSince)),
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

const signalChanges = (told: ToldBook): SignalChange[] =>
  [...told.saved.book.orders.values()].flatMap((order) => {
    const known = told.saved.before.orders.get(order.id)
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
      isServed: told.saved.isServed ?? false,
      ...timesOf(told, order),
      ...waitOf(order),
      ...wordsOf(order),
    }
  })

/** Events that no signal's own row tells, each signal's in the order in which they happened. */
const newEvents = (told: ToldBook): NewSignalEvent[] =>
  [...told.history].flatMap(([orderId, events]) => {
    const order = told.saved.book.orders.get(orderId)
    const isFirst = isNew(told.saved, orderId)
    if (isFirst && order && eventOfRow(told, order)) return []
    const signalId = Number(orderId)
    return events.map(({ event, status, at, cause }, offset) => {
      return { signalId, offset, isFirst, event, status, occurredAt: instant(at), cause }
    })
  })

const incidentsOf = ({ alerts, strategyId }: SavedBook) =>
  alerts.map(({ alert, orderId, at }) => ({
    key: `${alert}:${orderId}:${at}`,
    kind: alert,
    detail: { strategyId, signalId: Number(orderId) },
    occurredAt: at,
  }))
