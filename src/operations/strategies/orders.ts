/**
 * New orders of a strategy. The strategy is locked, what the order meets is read, its book decides and what
 * becomes of it is written; many orders go through the same few statements as one.
 */
import type { StrategyOrderInput } from '../../contract/resources/order.ts'
import type { ReadOf } from '../../contract/schema.ts'
import type { OrdType, PositionEffect, Side, TimeInForce } from '../../domain/codes.ts'
import { type Decimal, dec } from '../../domain/decimal.ts'
import { type ModelAccount, openingRejection } from '../../domain/margin/model-account.ts'
import { type CalendarName, readCalendarName } from '../../domain/market/calendar.ts'
import { submitOrder } from '../../domain/orders/book-submit.ts'
import type { Parent } from '../../domain/orders/conditional.ts'
import { type BookOrder, type BookRefusal, emptyBook } from '../../domain/orders/order-book.ts'
import { currentPriceOf, midOf, type OrderPrices, offTick } from '../../domain/orders/placing.ts'
import { chargedRates } from '../../domain/positions/tables/commission-plans.ts'
import type { Sql } from '../../storage/database/sql.ts'
import { instant } from '../../storage/database/wire.ts'
import { loadModelAccounts, loadNamedAccounts } from '../../storage/orders/model-accounts.ts'
import { causedBy, unworked, worked } from '../../storage/orders/order-books.ts'
import { type SavedBook, type SignalWish, saveOrderBooks } from '../../storage/orders/save-books.ts'
import {
  type LockedStrategy,
  loadParents,
  loadPlacing,
  lockStrategies,
  type ParentRow,
  type PlacingQuestion,
  type PlacingRow,
  wakeWorkers,
} from '../../storage/orders/signals.ts'
import { type Context, isRefused, type Refused, refuse } from '../context.ts'
import { type NamedInstrument, namedInstrument } from '../symbols.ts'
import { tradesAt, withFirstUses } from './first-use.ts'

export type OrderInput = ReadOf<typeof StrategyOrderInput>
export interface OrderCall {
  ctx: Context
  order: OrderInput
}

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

/** The order in the domain's words. Quantities are unsigned. */
export interface OrderDraft extends OrderPrices {
  side: Side
  ordType: OrdType
  timeInForce: TimeInForce
  openClose: PositionEffect | undefined
  quantity: Decimal
  doNotSyncToOpen: boolean
}

/** The instrument that the order names. */
export const readOrder = ({ ctx, order }: OrderCall): NamedInstrument | Refused =>
  namedInstrument(order, ctx.now) ?? refuse('InvalidSymbol', 'Symbol')

const priceOf = (value: number | undefined): Decimal | undefined =>
  value === undefined ? undefined : dec(value)

/** Prices and quantities by their shortest exact text. */
export const draftOf = (order: OrderInput): OrderDraft => ({
  side: order.Side,
  ordType: order.OrderType,
  timeInForce: order.TIF,
  openClose: order.OpenClose,
  quantity: dec(order.OrderQuantity),
  // A price of another order type than the one sent is not part of the order.
  limitPx: order.OrderType === '2' ? priceOf(order.Limit) : undefined,
  stopPx: order.OrderType === '3' ? priceOf(order.Stop) : undefined,
  profitTarget: priceOf(order.ProfitTarget),
  stopLoss: priceOf(order.StopLoss),
  doNotSyncToOpen: order.DoNotSyncToOpen ?? false,
})

const fieldOf: Record<keyof OrderPrices, string> = {
  limitPx: 'Order.Limit',
  stopPx: 'Order.Stop',
  profitTarget: 'Order.ProfitTarget',
  stopLoss: 'Order.StopLoss',
}

/** Refuses a price that the instrument cannot be quoted at. */
export function refusedPrice(prices: OrderPrices, tick: string): Refused | undefined {
  const name = offTick(prices, dec(tick))
  return name && refuse('InvalidParameter', fieldOf[name], 'The price is no multiple of the tick size')
}

