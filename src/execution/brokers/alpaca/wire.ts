/**
 * What Alpaca says, read strictly: every number is text or a number that is one, every code is known, or the whole
 * value is malformed and nothing of it is believed. The same reader serves answers and the stream. Pure.
 */
import type { Side } from '../../../domain/codes.ts'
import type { Instant } from '../../../domain/time.ts'

/** An order as Alpaca has it. `filledQty` counts its own executions, not those of an order that it replaced. */
export interface AlpacaOrder {
  readonly id: string
  readonly clientOrderId: string
  readonly symbol: string
  readonly side: Side
  readonly type: string
  readonly status: string
  readonly filledQty: string
  readonly filledAvgPrice: string | null
  readonly replaces: string | null
  readonly replacedBy: string | null
  readonly updatedAt: Instant | null
}

/** An event of the stream `trade_updates`. */
export interface TradeUpdate {
  readonly event: string
  readonly order: AlpacaOrder
  readonly executionId: string | null
  readonly previousExecutionId: string | null
  readonly quantity: string | null
  readonly price: string | null
  /** What the order has executed when this happened. */
  readonly cumQty: string
  readonly at: Instant | null
}

/** An execution, its correction or its cancellation, as the account's history has it. */
export interface TradeActivity {
  readonly type: 'fill' | 'trade_correct' | 'trade_bust'
  readonly executionId: string
  readonly previousExecutionId: string | null
  readonly orderId: string
  readonly clientOrderId: string | null
  readonly symbol: string
  readonly side: Side
  readonly quantity: string | null
  readonly price: string | null
  /** What the order had executed with it. */
  readonly cumQty: string | null
  readonly at: Instant | null
}

export interface AlpacaPosition {
  readonly symbol: string
  /** Signed. */
  readonly quantity: string
}

export interface AlpacaAccount {
  readonly number: string
  readonly status: string
  readonly isBlocked: boolean
  readonly currency: string
  readonly cash: string
}

type Fields = Readonly<Record<string, unknown>>

const decimal = /^-?\d{1,24}(\.\d{1,18})?$/

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const text = (value: unknown): string | null =>
  typeof value === 'string' && value.length > 0 && value.length <= 200 ? value : null

function amount(value: unknown): string | null {
  const written = typeof value === 'number' ? String(value) : value
  return typeof written === 'string' && decimal.test(written) ? written : null
}

/** An amount that may be missing; undefined where something is there that is no amount. */
const optionalAmount = (value: unknown): string | null | undefined =>
  value === null || value === undefined || value === '' ? null : (amount(value) ?? undefined)

/** A time; one before 1970, mostly the year 1, was never set. */
function instantOf(value: unknown): Instant | null {
  const at =
    value instanceof Date ? value.getTime() : typeof value === 'string' ? Date.parse(value) : Number.NaN
  return at >= 0 ? at : null
}

/** Alpaca marks a short sale in some places. */
function sideOf(value: unknown): Side | null {
  if (value === 'buy') return '1'
  return value === 'sell' || value === 'sell_short' ? '2' : null
}

/** Reads an order; null when it is malformed. */
export function readOrder(value: unknown): AlpacaOrder | null {
  if (!isFields(value)) return null
  const [id, clientOrderId, symbol] = [text(value.id), text(value.client_order_id), text(value.symbol)]
  const [side, type, status] = [sideOf(value.side), text(value.type ?? value.order_type), text(value.status)]
  const filledQty = amount(value.filled_qty ?? '0')
  const filledAvgPrice = optionalAmount(value.filled_avg_price)
  if (id === null || clientOrderId === null || symbol === null) return null
  if (side === null || type === null || status === null) return null
  if (filledQty === null || filledQty.startsWith('-') || filledAvgPrice === undefined) return null
  return {
    id,
    clientOrderId,
    symbol,
    side,
    type,
    status,
    filledQty,
    filledAvgPrice,
    replaces: text(value.replaces),
    replacedBy: text(value.replaced_by),
    updatedAt: instantOf(value.updated_at),
  }
}

