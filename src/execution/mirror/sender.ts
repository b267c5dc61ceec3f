/**
 * Sends account orders to brokers: of all workers one per broker, an account's orders one after the other. The
 * claim commits before the broker hears anything and is where an opening order is held against the setup as
 * it is now. After a crash or a time-out nobody guesses: the broker is asked by client order id, and the same
 * id goes out again only if it does not have it.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { dec } from '../../domain/decimal.ts'
import { chunked } from '../../domain/group.ts'
import { clientOrderId } from '../../domain/orders/client-order-id.ts'
import { insertReports, type NewReport, type ReportKind } from '../../storage/brokers/reports.ts'
import {
  type Attempted,
  dropQueue,
  endShutOut,
  isQueueStale,
  isSendingDue,
  isShutOut,
  listSendingBrokers,
  type SendRow,
  saveAttempts,
} from '../../storage/mirror/sending.ts'
import { guardLease, type Lease, usualLeaseMs } from '../../storage/work/leases.ts'
import type { Answer, Broker, OrderName, OrderTicket, ReplaceTicket } from '../brokers/broker.ts'
import type { Step, WorkContext } from '../context.ts'
import { inLanes } from '../lanes.ts'
import { keepLease, onceUnderLease, pause } from '../leases.ts'
import { type Claimed, claimSends } from './claims.ts'
import { driftGrace } from './mirror-follow.ts'

const ordersAtOnce = 200
/** A sender that was stopped longer than this after its claim leaves the orders to whoever holds the lease then. */
const freshMs = 4_000
/** A call that takes longer is unknown; shorter than a claim, so nobody asks while it may still be under way. */
const callMs = 5_000
/**
 * Nor is a write begun later than this after the claim, also in calls that were given up: what was begun then has
 * arrived, or never will, when the claim has run out and others ask for the order.
 */
const writeMs = 6_000

/** While a broker takes its time the others are looked at again this often, as by an idle worker. */
const lookAgainMs = 200
/** Until one that failed meanwhile is tried again. */
const restMs = 5_000

/**
 * Sends what is due at the brokers of one adapter, to all of them side by side: one that is slow, fails or leaves
 * outcomes unknown holds up none of the others, also where their orders come while it is still served. Answers how many
 * orders moved; throws, once nothing is under way, what one of them failed with.
 */
export async function sendOrders(ctx: WorkContext, adapter: string, broker: Broker): Promise<number> {
  const underWay = new Map<number, Promise<void>>()
  const restingUntil = new Map<number, number>()
  const failures: unknown[] = []
  let moved = 0
  const serve = async (brokerId: number): Promise<void> => {
    try {
      const send = (lease: Lease): Promise<number> => sendUnder(ctx, lease, brokerId, broker)
      moved += (await onceUnderLease(ctx, `send:${brokerId}`, usualLeaseMs, send)) ?? 0
    } catch (error) {
      ctx.log.warn({ error, brokerId }, 'what waits for a broker could not be sent and is tried again')
      failures.push(error)
      restingUntil.set(brokerId, performance.now() + restMs)
    } finally {
      underWay.delete(brokerId)
    }
  }
  const isFree = (brokerId: number): boolean =>
    !underWay.has(brokerId) && performance.now() >= (restingUntil.get(brokerId) ?? 0)
  const begin = async (): Promise<void> => {
    for (const brokerId of await listSendingBrokers(ctx.db.read, adapter))
      if (isFree(brokerId)) underWay.set(brokerId, serve(brokerId))
  }
  do {
    if (!ctx.ending?.aborted) await begin().catch((error: unknown) => failures.push(error))
    await atMost(lookAgainMs, Promise.all(underWay.values()))
  } while (underWay.size > 0)
  if (failures.length > 0) throw failures[0]
  return moved
}

/** Waits for work, but no longer than this. */
async function atMost(milliseconds: number, work: Promise<unknown>): Promise<void> {
  const waiting = new AbortController()
  await Promise.race([work, pause(milliseconds, waiting.signal)])
  waiting.abort()
}

