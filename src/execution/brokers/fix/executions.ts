/**
 * What a FIX broker says of orders, read into report rows. Pure. A message that is incomplete, or says a number
 * that is none, is malformed as a whole: nothing of it is booked, an operator gets to see it. What only answers a
 * question, or announces what another message will say, gives no row.
 */
import type { OrdStatus, Side } from '../../../domain/codes.ts'
import { dec, ledgerPlaces, max, quantityPlaces, roundTo, zero } from '../../../domain/decimal.ts'
import { parseClientOrderId } from '../../../domain/orders/client-order-id.ts'
import type { Instant } from '../../../domain/time.ts'
import { correctionKey, endKinds, type NewTotal, type ReportKind } from '../../../storage/brokers/reports.ts'
import type { OrderStanding } from '../broker.ts'
import { decimalOf, type FixMessage, idOf, priceOf, tags, textOf, timeOf } from './message.ts'
import { orderIdOf } from './requests.ts'

/** A report whose account is still a text. */
export interface ReportDraft {
  readonly kind: ReportKind
  readonly key: string
  readonly account: string | null
  readonly clientOrderId: string | null
  readonly symbol: string
  readonly text: string | null
  readonly occurredAt: Instant
  /** Of an execution. */
  readonly traded: Pick<NewTotal, 'side' | 'quantity' | 'px' | 'cumQty'> | null
  /** Of an end: what the broker counts as executed by then; null where it does not say. */
  readonly counted: string | null
}

/** What is said of a request under its own id (ClOrdID or OrdStatusReqID). */
export interface Reply {
  readonly about: string
  /** accepted: the broker has it, what became of it is a report. known: it refuses an id that it has already. */
  readonly says: 'accepted' | 'known'
}

export interface OrderNews {
  readonly reports: readonly ReportDraft[]
  readonly replies: readonly Reply[]
  /** Answers to questions about orders by the id asked with; null: the broker has no such order. */
  readonly standings: ReadonlyMap<string, OrderStanding | null>
}

export type Reading = OrderNews | { readonly malformed: string }

const nothing: OrderNews = { reports: [], replies: [], standings: new Map() }

/** What kind of row an ExecType 150 gives; null: none. */
const kinds: Readonly<Record<string, ReportKind | null>> = {
  '0': 'ack',
  '4': 'cancel',
  '5': 'replace',
  '8': 'reject',
  C: 'expire',
  F: 'fill',
  // As FIX 4.2 says it, and some who speak 4.4 still do.
  '1': 'fill',
  '2': 'fill',
  G: 'fill',
  H: 'bust',
  '6': null,
  '7': null,
  '9': null,
  A: null,
  B: null,
  E: null,
  '3': null,
}

/** What FIX 4.2 says with ExecTransType 20, in the words of FIX 4.4: canceled, corrected, how an order stands. */
const execTypes: Readonly<Record<string, string>> = { '1': 'H', '2': 'G', '3': 'I' }

const sides: Readonly<Record<string, Side>> = { '1': '1', '2': '2', '5': '2', '6': '2' }

/** Our order status for an OrdStatus 39: what stopped, was suspended or is done for the day may still trade. */
const statuses: Readonly<Record<string, OrdStatus>> = {
  A: 'A',
  '0': '0',
  '1': '1',
  '2': '2',
  '4': '4',
  '5': '5',
  '6': '6',
  '8': '8',
  C: 'C',
  E: 'E',
  '3': '1',
  '7': '1',
  '9': '1',
  B: '2',
  D: '0',
}

/**
 * Done for the day with nothing left: that is how some brokers end a day order (FIX 4.4, appendix D, A.1.b). One that is
 * good till cancel goes on the next day, and an order of which the broker does not say that it is for the day may be that.
 */
function isOver(message: FixMessage): boolean {
  const leavesQty = decimalOf(message, tags.leavesQty)
  return leavesQty !== null && dec(leavesQty).isZero() && textOf(message, tags.timeInForce) === '0'
}

/** Reads an ExecutionReport (8). */
export function readExecutionReport(message: FixMessage): Reading {
  const execType = execTypes[textOf(message, tags.execTransType) ?? ''] ?? textOf(message, tags.execType)
  const id = idOf(message, tags.clOrdId)
  if (execType === null) return { malformed: 'no ExecType (150)' }
  const isQuestionAnswered =
    execType === 'I' || message.all(tags.ordStatusReqId).length + message.all(tags.massStatusReqId).length > 0
  if (isQuestionAnswered || isUnknownOrder(message, execType)) return readStanding(message)
  const kind = execType === '3' && isOver(message) ? 'expire' : kinds[execType]
  if (kind === undefined) return { malformed: `unknown ExecType (150) ${execType.slice(0, 10)}` }
  if (kind === 'reject' && textOf(message, tags.ordRejReason) === '6' && id !== null)
    return { ...nothing, replies: [{ about: id, says: 'known' }] }
  const replies: Reply[] = id === null ? [] : [{ about: id, says: 'accepted' }]
  if (kind === null) return { ...nothing, replies }
  const reports = draftsOf(message, execType, kind)
  return typeof reports === 'string' ? { malformed: reports } : { ...nothing, reports, replies }
}

