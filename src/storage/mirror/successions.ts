/**
 * The next order of a copy: how an account order is followed by another with new totals, price or type. What no
 * broker has seen is simply superseded; what a broker works is replaced there, the new order waiting until
 * the old one is acknowledged; after one that has ended a new order carries what it executed.
 * Invariant: quantities are totals of the whole copy, so nothing that was executed is traded again.
 */

import { isLive, type OrdType, type SignalType } from '../../domain/codes.ts'
import { type Decimal, dec } from '../../domain/decimal.ts'
import type { Instant } from '../../domain/time.ts'
import type { Sql } from '../database/sql.ts'
import {
  type CopyRow,
  dropReplacements,
  insertAccountOrders,
  type NewAccountOrder,
  type OrderKey,
  supersedeOrders,
} from './account-orders.ts'

/** What the next order is to be. */
export interface NextOrder {
  /** Absent: as the order before it. */
  readonly signalType?: SignalType
  readonly sourceId: number
  readonly revision: number
  readonly ordType: OrdType
  readonly timeInForce: CopyRow['timeInForce']
  readonly limitPx: string | null
  readonly stopPx: string | null
  /** What it may still trade, unsigned. */
  readonly leaves: Decimal
  readonly at: Instant
  readonly chaseAt: Instant | null
  readonly info: string | null
  readonly reason: string | null
  readonly strategyQty: Decimal
  readonly scalingPercentage: number
  readonly limitValue: Decimal | null
  readonly heldQty: Decimal
  readonly referencePx: string | null
}

export interface Succession {
  readonly order: NewAccountOrder
  /** Ends as replaced, or as a replacement that never began. */
  readonly superseded: OrderKey | null
  readonly dropped: OrderKey | null
}

/** What the copy has executed, all its orders together. */
export const executedOf = (copy: CopyRow): Decimal => dec(copy.cumQty)

const isUnsent = (copy: CopyRow): boolean => copy.status === 'A' && copy.attempts === 0

/** How the order after `copy` comes to the broker, and what it takes over. */
function succeed(
  copy: CopyRow,
): Pick<NewAccountOrder, 'pendingAction' | 'replacesOrderId' | 'carriedQty' | 'carriedValue'> &
  Pick<Succession, 'superseded' | 'dropped'> {
  const carriedQty = dec(copy.carriedQty)
  const carriedValue = dec(copy.carriedValue)
  const own = { superseded: null, dropped: null, carriedQty, carriedValue, replacesOrderId: copy.id }
  if (isUnsent(copy)) {
    return copy.pendingAction === 'replace'
      ? { pendingAction: 'replace', ...own, dropped: copy, replacesOrderId: copy.replacesOrderId }
      : { pendingAction: 'new', ...own, superseded: copy }
  }
  if (isLive(copy.status)) return { pendingAction: 'replace', ...own }
  const carried = { carriedQty: executedOf(copy), carriedValue: dec(copy.filledValue) }
  return { pendingAction: 'new', ...own, ...carried }
}

/** The order that follows `copy`, and what becomes of the copy. */
export function successionOf(copy: CopyRow, next: NextOrder): Succession {
  const { superseded, dropped, ...way } = succeed(copy)
  const { leaves, at, ...wanted } = next
  const cumQty = executedOf(copy)
  const order: NewAccountOrder = {
    accountId: copy.accountId,
    brokerId: copy.brokerId,
    setupId: copy.setupId,
    strategyId: copy.strategyId,
    source: copy.source,
    instrumentId: copy.instrumentId,
    signalType: copy.signalType,
    side: copy.side,
    positionEffect: copy.positionEffect,
    signalFilledBefore: copy.signalFilledBefore,
    setupFence: copy.setupFence,
    ...wanted,
    ...way,
    orderQty: cumQty.plus(leaves),
    cumQty,
    filledValue: dec(copy.filledValue),
    status: 'A',
    postedAt: at,
    endedAt: null,
  }
  return { order, superseded, dropped }
}

/** Writes successions; the caller has locked the copies. */
export async function saveSuccessions(
  tx: Sql,
  successions: readonly Succession[],
  at: Instant,
): Promise<void> {
  const keys = (name: 'superseded' | 'dropped'): OrderKey[] =>
    successions.flatMap((succession) => succession[name] ?? [])
  await Promise.all([
    supersedeOrders(tx, keys('superseded'), at),
    dropReplacements(tx, keys('dropped'), at),
    insertAccountOrders(
      tx,
      successions.map(({ order }) => order),
    ),
  ])
}