async function sendUnder(ctx: WorkContext, lease: Lease, brokerId: number, broker: Broker): Promise<number> {
  let moved = 0
  let after = 0
  let movedBefore = 0
  while (broker.isUp() && !ctx.ending?.aborted) {
    const { claimed, ended, last, claimedAt } = await claimSends(ctx, lease, brokerId, ordersAtOnce, after)
    moved += claimed.length + ended
    if (last === 0) {
      // Past all accounts: what is held by others is not waited for.
      if (moved === movedBefore) break
      movedBefore = moved
    }
    after = last
    await deliver(ctx, lease, brokerId, broker, claimed, claimedAt)
    if (!(await keepLease(ctx, lease, usualLeaseMs))) break
  }
  return moved
}

/** An order under way, and what came of it; `underWay`: the call was given up and may yet reach the broker. */
interface Sent {
  readonly order: Claimed
  readonly answer: Answer | { readonly answer: 'underWay' }
}

/** Sends claimed orders and writes down what came of each. */
async function deliver(
  ctx: WorkContext,
  lease: Lease,
  brokerId: number,
  broker: Broker,
  claimed: readonly Claimed[],
  claimedAt: number,
): Promise<void> {
  if (claimed.length === 0) return
  const isLate = (): boolean => performance.now() - claimedAt > freshMs
  const until = claimedAt + writeMs
  const call = <Ticket>(
    orders: readonly Claimed[],
    ticketOf: (order: Claimed) => Ticket,
    send: (tickets: readonly Ticket[]) => Promise<readonly Answer[]>,
  ): Promise<Sent[]> => inCalls(ctx, broker, orders, isLate, (chunk) => send(chunk.map(ticketOf)))
  const doubtful = claimed.filter((order) => order.attempts > 0 && order.pendingAction !== 'cancel')
  const found = await findDoubtful(ctx, brokerId, broker, doubtful)
  const toSend = claimed.filter((order) => !found.some((sent) => sent.order === order))
  const those = (action: SendRow['pendingAction']): Claimed[] =>
    toSend.filter((order) => order.pendingAction === action)
  const sent = await Promise.all([
    call(
      those('new'),
      (order) => ticketOf(ctx, order),
      (tickets) => broker.place(ctx, brokerId, tickets, until),
    ),
    call(
      those('replace'),
      (order) => replaceTicketOf(ctx, order),
      (tickets) => broker.replace(ctx, brokerId, tickets, until),
    ),
    call(
      those('cancel'),
      (order) => nameOf(ctx, order),
      (orders) => broker.cancel(ctx, brokerId, orders, until),
    ),
  ])
  await record(ctx, lease, brokerId, [...found, ...sent.flat()])
}

/** Asks for orders that may or may not have arrived; absent ones are left out: they are to be sent again. */
async function findDoubtful(
  ctx: WorkContext,
  brokerId: number,
  broker: Broker,
  orders: readonly Claimed[],
): Promise<Sent[]> {
  if (orders.length === 0) return []
  try {
    const names = orders.map((order) => nameOf(ctx, order))
    const known = await inTime(broker.find(ctx, brokerId, names))
    return orders.flatMap((order, place): Sent[] => {
      const standing = known[place]
      if (standing === null) return []
      return [{ order, answer: { answer: standing ? 'accepted' : 'unknown' } }]
    })
  } catch (error) {
    ctx.log.warn({ error, brokerId, orders: orders.length }, 'the broker could not be asked for orders')
    return orders.map((order) => ({ order, answer: { answer: 'unknown' } }))
  }
}

class TookTooLong extends Error {}

/** Sends in calls of the broker's size, as many at once as it allows. A call that fails leaves its orders unknown. */
async function inCalls(
  ctx: WorkContext,
  broker: Broker,
  orders: readonly Claimed[],
  isLate: () => boolean,
  send: (chunk: readonly Claimed[]) => Promise<readonly Answer[]>,
): Promise<Sent[]> {
  const { batch, concurrency } = broker.limits
  const sent = await inLanes([...chunked(orders, batch)], concurrency, async (chunk): Promise<Sent[]> => {
    try {
      const answers = isLate() ? [] : await inTime(send(chunk))
      return chunk.map((order, place) => ({ order, answer: answers[place] ?? { answer: 'unknown' } }))
    } catch (error) {
      ctx.log.warn({ error }, 'a broker call failed: the outcome is unknown')
      const answer = error instanceof TookTooLong ? 'underWay' : 'unknown'
      return chunk.map((order) => ({ order, answer: { answer } }))
    }
  })
  return sent.flat()
}

