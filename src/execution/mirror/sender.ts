/**
 * Sends account orders to brokers: of all workers one per broker, an account's orders one after the other. The
 * claim commits before the broker hears anything and is where an opening order is held against the setup as
 * it is now. After a crash or a time-out nobody guesses: the broker is asked by client order id, and the same
 * id goes out again only if it does not have it.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { dec } from '../../domain/decimal.ts'
import { chunked, groupBy } from '../../domain/group.ts'
import { clientOrderId } from '../../domain/orders/client-order-id.ts'
import { insertReports } from '../../storage/brokers/report-intake.ts'
import type { NewReport, ReportKind } from '../../storage/brokers/reports.ts'
import {
  type Attempted,
  dropQueue,
  dropUnsent,
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
import { lookAgainMs, serveEach } from '../brokers/each-broker.ts'
import type { Step, WorkContext } from '../context.ts'
import { atMost, keepLease, onceUnderLease } from '../leases.ts'
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

/**
 * Sends what is due at the brokers of one adapter, to all of them side by side: one that is slow, fails or leaves
 * outcomes unknown holds up none of the others, also where their orders come while it is still served. Answers how many
 * orders moved; throws, once nothing is under way, what one of them failed with.
 */
export const sendOrders = (ctx: WorkContext, adapter: string, broker: Broker): Promise<number> =>
  serveEach(
    ctx,
    () => listSendingBrokers(ctx.db.read, adapter),
    async (brokerId) => {
      const send = (lease: Lease): Promise<number> => sendUnder(ctx, lease, brokerId, broker)
      return (await onceUnderLease(ctx, `send:${brokerId}`, usualLeaseMs, send)) ?? 0
    },
  )

/**
 * Claims and sends until nothing waits. What a call takes its time for keeps only its own accounts waiting: orders of
 * others are claimed meanwhile, as many as the broker has room for. Throws once no call is under way: with the lease
 * given back another worker would send beside them, and what they come to would be written by nobody.
 */
async function sendUnder(ctx: WorkContext, lease: Lease, brokerId: number, broker: Broker): Promise<number> {
  const { batch, concurrency } = broker.limits
  const calls = new Set<Promise<void>>()
  // One order of each at a time, also while nobody knows whether it has arrived and its claim holds back no other.
  const served = new Set<number>()
  const failures: unknown[] = []
  const begin = (orders: readonly Claimed[], claimedAt: number): void => {
    for (const { accountId } of orders) served.add(accountId)
    const call = deliver(ctx, lease, brokerId, broker, orders, claimedAt)
      .catch((error: unknown) => void failures.push(error))
      .finally(() => {
        calls.delete(call)
        for (const { accountId } of orders) served.delete(accountId)
      })
    calls.add(call)
  }
  let moved = 0
  let after = 0
  let movedBefore = 0
  try {
    while (broker.isUp() && !ctx.ending?.aborted && failures.length === 0) {
      const room = Math.min(ordersAtOnce, (concurrency - calls.size) * batch)
      if (room > 0) {
        const { claimed, ended, last, claimedAt } = await claimSends(ctx, lease, brokerId, room, {
          after,
          served,
        })
        moved += claimed.length + ended
        for (const orders of inCalls(claimed, batch)) begin(orders, claimedAt)
        // Past all accounts: what is held by others is not waited for.
        if (last === 0 && moved === movedBefore && calls.size === 0) break
        if (last === 0) movedBefore = moved
        after = last
      }
      await atMost(lookAgainMs, Promise.all(calls))
      if (!(await keepLease(ctx, lease, usualLeaseMs))) break
    }
  } finally {
    await Promise.all(calls)
  }
  if (failures.length > 0) throw failures[0]
  return moved
}

/** One that may have arrived is asked for before it is sent. */
const isDoubtful = ({ attempts, pendingAction }: Claimed): boolean =>
  attempts > 0 && pendingAction !== 'cancel'

/** Orders by what is to be done with them, in calls of the broker's size. */
function inCalls(orders: readonly Claimed[], batch: number): Claimed[][] {
  const kinds = groupBy(orders, (order) => `${order.pendingAction} ${isDoubtful(order)}`)
  return [...kinds.values()].flatMap((those) => [...chunked(those, batch)])
}

/**
 * An order under way, and what came of it; `underWay`: the call was given up and may yet reach the broker; `late`: it was
 * not made, through no fault of the broker; `absent`: the broker was asked for it and does not have it.
 */