const noParent = (words: string): Refused => refuse('InvalidParameter', 'Order.ParentSignalId', words)

/** What the book refuses leaves nothing behind. */
const refusalOf: Record<BookRefusal, (order: OrderInput) => Refused> = {
  duplicateId: () => refuse('Unknown'),
  unknownOrder: () => refuse('NotFound', 'SignalId'),
  notAllowedNow: () => refuse('OrderRejected', 'SignalId'),
  quantityNotPositive: () => refuse('InvalidParameter', 'Order.OrderQuantity'),
  unknownParent: () => noParent('The strategy has no such signal'),
  parentEnded: () => noParent('The parent has ended without being filled'),
  tooManyAncestors: () => noParent('The parent has too many ancestors'),
  exitsOfClosingOrder: ({ ProfitTarget }) =>
    refuse(
      'BadCombination',
      `Order.${ProfitTarget === undefined ? 'StopLoss' : 'ProfitTarget'}`,
      'A closing order has no exits',
    ),
  profitTargetOnWrongSide: ({ Side: side }) => misplaced('ProfitTarget', side),
  stopLossOnWrongSide: ({ Side: side }) => misplaced('StopLoss', side),
}

const misplaced = (exit: string, side: Side): Refused =>
  refuse(
    'BadCombination',
    `Order.${exit}`,
    `On the wrong side for a ${side === '1' ? 'long' : 'short'} position`,
  )

/** Ids that the order's family needs beside the order's own. */
function familySize({ ProfitTarget, StopLoss, DoNotCreateOCAGroup }: OrderInput): number {
  const exits = [ProfitTarget, StopLoss].filter((price) => price !== undefined).length
  return exits + (exits === 2 && DoNotCreateOCAGroup !== true ? 1 : 0)
}

/** What the orders would trade, as questions to the database; one without an instrument asks for none. */
const questionsOf = (
  calls: readonly OrderCall[],
  read: readonly (NamedInstrument | Refused)[],
): PlacingQuestion[] =>
  calls.map(({ order }, index) => {
    const named = read[index]
    const unnamed = named === undefined || isRefused(named)
    return {
      strategyId: order.StrategyId,
      ...(unnamed ? { securityType: 'CS' as const, spellings: [] } : named),
      moreIds: familySize(order),
      ...(order.OpenClose === undefined && order.ParentSignalId === undefined && { reverses: order.Side }),
    }
  })

/** What the decision on some orders is made from, read under the locks of their strategies. */
export interface PlacingFacts {
  readonly read: readonly (NamedInstrument | Refused)[]
  readonly questions: readonly PlacingQuestion[]
  readonly strategies: ReadonlyMap<number, LockedStrategy>
  readonly known: ReadonlyMap<number, PlacingRow>
  readonly parents: ReadonlyMap<string, ParentRow>
  readonly accounts: ReadonlyMap<number, ModelAccount>
}

// Only what may open is held against the account.
const mayOpen = (call: OrderCall | undefined): boolean => call?.order.OpenClose !== 'C'

const ratesOf = (calls: readonly OrderCall[]) => chargedRates(calls[0]?.ctx.charging ?? 'default')

/** Locks the strategies of the orders and reads what these meet. */
export async function loadPlacingFacts(sql: Sql, calls: readonly OrderCall[]): Promise<PlacingFacts> {
  const read = calls.map(readOrder)
  const questions = questionsOf(calls, read)
  const opening = questions.filter((_, index) => mayOpen(calls[index]))
  // Sent together: the server reads the positions after it has the locks, in snapshots of their own.
  const [strategies, known, parents, accounts] = await Promise.all([
    lockStrategies(sql, [...new Set(calls.map(({ order }) => order.StrategyId))]),
    loadPlacing(sql, questions),
    loadParents(
      sql,
      calls.flatMap(({ order: { ParentSignalId } }) => ParentSignalId ?? []),
    ),
    loadNamedAccounts(sql, opening, ratesOf(calls)),
  ])
  return { read, questions, strategies, known, parents, accounts }
}