/** Reads an OrderCancelReject (9): a refused cancel or replace. */
export function readCancelReject(message: FixMessage): Reading {
  const id = idOf(message, tags.clOrdId)
  const occurredAt = timeOf(message, tags.transactTime) ?? timeOf(message, tags.sendingTime)
  const reason = textOf(message, tags.cxlRejReason)
  if (id === null || occurredAt === null) return { malformed: 'no ClOrdID (11) or no time' }
  if (reason === '6') return { ...nothing, replies: [{ about: id, says: 'known' }] }
  const replacing = textOf(message, tags.cxlRejResponseTo) === '2'
  const report: ReportDraft = {
    kind: replacing ? 'replaceReject' : reason === '1' ? 'cancelUnknown' : 'cancelReject',
    key: `refused:${id}`,
    account: idOf(message, tags.account),
    // A refused replacement is told under its own id, a refused cancel under its order's.
    clientOrderId: replacing ? id : (idOf(message, tags.origClOrdId) ?? orderIdOf(id)),
    symbol: textOf(message, tags.symbol) ?? '',
    text: textOf(message, tags.text),
    occurredAt,
    traded: null,
    counted: null,
  }
  return { ...nothing, reports: [report], replies: [{ about: id, says: 'accepted' }] }
}

/** The broker's "no such order" (OrdRejReason 103 = 5) answers a question, never refuses an order of ours. */
const isUnknownOrder = (message: FixMessage, execType: string): boolean =>
  execType === '8' && textOf(message, tags.ordRejReason) === '5'

function readStanding(message: FixMessage): Reading {
  const about =
    idOf(message, tags.ordStatusReqId) ?? idOf(message, tags.massStatusReqId) ?? idOf(message, tags.clOrdId)
  const status = textOf(message, tags.ordStatus)
  if (about === null || status === null) return { malformed: 'an order status without id or OrdStatus (39)' }
  if (status === '8' && textOf(message, tags.ordRejReason) === '5')
    return { ...nothing, standings: new Map([[about, null]]) }
  const cumQty = decimalOf(message, tags.cumQty)
  const known = status === '3' && isOver(message) ? 'C' : statuses[status]
  if (known === undefined || cumQty === null || dec(cumQty).isNegative())
    return { malformed: 'an order status without a known OrdStatus (39) or CumQty (14)' }
  const avgPx = priceOf(message, tags.avgPx)
  const isTraded = !dec(cumQty).isZero()
  if (isTraded && avgPx === null) return { malformed: 'an order status without AvgPx (6)' }
  const standing = { status: known, cumQty, avgPx: isTraded ? avgPx : null }
  return { ...nothing, standings: new Map([[about, standing]]) }
}

/** The rows of a message, or what is wrong with it. */
function draftsOf(message: FixMessage, execType: string, kind: ReportKind): ReportDraft[] | string {
  const key = idOf(message, tags.execId)
  const symbol = textOf(message, tags.symbol)
  const occurredAt = timeOf(message, tags.transactTime) ?? timeOf(message, tags.sendingTime)
  if (key === null) return 'no ExecID (17)'
  if (symbol === null) return 'no Symbol (55)'
  if (occurredAt === null) return 'no TransactTime (60)'
  const draft: ReportDraft = {
    kind,
    key,
    symbol,
    occurredAt,
    traded: null,
    counted: endKinds.includes(kind) ? decimalOf(message, tags.cumQty) : null,
    account: idOf(message, tags.account),
    clientOrderId: orderNamed(message, kind),
    text: textOf(message, tags.text),
  }
  if (kind !== 'fill' && kind !== 'bust') return [draft]
  const busted = execType === 'F' || kind === 'fill' ? null : idOf(message, tags.execRefId)
  if (kind === 'bust') return busted === null ? 'no ExecRefID (19)' : [{ ...draft, text: busted }]
  const traded = tradedOf(message)
  if (typeof traded === 'string') return traded
  const fill = { ...draft, traded }
  if (execType !== 'G') return [fill]
  const corrected = idOf(message, tags.execRefId)
  if (corrected === null) return 'no ExecRefID (19)'
  return [{ ...draft, kind: 'bust', key: correctionKey(key), text: corrected }, fill]
}

/**
 * The order a report names: under a cancel, the one that is canceled. Of an order that ends unasked some brokers go on
 * naming the one that it replaced (41): then it is the order itself (11).
 */
function orderNamed(message: FixMessage, kind: ReportKind): string | null {
  const id = idOf(message, tags.clOrdId)
  const original = idOf(message, tags.origClOrdId)
  const isOrder = id !== null && parseClientOrderId(id) !== null
  if (kind === 'cancel' && original !== null && !isOrder) return original
  return id === null ? null : orderIdOf(id)
}

/** A standing of an order alone: a broker counts what its predecessors executed as well. */
export function withoutReplaced(
  standing: OrderStanding,
  { replacedQty, replacedValue }: { readonly replacedQty: string; readonly replacedValue: string },
): OrderStanding {
  const all = dec(standing.cumQty)
  const alone = max(zero, all.minus(replacedQty))
  if (dec(replacedQty).isZero() || standing.avgPx === null) return standing
  const value = all.times(standing.avgPx).minus(replacedValue)
  const avgPx = alone.isZero() ? null : roundTo(value.div(alone), ledgerPlaces).toFixed()
  return { ...standing, cumQty: alone.toFixed(), avgPx }
}

function tradedOf(message: FixMessage): ReportDraft['traded'] | string {
  const side = sides[textOf(message, tags.side) ?? '']
  const quantity = decimalOf(message, tags.lastQty)
  const px = priceOf(message, tags.lastPx)
  if (side === undefined) return 'no known Side (54)'
  if (quantity === null || !dec(quantity).greaterThan(0)) return 'no LastQty (32) above 0'
  if (dec(quantity).decimalPlaces() > quantityPlaces) return 'a LastQty (32) finer than any book'
  if (px === null || !dec(px).greaterThan(0)) return 'no LastPx (31) above 0'
  return { side, quantity, px, cumQty: decimalOf(message, tags.cumQty) }
}