interface Sent {
  readonly order: Claimed
  readonly answer: Answer | { readonly answer: 'underWay' | 'late' | 'absent' }
}

/** Serves claimed orders of one kind and writes down what came of each. */
async function deliver(
  ctx: WorkContext,
  lease: Lease,
  brokerId: number,
  broker: Broker,
  claimed: readonly Claimed[],
  claimedAt: number,
): Promise<void> {
  const serve = async (): Promise<Sent[]> => {
    if (claimed.every(isDoubtful)) return find(ctx, brokerId, broker, claimed)
    if (performance.now() - claimedAt > freshMs) return claimed.map(tooLate)
    return sendCall(ctx, claimed, () => callOf(ctx, brokerId, broker, claimed, claimedAt + writeMs))
  }
  await record(ctx, lease, brokerId, broker, await serve())
}

const tooLate = (order: Claimed): Sent => ({ order, answer: { answer: 'late' } })

/** The call that carries orders of one kind. */
function callOf(
  ctx: WorkContext,
  brokerId: number,
  broker: Broker,
  orders: readonly Claimed[],
  until: number,
): Promise<readonly Answer[]> {
  const each = <Said>(say: (ctx: WorkContext, order: Claimed) => Said): Said[] =>
    orders.map((order) => say(ctx, order))
  switch (orders[0]?.pendingAction) {
    case 'new':
      return broker.place(ctx, brokerId, each(ticketOf), until)
    case 'replace':
      return broker.replace(ctx, brokerId, each(replaceTicketOf), until)
    case 'cancel':
      return broker.cancel(ctx, brokerId, each(nameOf), until)
    case undefined:
      return Promise.resolve([])
  }
}

/**
 * Asks for orders that may or may not have arrived. One that did not waits as if it had never been sent: it is held
 * against its setup anew and goes out next, or is given up with what has waited for too long.
 */
async function find(
  ctx: WorkContext,
  brokerId: number,
  broker: Broker,
  orders: readonly Claimed[],
): Promise<Sent[]> {
  try {
    const names = orders.map((order) => nameOf(ctx, order))
    const known = await inTime(broker.find(ctx, brokerId, names))
    return orders.map((order, place): Sent => {
      const standing = known[place]
      if (standing === null) return { order, answer: { answer: 'absent' } }
      return { order, answer: { answer: standing ? 'accepted' : 'unknown' } }
    })
  } catch (error) {
    ctx.log.warn({ error, brokerId, orders: orders.length }, 'the broker could not be asked for orders')
    return orders.map((order) => ({ order, answer: { answer: 'unknown' } }))
  }
}

class TookTooLong extends Error {}

/** Makes a call. One that fails leaves its orders unknown. */
async function sendCall(
  ctx: WorkContext,
  orders: readonly Claimed[],
  send: () => Promise<readonly Answer[]>,
): Promise<Sent[]> {
  try {
    const answers = await inTime(send())
    return orders.map((order, place) => ({ order, answer: answers[place] ?? { answer: 'unknown' } }))
  } catch (error) {
    ctx.log.warn({ error }, 'a broker call failed: the outcome is unknown')
    const answer = error instanceof TookTooLong ? 'underWay' : 'unknown'
    return orders.map((order) => ({ order, answer: { answer } }))
  }
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
  broker: Broker,
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
        instrumentId: order.instrumentId,
        text: answer.text,
        occurredAt: now,
      },
    ]
  })
  const attempts = sent.map(({ order, answer }): Attempted => {
    const { accountId, id, pendingAction: action, attempts } = order
    return { accountId, id, action, attempt: attempts + 1, outcome: outcomeOf(answer, broker) }
  })
  await ctx.db.transaction((tx) =>
    Promise.all([
      guardLease(tx, lease),
      insertReports(tx, refusals),
      saveAttempts(tx, attempts, lease.fence, now),
    ]),
  )
  const unreached = sent
    .filter(
      ({ order, answer }) => answer.answer === 'unsent' || (answer.answer === 'absent' && order.isUnknown),
    )
    .map(({ order }) => order.accountId)
  if (unreached.length > 0 && broker.isUp())
    await ctx.db.transaction((tx) => dropUnsent(tx, brokerId, unreached, now - driftGrace, now))
}

function outcomeOf({ answer }: Sent['answer'], broker: Broker): Attempted['outcome'] {
  if (answer === 'unsent' || answer === 'late') return broker.isUp() ? 'later' : 'unsent'
  return answer === 'accepted' || answer === 'rejected' ? 'done' : answer
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