/** Places new orders, all in the caller's transaction; one answer per call, in order. */
export async function placeOrders(
  sql: Sql,
  calls: readonly OrderCall[],
  facts: PlacingFacts,
): Promise<(SignalIds | Refused)[]> {
  const { read, questions, strategies, known, parents } = facts
  const answer = (index: number, row: PlacingRow | undefined, accounts: Facts['accounts']) => {
    const call = calls[index] as OrderCall
    const named = read[index]
    if (named === undefined || isRefused(named)) return named ?? refuse('InvalidSymbol', 'Symbol')
    return decide(call, strategies.get(Number(call.order.StrategyId)), row, { parents, accounts })
  }
  const now = calls[0]?.ctx.now ?? 0
  const rows = await withFirstUses(
    sql,
    now,
    questions,
    known,
    (row) => !isRefused(answer(row.place, row, new Map())),
  )
  // An instrument that was made just now is in no account yet.
  const opening = [...rows.values()].flatMap(({ place, instrumentId }) =>
    mayOpen(calls[place]) ? [{ strategyId: Number(questions[place]?.strategyId), instrumentId }] : [],
  )
  const accounts = rows === known ? facts.accounts : await loadModelAccounts(sql, opening, ratesOf(calls))
  const placed = calls.map((_, index) => answer(index, rows.get(index), accounts))
  const accepted = placed.flatMap((outcome) => (isRefused(outcome) ? [] : [outcome]))
  await sql.withCommit(() => savePlaced(sql, accepted))
  return placed.map((outcome) => (isRefused(outcome) ? outcome : outcome.answer))
}

/** Writes what was placed and wakes the workers. */
export async function savePlaced(sql: Sql, placed: readonly PlacedCall[]): Promise<void> {
  if (placed.length === 0) return
  const books = placed.map(({ saved }) => saved)
  await Promise.all([saveOrderBooks(sql, books), wakeWorkers(sql)])
}

/** What orders are held against beside their own strategy and instrument. */
interface Facts {
  readonly parents: ReadonlyMap<string, ParentRow>
  readonly accounts: ReadonlyMap<number, ModelAccount>
}

function decide(
  { ctx, order }: OrderCall,
  strategy: LockedStrategy | undefined,
  row: PlacingRow | undefined,
  { parents, accounts }: Facts,
): PlacedCall | Refused {
  if (!strategy) return refuse('NotFound', 'Order.StrategyId')
  if (!strategy.isAlive) return refuse('StateConflict', 'Order.StrategyId', 'The strategy is not alive')
  if (!row || !tradesAt(row, ctx.now)) return refuse('InvalidSymbol', 'Symbol')
  const draft = draftOf(order)
  const offTickPrice = refusedPrice(draft, row.tick)
  if (offTickPrice) return offTickPrice
  const parent = parentOf(order, strategy, parents)
  if (parent === 'unknownParent') return refusalOf.unknownParent(order)
  const family = {
    parent,
    parkedUntil: releaseOf(order, ctx),
    doNotCreateOcaGroup: order.DoNotCreateOCAGroup ?? false,
  }
  const placed = placeDraft(ctx, strategy, row, draft, { family, account: accounts.get(strategy.id) })
  return typeof placed === 'string' ? refusalOf[placed](order) : placed
}

/** What an order has around it: the strategy's money, and its family where it has one. */
interface Surroundings {
  readonly account: ModelAccount | undefined
  readonly family?: Family
  /** Made to reach desired positions. */
  readonly fromDesired?: boolean
}

interface Family {
  readonly parent: Parent | null
  /** Null for an order that starts at once. */
  readonly parkedUntil: number | null
  readonly doNotCreateOcaGroup: boolean
}

const alone: Family = { parent: null, parkedUntil: null, doNotCreateOcaGroup: false }

