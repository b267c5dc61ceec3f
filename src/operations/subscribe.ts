/**
 * Opening a subscription to a strategy, by whatever way it comes: a start of Autotrade, the dashboard, a test.
 * The strategy is locked by then.
 */
import { decideOpening, joinedKind, type SubscriptionKind, termEnd } from '../domain/subscription.ts'
import type { Sql } from '../storage/sql.ts'
import {
  endSubscription,
  findOffer,
  insertSubscription,
  keepSubscription,
  lockSubscription,
} from '../storage/subscriptions.ts'
import { type Refused, refuse } from './context.ts'

export interface Subscribing {
  readonly personId: number | bigint
  readonly strategyId: number | bigint
  readonly kind: SubscriptionKind
  /** When the first term begins. */
  readonly at: number
}

/** Opens or joins; answers the subscription's id. Refuses one that is suspended for want of payment. */
export async function subscribe(sql: Sql, wanted: Subscribing): Promise<number | Refused> {
  const { personId, strategyId, kind, at } = wanted
  const present = await lockSubscription(sql, personId, strategyId)
  const opening = decideOpening(present, kind)
  if (opening === 'unpaid')
    return refuse('StateConflict', 'StrategyId', 'The subscription is suspended until it is paid')
  if (present && opening === 'join') {
    await keepSubscription(sql, present.id, joinedKind(present.kind, kind))
    return present.id
  }
  if (present) await endSubscription(sql, present.id, at, 'replaced')
  const offer = await findOffer(sql, personId, strategyId)
  if (!offer) return refuse('NotFound', 'StrategyId')
  const isFree = kind === 'simulated'
  return insertSubscription(sql, {
    ...{ personId, strategyId, kind, startedAt: at, siteId: offer.siteId },
    ...(isFree ? { basePrice: 0, markup: 0 } : offer),
    termEndsAt: isFree ? null : termEnd(at),
  })
}
