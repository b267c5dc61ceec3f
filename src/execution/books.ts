/**
 * Books between rows and rules: loads what locked strategies have at work, many in one statement, and writes
 * what the market did to them in as many statements again.
 */
import { type Decimal, dec, one } from '../domain/decimal.ts'
import { averageFillPrice } from '../domain/order-state.ts'
import { flat, type Position } from '../domain/position.ts'
import { commissionPlans } from '../domain/tables/commission-plans.ts'
import { insertFills, savePositions, updateSignals } from '../storage/fills.ts'
import { type BookKey, loadWorkingSignals, type WorkingSignalRow } from '../storage/matching.ts'
import { loadRates, type QuotedInstrument } from '../storage/quotes.ts'
import { insertSignalEvents } from '../storage/signals.ts'
import type { Transaction } from '../storage/sql.ts'
import { instant } from '../storage/wire.ts'
import type { BookSignal, BookTerms, SignalBook } from './booking.ts'
import type { WorkContext } from './context.ts'
import { bookTrades, type TradeStep } from './trades.ts'

/** Strategies keep their books in this currency. */
export const bookCurrency = 'USD'

/** Loads the books; one without a signal at work is missing. The caller has locked their strategies. */
export async function loadBooks(
  ctx: WorkContext,
  tx: Transaction,
  keys: readonly BookKey[],
  instruments: ReadonlyMap<number, QuotedInstrument>,
): Promise<SignalBook[]> {
  if (keys.length === 0) return []
  const rows = await loadWorkingSignals(tx, keys, bookCurrency)
  const foreign = [...new Set([...instruments.values()].map(({ currency }) => currency))].filter(
    (currency) => currency !== bookCurrency,
  )
  const rates = foreign.length > 0 ? await loadRates(tx, bookCurrency, foreign) : new Map<string, Decimal>()
  return groupByBook(rows).flatMap((group) => {
    const [first] = group
    const instrument = first && instruments.get(first.instrumentId)
    return instrument ? [bookOf(group, first, termsOf(ctx, instrument, rates, first.lastFx))] : []
  })
}

function groupByBook(rows: readonly WorkingSignalRow[]): WorkingSignalRow[][] {
  const groups = new Map<string, WorkingSignalRow[]>()
  for (const row of rows) {
    const key = `${row.strategyId} ${row.instrumentId}`
    const group = groups.get(key)
    if (group) group.push(row)
    else groups.set(key, [row])
  }
  return [...groups.values()]
}

/** The pair's quote decides the rate, else the strategy's last one, else one. */
function termsOf(
  ctx: WorkContext,
  { securityType, pointValue, currency }: QuotedInstrument,
  rates: ReadonlyMap<string, Decimal>,
  lastFx: string | null,
): BookTerms {
  const known = lastFx === null ? one : dec(lastFx)
  return {
    securityType,
    currency,
    pointValue,
    fx: currency === bookCurrency ? one : (rates.get(currency) ?? known),
    rates: ctx.settings.commissionPlan === 'none' ? null : commissionPlans[0][securityType],
  }
}

function bookOf(rows: readonly WorkingSignalRow[], first: WorkingSignalRow, terms: BookTerms): SignalBook {
  return {
    strategyId: first.strategyId,
    instrumentId: first.instrumentId,
    terms,
    position: positionOf(first, terms),
    openedAt: first.openedAt,
    signals: new Map(rows.map((row) => [row.signalId, signalOf(row, terms)])),
    fills: [],
    events: [],
  }
}

/** The cost in account currency is not kept beside the position: no cash depends on it. */
function positionOf({ positionQty, positionAvgPx }: WorkingSignalRow, terms: BookTerms): Position {
  if (positionAvgPx === null) return flat
  const avgPx = dec(positionAvgPx)
  return { quantity: dec(positionQty), avgPx, avgCost: avgPx.times(terms.pointValue).times(terms.fx) }
}

const optional = (text: string | null): Decimal | null => (text === null ? null : dec(text))

function signalOf(row: WorkingSignalRow, terms: BookTerms): BookSignal {
  return {
    id: row.signalId,
    side: row.side,
    ordType: row.ordType,
    positionEffect: row.positionEffect,
    limitPx: optional(row.limitPx),
    stopPx: optional(row.stopPx),
    postedAt: row.postedAt,
    workingAt: row.workingAt,
    expiresAt: row.expiresAt,
    needsMatch: row.needsMatch,
    order: {
      status: row.status,
      orderQuantity: dec(row.orderQty),
      filledQuantity: dec(row.cumQty),
      filledValue: dec(row.filledValue),
      acknowledged: true,
      held: false,
    },
    isTriggered: row.isTriggered,
    fills: row.fills,
    turnover: { quantity: dec(row.ownQty), notional: dec(row.ownNotional).times(terms.pointValue) },
    endedAt: null,
    info: null,
  }
}

/**
 * Writes what happened in the books and answers how many signals it moved. `before` are the books as loaded, `steps`
 * each one's fills with the prices it saw between them.
 */
export async function saveBooks(
  tx: Transaction,
  before: readonly SignalBook[],
  after: readonly SignalBook[],
  steps: readonly (readonly TradeStep[])[] = after.map(({ fills }) => fills),
): Promise<number> {
  const moved = after.filter((book, place) => book !== before[place])
  const traded = after.flatMap((book, place) =>
    book.fills.length > 0 ? [{ book, steps: steps[place] ?? book.fills }] : [],
  )
  const changed = after.flatMap((book, place) =>
    [...book.signals.values()].filter((signal) => before[place]?.signals.get(signal.id) !== signal),
  )
  if (changed.length === 0) return 0
  const trades = traded.length > 0 ? await bookTrades(tx, traded, bookCurrency) : new Map<string, number>()
  await Promise.all([
    updateSignals(
      tx,
      changed.map(({ id, order, isTriggered, endedAt, info }) => ({
        signalId: id,
        status: order.status,
        isTriggered,
        cumQty: order.filledQuantity,
        avgPx: averageFillPrice(order) ?? null,
        endedAt,
        info,
      })),
    ),
    saveFills(tx, moved, trades),
    insertSignalEvents(tx, moved.flatMap(newEvents)),
  ])
  return changed.length
}

async function saveFills(
  tx: Transaction,
  books: readonly SignalBook[],
  trades: ReadonlyMap<string, number>,
): Promise<void> {
  const traded = books.filter((book) => book.fills.length > 0)
  if (traded.length === 0) return
  const fills = traded.flatMap((book) =>
    book.fills.map(({ execId, signal, quantity, price, commission, cashChange, at }) => ({
      execId,
      signalId: signal.id,
      strategyId: book.strategyId,
      instrumentId: book.instrumentId,
      side: signal.side,
      quantity,
      px: price,
      fx: book.terms.fx,
      commission,
      cashChange,
      filledAt: at,
      tradeId: trades.get(execId) ?? null,
    })),
  )
  const positions = traded.map(({ strategyId, instrumentId, position, openedAt }) => ({
    strategyId,
    instrumentId,
    quantity: position.quantity,
    avgPx: position.avgPx,
    openedAt,
  }))
  await Promise.all([insertFills(tx, fills), savePositions(tx, positions)])
}

/** Events of a book as rows: each signal's in the order in which they happened. */
function newEvents(book: SignalBook) {
  const counts = new Map<number, number>()
  return book.events.map(({ signalId, event, status, at, cause }) => {
    const offset = counts.get(signalId) ?? 0
    counts.set(signalId, offset + 1)
    return { signalId, offset, event, status, occurredAt: instant(at), cause }
  })
}