/** What an order of a locked strategy becomes, to be written with others. */
export function placeDraft(
  ctx: Context,
  strategy: LockedStrategy,
  row: PlacingRow,
  draft: OrderDraft,
  { account, family = alone, fromDesired = false }: Surroundings,
): PlacedCall | BookRefusal {
  const { parkedUntil } = family
  const ids = [...row.moreIds]
  const empty = unworked(bookKey(strategy, row), emptyBook(dec(row.position)))
  const rejection = openingRejection(account, row.instrumentId, ctx.now)
  const result = submitOrder(empty.book, bookDraft(draft, family, row), {
    at: ctx.now,
    newId: () => String(ids.shift() ?? missingId(row)),
    rejection,
  })
  if (result.refusal) return result.refusal
  const cause = { requestId: ctx.requestId, position: row.position, bid: row.bid, ask: row.ask }
  const book = worked(empty, result, ctx.now, causedBy(cause))
  const orders = [...result.book.orders.values()]
  const wishes = new Map(
    orders.map((made) => [made.id, { fromDesired, ...wishOf(made, draft, family, { row, orders }) }]),
  )
  return {
    saved: { wishes, requestId: ctx.requestId, ...book },
    answer: {
      SignalId: row.signalId,
      ...exitIds(orders),
      ...(parkedUntil !== null && { ParkedUntilDate: parkedUntil }),
    },
  }
}

/** Until when the order is parked; null for one that starts at once. */
const releaseOf = ({ ParkedUntilDate }: OrderInput, { now }: Context): number | null =>
  ParkedUntilDate !== undefined && ParkedUntilDate > now ? ParkedUntilDate : null

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
  openClose: draft.openClose ?? null,
  profitTarget: draft.profitTarget ?? null,
  stopLoss: draft.stopLoss ?? null,
  doNotCreateOcaGroup,
  mid: midOf(row.bid, row.ask) ?? null,
  parent,
  isParked: parkedUntil !== null,
})

function missingId(row: PlacingRow): never {
  throw new Error(`signal ${row.signalId} needs more ids than were taken`)
}

/** Names the book of an order that was placed. */
export function bookKey(strategy: LockedStrategy, row: Pick<PlacingRow, 'instrumentId' | 'calendar'>) {
  return { strategyId: strategy.id, instrumentId: row.instrumentId, calendar: calendarOf(row.calendar) }
}

function calendarOf(text: string): CalendarName {
  const name = readCalendarName(text)
  if (!name) throw new Error(`an instrument names the unknown calendar ${text}`)
  return name
}

function parentOf(
  { ParentSignalId }: OrderInput,
  strategy: LockedStrategy,
  parents: ReadonlyMap<string, ParentRow>,
): Parent | null | 'unknownParent' {
  if (ParentSignalId === undefined) return null
  const row = parents.get(String(ParentSignalId))
  if (!row || row.strategyId !== strategy.id) return 'unknownParent'
  return { filledQuantity: dec(row.cumQty), ...row, id: String(row.id) }
}

/** Only an opening order that rests can be missing in an account later; elsewhere the wish means nothing. */
export const staysUnsynced = (draft: OrderDraft, openClose: PositionEffect): boolean =>
  draft.doNotSyncToOpen && openClose === 'O' && draft.ordType !== '1'

/** What the listing shows of an order beside its book; exits are named where their entry is. */
function wishOf(
  made: BookOrder,
  draft: OrderDraft,
  { parkedUntil, doNotCreateOcaGroup }: Family,
  { row, orders }: { row: PlacingRow; orders: readonly BookOrder[] },
): Omit<SignalWish, 'fromDesired'> {
  const isEntry = orders.some(({ exit, parent }) => exit !== null && parent === made.id)
  const shows = isEntry || orders.length === 1
  return {
    doNotSyncToOpen: made.exit === null && made.status !== '8' && staysUnsynced(draft, made.openClose),
    parkedUntil: made.isParked ? instant(parkedUntil) : null,
    profitTarget: shows ? (draft.profitTarget?.toFixed() ?? null) : null,
    stopLoss: shows ? (draft.stopLoss?.toFixed() ?? null) : null,
    doNotCreateOcaGroup: shows && doNotCreateOcaGroup,
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
