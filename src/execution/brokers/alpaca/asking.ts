/**
 * Asking Alpaca what it has. Each account is asked for itself: one that does not answer, or whose answer makes no
 * sense, is left out, and the others are heard. What is learnt of orders by the way is taken in as reports.
 */
import type { WorkContext } from '../../context.ts'
import { inLanes } from '../../lanes.ts'
import { isOurs } from '../../own-orders.ts'
import {
  type AccountSnapshot,
  BrokerUnreachable,
  type OrderName,
  type OrderStanding,
  type WorkingOrder,
} from '../broker.ts'
import { type Desk, lookUp, takeOrder } from './desk.ts'
import type { Notices } from './notices.ts'
import { standingOf } from './reports.ts'
import { isKeyRefused, isSession, raise, type Session, soon } from './sessions.ts'
import { symbolOf } from './tickets.ts'
import { nameOfOrder, readAccount, readAll, readOrder, readPosition } from './wire.ts'

/** Accounts that are asked side by side. */
export const lanes = 20

/** How each order stands: null where Alpaca has none, undefined where it did not say. */
export async function findAll(
  ctx: WorkContext,
  desk: Desk,
  orders: readonly OrderName[],
): Promise<(OrderStanding | null | undefined)[]> {
  const sessions = await desk.sessions.of(
    ctx,
    orders.map(({ accountId }) => accountId),
  )
  const found = await inLanes(orders, lanes, async ({ clientOrderId }, place) => {
    const session = await soon(sessions[place])
    if (!session || !isSession(session)) return undefined
    const order = await lookUp(ctx, session, clientOrderId)
    if (!order) return order
    await takeOrder(ctx, session, order)
    return standingOf(order) ?? undefined
  })
  desk.pull(orders.filter((_, place) => found[place]).map(({ accountId }) => accountId))
  if (orders.length > 0 && found.every((standing) => standing === undefined))
    throw silent(desk, 'what it has')
  return found
}

/** What the accounts hold, work and own, those left out of which Alpaca did not say all three. */
export async function snapshotAll(
  ctx: WorkContext,
  desk: Desk,
  notices: Notices,
  accountIds: readonly number[],
): Promise<AccountSnapshot[]> {
  let isAsked = false
  const said = await inLanes(await desk.sessions.of(ctx, accountIds), lanes, async (coming) => {
    const session = await coming
    if (!('refused' in session)) isAsked = true
    if (isSession(session)) {
      const snapshot = await snapshotOf(ctx, notices, session)
      // Only now: read any sooner, the history might lack what the account holds by then.
      desk.pull([session.accountId])
      return snapshot
    }
    if ('revoked' in session) await notices.ofKey(ctx, session.revoked)
    return undefined
  })
  const snapshots = said.filter((snapshot) => snapshot !== undefined)
  if (isAsked && snapshots.length === 0) throw silent(desk, 'what its accounts hold')
  return snapshots
}

function silent({ why }: Desk, about: string): BrokerUnreachable {
  const reason = why()
  return new BrokerUnreachable(`Alpaca does not say ${about}${reason === undefined ? '' : `: ${reason}`}`)
}

async function snapshotOf(
  ctx: WorkContext,
  notices: Notices,
  session: Session,
): Promise<AccountSnapshot | undefined> {
  const { client, accountId, brokerId } = session
  const [account, held, open] = await Promise.all([client.account(), client.positions(), client.openOrders()])
  if (isKeyRefused(account)) await notices.ofKey(ctx, session)
  const owner = account.outcome === 'done' ? readAccount(account.body) : undefined
  // That it is blocked counts whatever is said of the rest, which a blocked account may not be shown.
  if (owner) await notices.ofAccount(ctx, session, owner)
  if (owner === undefined || held.outcome !== 'done' || open.outcome !== 'done') return undefined
  const positions = readAll(held.body, readPosition)
  const working = workingOf(ctx, open.body)
  if (!owner || !positions || !working) {
    await raise(ctx, brokerId, accountId, 'MalformedAnswer', 'snapshot')
    return undefined
  }
  const flat = /^-?0(\.0*)?$/
  return {
    accountId,
    positions: new Map(
      positions
        .filter(({ quantity }) => !flat.test(quantity))
        .map(({ symbol, quantity }) => [symbolOf(symbol), quantity]),
    ),
    working,
    balance: { currency: owner.currency, cash: owner.cash },
  }
}

/**
 * The orders of ours that work; null where that cannot be read. What the owner works beside them is passed over: a
 * spread of his has neither symbol nor side.
 */
function workingOf(ctx: WorkContext, body: unknown): WorkingOrder[] | null {
  if (!Array.isArray(body)) return null
  const isOthers = (name: string | null): boolean => name !== null && !isOurs(ctx.settings.environment, name)
  return readAll(
    body.filter((one) => !isOthers(nameOfOrder(one))),
    readWorking,
  )
}

function readWorking(value: unknown): WorkingOrder | null {
  const order = readOrder(value)
  const standing = order && standingOf(order)
  return standing && { clientOrderId: order.clientOrderId, ...standing }
}