/** The name that an order was given by whoever placed it; null where none can be read. */
export const nameOfOrder = (value: unknown): string | null =>
  isFields(value) ? text(value.client_order_id) : null

/**
 * Whether the event is about a spread as a whole, which has neither symbol nor side and is never ours. What its legs
 * execute is told under their own symbols.
 */
export const isOfSpread = (value: unknown): boolean =>
  isFields(value) && isFields(value.order) && value.order.order_class === 'mleg' && !value.order.symbol

/** Reads an event of the stream; null when it is malformed. */
export function readTradeUpdate(value: unknown): TradeUpdate | null {
  if (!isFields(value)) return null
  const [event, order] = [text(value.event), readOrder(value.order)]
  const [quantity, price] = [optionalAmount(value.qty), optionalAmount(value.price)]
  if (event === null || order === null || quantity === undefined || price === undefined) return null
  return {
    event,
    order,
    quantity,
    price,
    cumQty: order.filledQty,
    executionId: text(value.execution_id),
    previousExecutionId: text(value.previous_execution_id),
    at: instantOf(value.timestamp) ?? order.updatedAt,
  }
}

const activityTypes: Readonly<Record<string, TradeActivity['type']>> = {
  fill: 'fill',
  partial_fill: 'fill',
  trade_correct: 'trade_correct',
  trade_bust: 'trade_bust',
}

/** Reads an event of the account's history: undefined when it is about no trade, null when it is malformed. */
export function readActivity(value: unknown): TradeActivity | null | undefined {
  if (!isFields(value)) return null
  const { details } = value
  if (!isFields(details) || details.execution_type === undefined) return undefined
  const type = activityTypes[String(details.execution_type)]
  const [executionId, orderId] = [text(value.ref_id), text(details.order_id)]
  const [symbol, side] = [text(details.symbol), sideOf(details.side)]
  const [quantity, price] = [optionalAmount(value.qty), optionalAmount(value.price)]
  const cumQty = optionalAmount(details.cum_qty)
  if (type === undefined || executionId === null || orderId === null || symbol === null) return null
  if (side === null || quantity === undefined || price === undefined || cumQty === undefined) return null
  return {
    type,
    executionId,
    orderId,
    symbol,
    side,
    price,
    cumQty,
    // Some accounts are told what was sold as a negative quantity.
    quantity: quantity?.replace('-', '') ?? null,
    previousExecutionId: text(value.previous_id),
    clientOrderId: text(details.client_order_id),
    at: instantOf(value.executed_at) ?? instantOf(value.at),
  }
}

/** Reads a list; null when it is none, or any member of it is malformed. */
export function readAll<Item>(value: unknown, read: (item: unknown) => Item | null): Item[] | null {
  if (!Array.isArray(value)) return null
  const items = value.map(read)
  return items.includes(null) ? null : (items as Item[])
}

/** Reads a position; null when it is malformed. A short one is negative, whichever way Alpaca writes it. */
export function readPosition(value: unknown): AlpacaPosition | null {
  if (!isFields(value)) return null
  const [symbol, quantity] = [text(value.symbol), amount(value.qty)]
  if (symbol === null || quantity === null || (value.side !== 'long' && value.side !== 'short')) return null
  const size = quantity.replace('-', '')
  return { symbol, quantity: value.side === 'short' ? `-${size}` : size }
}

/** Reads the account; null when it is malformed. */
export function readAccount(value: unknown): AlpacaAccount | null {
  if (!isFields(value)) return null
  const [number, status] = [text(value.account_number), text(value.status)]
  const [currency, cash] = [text(value.currency ?? 'USD'), amount(value.cash)]
  if (number === null || status === null || currency === null || cash === null) return null
  const isBlocked = value.account_blocked === true || value.trading_blocked === true
  return { number, status, isBlocked, currency, cash }
}
