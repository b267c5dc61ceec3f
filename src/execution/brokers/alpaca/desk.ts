/**
 * What the parts of the adapter share: the sessions, and the one way in which orders and reports of Alpaca enter the
 * platform. An order that somebody else replaced has ended for us; one that was withdrawn to be placed anew has not.
 */
import { parseClientOrderId } from '../../../domain/orders/client-order-id.ts'
import { hasReplacement } from '../../../storage/brokers/broker-pulls.ts'
import { insertToldReports } from '../../../storage/brokers/report-intake.ts'
import type { WorkContext } from '../../context.ts'
import { isOurs } from '../../own-orders.ts'
import type { Outcome } from './client.ts'
import { type Report, reportsOfOrder, type Source } from './reports.ts'
import { raise, type Session, type Sessions } from './sessions.ts'
import { type AlpacaOrder, readOrder } from './wire.ts'

export interface Desk {
  readonly sessions: Sessions
  /** What was wrong with the last call, in words for the operator. */
  why(): string | undefined
  /** Asks that the history of these accounts be read soon. */
  pull(accountIds: readonly number[]): void
}

/** Whose reports these are, and when they were heard. */
export const sourceOf = (ctx: WorkContext, { brokerId, accountId }: Session): Source => ({
  brokerId,
  accountId,
  now: ctx.clock.now(),
})

/** Takes reports in. Of orders that are not ours only the executions matter. */
export async function take(ctx: WorkContext, reports: readonly Report[]): Promise<number> {
  const news = reports.filter(
    ({ kind, clientOrderId }) =>
      kind === 'fill' || kind === 'bust' || isOurs(ctx.settings.environment, clientOrderId),
  )
  if (news.length > 0) await ctx.db.transaction((tx) => insertToldReports(tx, news))
  return news.length
}

/** Takes in what an order by itself tells; answers how many reports that were. */
export async function takeOrder(ctx: WorkContext, session: Session, order: AlpacaOrder): Promise<number> {
  const settled = isOurs(ctx.settings.environment, order.clientOrderId)
    ? await settledOrder(ctx, session, order)
    : null
  return settled ? take(ctx, reportsOfOrder(sourceOf(ctx, session), settled)) : 0
}

/** The order as it ended for us; null while that cannot be said. */
async function settledOrder(
  ctx: WorkContext,
  session: Session,
  order: AlpacaOrder,
): Promise<AlpacaOrder | null> {
  if (order.status === 'replaced' && order.replacedBy !== null) {
    const by = await readOutcome(ctx, session, await session.client.order(order.replacedBy))
    if (by === undefined) return null
    return by && isOurs(ctx.settings.environment, by.clientOrderId) ? order : { ...order, status: 'canceled' }
  }
  return order.status === 'canceled' && (await isBeingReplaced(ctx, session, order)) ? null : order
}

async function isBeingReplaced(
  ctx: WorkContext,
  { accountId }: Session,
  order: AlpacaOrder,
): Promise<boolean> {
  const key = parseClientOrderId(order.clientOrderId)
  return key !== null && (await hasReplacement(ctx.db.read, { ...key, accountId }))
}

/** The order that an answer holds: null when there is none, undefined when the answer tells nothing. */
export async function readOutcome(
  ctx: WorkContext,
  { brokerId, accountId }: Session,
  said: Outcome,
): Promise<AlpacaOrder | null | undefined> {
  if (said.outcome === 'refused') return isAbsent(said) ? null : undefined
  if (said.outcome !== 'done') return undefined
  const order = readOrder(said.body)
  if (order === null) await raise(ctx, brokerId, accountId, 'MalformedAnswer', 'order')
  return order ?? undefined
}

/** Alpaca's own word that there is no such order; a page that is missing on the way says nothing. */
export const isAbsent = (said: Outcome): boolean =>
  said.outcome === 'refused' && said.status === 404 && said.code.startsWith('404')

/** Asks for an order by our id: null when Alpaca has none, undefined when that is not known. */
export async function lookUp(
  ctx: WorkContext,
  session: Session,
  clientOrderId: string,
): Promise<AlpacaOrder | null | undefined> {
  const order = await readOutcome(ctx, session, await session.client.orderByClientId(clientOrderId))
  if (!order || isSameId(order, clientOrderId)) return order
  await raise(ctx, session.brokerId, session.accountId, 'MalformedAnswer', 'another order')
  return undefined
}

/** Brokers may fold the case of ids. */
export const isSameId = (order: AlpacaOrder, clientOrderId: string): boolean =>
  order.clientOrderId.toUpperCase() === clientOrderId.toUpperCase()
