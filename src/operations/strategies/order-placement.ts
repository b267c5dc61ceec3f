/** What becomes of an order that a strategy places: its book decides, and the rows and the answer are made of it. */
import { dec } from '../../domain/decimal.ts'
import { type ModelAccount, openingRejection } from '../../domain/margin/model-account.ts'
import { type CalendarName, readCalendarName } from '../../domain/market/calendar.ts'
import { storedMid } from '../../domain/market/quote.ts'
import { submitOrder } from '../../domain/orders/book-submit.ts'
import type { Parent } from '../../domain/orders/conditional.ts'
import { type BookOrder, type BookRefusal, emptyBook } from '../../domain/orders/order-book.ts'
import { currentPriceOf } from '../../domain/orders/placing.ts'
import { instant } from '../../storage/database/wire.ts'
import { causedBy, unworked, worked } from '../../storage/orders/order-books.ts'
import type { PlacingRow } from '../../storage/orders/placing.ts'
import type { SavedBook, SignalWish } from '../../storage/orders/save-books.ts'
import type { LockedStrategy } from '../../storage/orders/signals.ts'
import type { Context } from '../context.ts'
import { type OrderDraft, staysUnsynced } from './order-draft.ts'

/** What new, cancel and replace answer. */
export interface SignalIds {
  SignalId: number
  ProfitTargetSignalId?: number
  StopLossSignalId?: number
  ExitSignalsOCAGroupId?: number
  ParkedUntilDate?: number
}

export interface PlacedCall {
  readonly saved: SavedBook
  readonly answer: SignalIds
}

/** What an order has around it: the strategy's money, and its family. */
interface Surroundings {
  readonly account: ModelAccount | undefined
  readonly family: Family
  /** Made to reach desired positions. */
  readonly fromDesired?: boolean
}

interface Family {
  readonly parent: Parent | null
  /** Null for an order that starts at once. */
  readonly parkedUntil: number | null
  readonly doNotCreateOcaGroup: boolean
}

/** What an order of a locked strategy becomes, to be written with others. */
export function placeDraft(
  ctx: Context,
  strategy: LockedStrategy,
  row: PlacingRow,
  draft: OrderDraft,
  { account, family, fromDesired = false }: Surroundings,
): PlacedCall | BookRefusal {
  const { parkedUntil } = family
  const ids = [...row.moreIds]
  const key = { strategyId: strategy.id, instrumentId: row.instrumentId, calendar: calendarOf(row.calendar) }
  const empty = unworked(key, emptyBook(dec(row.position)))
  const rejection = openingRejection(account, row.instrumentId, ctx.now)
  const result = submitOrder(empty.book, bookDraft(draft, family, row), {
    at: ctx.now,
    newId: () => String(ids.shift() ?? missingId(row)),
    rejection,
  })
  if (result.refusal) return result.refusal
  // The request is named by the order's own row.
  const cause = { position: row.position, bid: row.bid, ask: row.ask }
  const book = worked(empty, result, ctx.now, causedBy(cause))
  const orders = [...result.book.orders.values()]
  const wishes = new Map(
    orders.map((made) => [made.id, wishOf(made, draft, family, { row, orders, fromDesired })]),
  )
  return {
    saved: {
      wishes,
      requestId: ctx.requestId,
      membershipVersion: strategy.membershipVersion,
      ...book,
    },
    answer: {
      SignalId: row.signalId,
      ...exitIds(orders),
      ...(parkedUntil !== null && { ParkedUntilDate: parkedUntil }),
    },
  }
}

const bookDraft = (
  draft: OrderDraft,
  { parent, parkedUntil, doNotCreateOcaGroup }: Family,
  row: PlacingRow,
) => ({
  id: String(row.signalId),
  side: draft.side,
  type: draft.ordType,
  timeInForce: draft.timeInForce,
  quantity: draft.quantity,
  limit: draft.limitPx ?? null,
  stop: draft.stopPx ?? null,
  positionEffect: draft.positionEffect ?? null,
  profitTarget: draft.profitTarget ?? null,
  stopLoss: draft.stopLoss ?? null,
  doNotCreateOcaGroup,
  mid: storedMid(row.bid, row.ask),
  parent,
  isParked: parkedUntil !== null,
})

function missingId(row: PlacingRow): never {
  throw new Error(`signal ${row.signalId} needs more ids than were taken`)
}

function calendarOf(text: string): CalendarName {
  const name = readCalendarName(text)
  if (!name) throw new Error(`an instrument names the unknown calendar ${text}`)
  return name
}

/** What the listing shows of an order beside its book; exits are named where their entry is. */
function wishOf(
  made: BookOrder,
  draft: OrderDraft,
  { parkedUntil, doNotCreateOcaGroup }: Family,
  { row, orders, fromDesired }: { row: PlacingRow; orders: readonly BookOrder[]; fromDesired: boolean },
): SignalWish {
  const isEntry = orders.some(({ exit, parent }) => exit !== null && parent === made.id)
  const shows = isEntry || orders.length === 1
  return {
    doNotSyncToOpen: made.exit === null && made.status !== '8' && staysUnsynced(draft, made.positionEffect),
    parkedUntil: made.isParked ? instant(parkedUntil) : null,
    profitTarget: shows ? (draft.profitTarget?.toFixed() ?? null) : null,
    stopLoss: shows ? (draft.stopLoss?.toFixed() ?? null) : null,
    doNotCreateOcaGroup: shows && doNotCreateOcaGroup,
    fromDesired,
    referencePx: currentPriceOf(made.side, row.bid, row.ask)?.toFixed() ?? null,
  }
}

function exitIds(orders: readonly BookOrder[]) {
  const target = orders.find(({ exit }) => exit === 'profitTarget')
  const loss = orders.find(({ exit }) => exit === 'stopLoss')
  const group = target?.ocaGroup ?? null
  return {
    ...(target && { ProfitTargetSignalId: Number(target.id) }),
    ...(loss && { StopLossSignalId: Number(loss.id) }),
    ...(group !== null && { ExitSignalsOCAGroupId: Number(group) }),
  }
}
