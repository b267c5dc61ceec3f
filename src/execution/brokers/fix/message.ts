/**
 * FIX messages as the adapter knows them, apart from any engine: what came in as text by tag, what goes out as
 * fields by name. Every value read is either exactly what its FIX type allows or null; text is freed of control
 * characters, so nothing that a counterparty sends can break a row or a log line.
 */
import { dec, ledgerPlaces, roundTo } from '../../../domain/decimal.ts'
import type { Instant } from '../../../domain/time.ts'

/** A message that arrived. */
export interface FixMessage {
  /** MsgType 35. */
  readonly type: string
  /** MsgSeqNum 34. */
  readonly seqNum: number
  /** The values of a tag in the order of the message; none where it is absent. */
  all(tag: number): readonly string[]
}

/** A message to send: MsgType 35 and the body, components nested under their names. */
export interface FixRequest {
  readonly type: string
  readonly fields: Readonly<Record<string, unknown>>
}

/** The tags that are read. */
export const tags = {
  account: 1,
  avgPx: 6,
  clOrdId: 11,
  cumQty: 14,
  execId: 17,
  execRefId: 19,
  execTransType: 20,
  lastPx: 31,
  lastQty: 32,
  newSeqNo: 36,
  ordStatus: 39,
  origClOrdId: 41,
  possDupFlag: 43,
  refSeqNum: 45,
  senderCompId: 49,
  sendingTime: 52,
  side: 54,
  symbol: 55,
  targetCompId: 56,
  text: 58,
  timeInForce: 59,
  transactTime: 60,
  cxlRejReason: 102,
  ordRejReason: 103,
  gapFillFlag: 123,
  resetSeqNumFlag: 141,
  execType: 150,
  leavesQty: 151,
  businessRejectRefId: 379,
  cxlRejResponseTo: 434,
  massStatusReqId: 584,
  posType: 703,
  longQty: 704,
  shortQty: 705,
  posReqId: 710,
  totalNumPosReports: 727,
  posReqResult: 728,
  ordStatusReqId: 790,
  lastRptRequested: 912,
  totNumReports: 911,
} as const

const longest = 500

/** The tag's only value, cleaned; null where it is absent, empty or there more than once. */
export function textOf(message: FixMessage, tag: number): string | null {
  const [value, ...more] = message.all(tag)
  if (value === undefined || more.length > 0) return null
  const clean = value.replace(/\p{Cc}/gu, ' ').trim()
  return clean === '' ? null : clean.slice(0, longest)
}

/** An id: as text, but one that had to be cut or cleaned is none. */
export function idOf(message: FixMessage, tag: number): string | null {
  const id = textOf(message, tag)
  return id !== null && id === message.all(tag)[0] && id.length <= 100 ? id : null
}

/** A decimal within what a book can hold, without superfluous zeros before it; null for anything else, NaN too. */
export function decimalOf(message: FixMessage, tag: number): string | null {
  const value = textOf(message, tag)
  return value !== null && /^-?\d{1,12}(\.\d{0,12})?$/.test(value) ? value.replace(/\.$/, '') : null
}

/** A price, rounded to what a book can hold: an average seldom ends, and is written with all digits of a double. */
export function priceOf(message: FixMessage, tag: number): string | null {
  const value = textOf(message, tag)
  return value !== null && /^-?\d{1,12}(\.\d{0,24})?$/.test(value)
    ? roundTo(dec(value.replace(/\.$/, '')), ledgerPlaces).toFixed()
    : null
}

/** A whole number from 0 on, or null. */
export function countOf(message: FixMessage, tag: number): number | null {
  const value = textOf(message, tag)
  return value !== null && /^\d{1,15}$/.test(value) ? Number(value) : null
}

/** Whether a Boolean field is there and true. */
export const isYes = (message: FixMessage, tag: number): boolean => textOf(message, tag) === 'Y'

const timestamp = /^(\d{4})(\d\d)(\d\d)-(\d\d):(\d\d):(\d\d)(\.\d+)?$/

/**
 * A UTCTimestamp in milliseconds since 1970, a leap second counted as the second before; null for anything else. Before
 * that nothing was traded here: it is what a time says that was never set, mostly the year 1.
 */
export function timeOf(message: FixMessage, tag: number): Instant | null {
  const parts = timestamp.exec(textOf(message, tag) ?? '')
  if (!parts) return null
  const [, year, month, day, hour, minute, second, fraction = ''] = parts
  const seconds = second === '60' ? '59' : second
  const text = `${year}-${month}-${day}T${hour}:${minute}:${seconds}${fraction.slice(0, 4)}Z`
  const at = Date.parse(text)
  // A day that no month has is carried over by some parsers: it must come back as it went in.
  return !(at >= 0) || new Date(at).getUTCDate() !== Number(day) ? null : at
}

/** The message as readable text for an operator, cut at 2,000 characters. */
export function readable(message: FixMessage): string {
  const known = Object.values(tags).flatMap((tag) => message.all(tag).map((value) => `${tag}=${value}`))
  return [`35=${message.type}`, `34=${message.seqNum}`, ...known]
    .join('|')
    .replace(/\p{Cc}/gu, ' ')
    .slice(0, 2_000)
}