async function inTime<T>(call: Promise<T>): Promise<T> {
  const waiting = new AbortController()
  const tooLate = delay(callMs, undefined, { signal: waiting.signal }).then(() => {
    throw new TookTooLong('the broker did not answer in time')
  })
  try {
    return await Promise.race([call, tooLate])
  } finally {
    waiting.abort()
    tooLate.catch(() => undefined)
  }
}

const rejections: Record<SendRow['pendingAction'], ReportKind> = {
  new: 'reject',
  replace: 'replaceReject',
  cancel: 'cancelReject',
}

/** Gives the claims back; a refusal becomes a report like any other. */
async function record(
  ctx: WorkContext,
  lease: Lease,
  brokerId: number,
  sent: readonly Sent[],
): Promise<void> {
  const now = ctx.clock.now()
  const refusals = sent.flatMap(({ order, answer }): NewReport[] => {
    if (answer.answer !== 'rejected') return []
    const id = idOf(ctx, order)
    const action = order.pendingAction
    return [
      {
        brokerId,
        accountId: order.accountId,
        reportKey: `answer:${id}:${action}:${order.attempts}`,
        clientOrderId: id,
        kind: action === 'cancel' && answer.unknownOrder ? 'cancelUnknown' : rejections[action],
        symbol: order.symbol,
        text: answer.text,
        occurredAt: now,
      },
    ]
  })
  const attempts = sent.map(({ order, answer }): Attempted => {
    const { answer: said } = answer
    const outcome = said === 'accepted' || said === 'rejected' ? 'done' : said
    return { accountId: order.accountId, id: order.id, action: order.pendingAction, outcome }
  })
  await ctx.db.transaction((tx) =>
    Promise.all([
      guardLease(tx, lease),
      insertReports(tx, refusals),
      saveAttempts(tx, attempts, lease.fence, now),
    ]),
  )
}

const idOf = (
  { settings }: WorkContext,
  order: Pick<SendRow, 'setupId' | 'source' | 'sourceId' | 'revision'>,
): string => clientOrderId({ environment: settings.environment, ...order })

const nameOf = (ctx: WorkContext, order: Claimed): OrderName => ({
  accountId: order.accountId,
  account: order.account,
  clientOrderId: idOf(ctx, order),
})

/** The broker counts from its own order on: what ended orders executed before is not part of it. */
const ticketOf = (ctx: WorkContext, order: Claimed): OrderTicket => ({
  instrumentId: order.instrumentId,
  symbol: order.symbol,
  side: order.side,
  ordType: order.ordType,
  timeInForce: order.timeInForce,
  positionEffect: order.positionEffect,
  quantity: dec(order.orderQty).minus(order.carriedQty).toFixed(),
  limitPx: order.limitPx,
  stopPx: order.stopPx,
  ...nameOf(ctx, order),
})

function replaceTicketOf(ctx: WorkContext, order: Claimed): ReplaceTicket {
  if (!order.replaced) throw new Error(`order ${order.id} replaces nothing`)
  return { replacesClientOrderId: idOf(ctx, order.replaced), ...ticketOf(ctx, order) }
}

/** Orders wait for their broker, as long as its link is up. */
export const senderStep = (adapter: string, broker: Broker): Step => ({
  name: `sendOrders ${adapter}`,
  due: () => broker.isUp() && isSendingDue(adapter),
  run: (ctx) => sendOrders(ctx, adapter, broker),
})

/** While the link is down a copy waits no longer than its grace: then only the account's size counts. */
export const queueStep = (adapter: string, broker: Broker): Step => ({
  name: `dropQueue ${adapter}`,
  due: (now) => !broker.isUp() && !broker.isElsewhere?.() && isQueueStale(adapter, now - driftGrace),
  run: (ctx) => {
    const now = ctx.clock.now()
    return ctx.db.transaction((tx) => dropQueue(tx, adapter, now - driftGrace, now))
  },
})

/** What would open does not wait for a broker that is disabled. */
export const shutOutStep = (adapter: string): Step => ({
  name: `endShutOut ${adapter}`,
  due: () => isShutOut(adapter),
  run: (ctx) => ctx.db.transaction((tx) => endShutOut(tx, adapter, ctx.clock.now())),
})
