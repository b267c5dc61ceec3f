/**
 * New orders of a strategy. The strategy is locked, what the order meets is read, its book decides and what
 * becomes of it is written; many orders go through the same few statements as one.
 */

import { dec } from '../../domain/decimal.ts'
import type { ModelAccount } from '../../domain/margin/model-account.ts'
import type { Parent } from '../../domain/orders/conditional.ts'
import { chargedRates } from '../../domain/positions/tables/commission-plans.ts'
import type { Sql } from '../../storage/database/sql.ts'
import { accountsOf, loadModelAccounts } from '../../storage/orders/model-accounts.ts'
import { loadPlacing, type PlacingQuestion, type PlacingRow } from '../../storage/orders/placing.ts'
import { saveOrderBooks } from '../../storage/orders/save-books.ts'
import {
  type LockedStrategy,
  loadParents,
  lockStrategies,
  type ParentRow,
} from '../../storage/orders/signals.ts'
import { type Context, isRefused, type Refused, refuse } from '../context.ts'
import { type NamedInstrument, refusedSplit } from '../symbols.ts'
import { tradesAt, withFirstUses } from './first-use.ts'
import {
  draftOf,
  type OrderCall,
  type OrderInput,
  readOrder,
  refusalOf,
  refusedPrice,
} from './order-draft.ts'
import { type PlacedCall, placeDraft, type SignalIds } from './order-placement.ts'

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

const ratesOf = (calls: readonly OrderCall[]) => chargedRates(calls[0]?.ctx.charging ?? 'default')

/** Locks the strategies of the orders and reads what these meet. */
export async function loadPlacingFacts(sql: Sql, calls: readonly OrderCall[]): Promise<PlacingFacts> {
  const read = calls.map(readOrder)
  const questions = questionsOf(calls, read)
  // Sent together: the server reads the positions after it has the locks, in snapshots of their own.
  const [strategies, { rows, holdings }, parents] = await Promise.all([
    lockStrategies(sql, [...new Set(calls.map(({ order }) => order.StrategyId))]),
    loadPlacing(sql, questions),
    loadParents(
      sql,
      calls.flatMap(({ order: { ParentSignalId } }) => ParentSignalId ?? []),
    ),
  ])
  const accounts = await accountsOf(sql, holdings, strategies, ratesOf(calls))
  return { read, questions, strategies, known: rows, parents, accounts }
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
    (row, place) => !isRefused(answer(place, row, new Map())),
  )
  // An instrument that was made just now is in no account yet.
  const keys = [...rows].map(([place, { instrumentId }]) => ({
    strategyId: Number(questions[place]?.strategyId),
    instrumentId,
  }))
  const accounts = rows === known ? facts.accounts : await loadModelAccounts(sql, keys, ratesOf(calls))
  const placed = calls.map((_, index) => answer(index, rows.get(index), accounts))
  const accepted = placed.flatMap((outcome) => (isRefused(outcome) ? [] : [outcome]))
  await sql.withCommit(() => savePlaced(sql, accepted))
  return placed.map((outcome) => (isRefused(outcome) ? outcome : outcome.answer))
}

/** Writes what was placed and wakes the workers. */
export async function savePlaced(sql: Sql, placed: readonly PlacedCall[]): Promise<void> {
  if (placed.length === 0) return
  const books = placed.map(({ saved }) => saved)
  await saveOrderBooks(sql, books, { wakes: true })
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
  const refusal = refusedSplit(row, ctx.now) ?? refusedPrice(draft, row.tick)
  if (refusal) return refusal
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

/** Until when the order is parked; null for one that starts at once. */
const releaseOf = ({ ParkedUntilDate }: OrderInput, { now }: Context): number | null =>
  ParkedUntilDate !== undefined && ParkedUntilDate > now ? ParkedUntilDate : null

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
