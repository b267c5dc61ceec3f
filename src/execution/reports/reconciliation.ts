/**
 * Holds accounts against their brokers' own word: when a worker starts, when a link is back, and every minute. What
 * differs is believed once it has lasted a minute unchanged. A broker that does not answer has said nothing: no
 * question that failed changes anything.
 */

import { isLive } from '../../domain/codes.ts'
import { dec } from '../../domain/decimal.ts'
import { chunked, groupBy, oneOfEach } from '../../domain/group.ts'
import { clientOrderId } from '../../domain/orders/client-order-id.ts'
import { type Instant, minute } from '../../domain/time.ts'
import {
  findNextConfirmation,
  isReconciliationDue,
  lastReport,
  listReconciledAccounts,
  listReconciledBrokers,
  lockQuietAccounts,
  scheduleReconciliation,
  sumBooked,
} from '../../storage/brokers/reconciliation.ts'
import {
  listEndedOrders,
  listSentOrders,
  listWatchedOrders,
  type SentOrder,
} from '../../storage/brokers/sent-orders.ts'
import { askingLeaseMs, guardLease, type Lease } from '../../storage/work/leases.ts'
import { type Broker, BrokerUnreachable, type OrderStanding } from '../brokers/broker.ts'
import { serveEach } from '../brokers/each-broker.ts'
import type { DueSource, Step, WorkContext } from '../context.ts'
import { inLanes } from '../lanes.ts'
import { keepLease, onceUnderLease, whileKept } from '../leases.ts'
import {
  conclude,
  type Findings,
  isReadable,
  orderNameOf,
  patience,
  watchedFor,
} from './reconciliation-gaps.ts'

export const reconciliationPeriod = minute
const accountsAtOnce = 1_000
/** Orders that ended longer ago explain no difference. */
const endedLately = 24 * 60 * minute

/**
 * Asks the brokers whose time has come about all their accounts, side by side: one that takes its time keeps no other
 * waiting. Answers how many differences were settled.
 */
export function reconcile(
  ctx: WorkContext,
  adapter: string,
  broker: Broker,
  isForced: boolean,
): Promise<number> {
  let areAllDue = isForced
  const list = async (): Promise<number[]> => {
    const due = await listReconciledBrokers(ctx.db.read, adapter, ctx.clock.now(), areAllDue)
    areAllDue = false
    return due
  }
  return serveEach(ctx, list, async (brokerId) => {
    const ask = async (lease: Lease): Promise<number> => {
      let answeredAt: Instant | null = null
      try {
        const settled = await reconcileBroker(ctx, lease, brokerId, broker)
        ctx.tally.answeredAt.set(adapter, performance.now())
        answeredAt = ctx.clock.now()
        return settled
      } catch (error) {
        ctx.log.warn({ error, brokerId }, 'a broker could not be asked what its accounts hold')
        return 0
      } finally {
        const dueAt = ctx.clock.now() + reconciliationPeriod
        await scheduleReconciliation(ctx.db.write, brokerId, dueAt, answeredAt)
      }
    }
    return (await onceUnderLease(ctx, `reconcile:${brokerId}`, askingLeaseMs, ask)) ?? 0
  })
}

/** A page of accounts of whom nothing is said keeps none of the others waiting. Throws where nothing is said of any. */
async function reconcileBroker(
  ctx: WorkContext,
  lease: Lease,
  brokerId: number,
  broker: Broker,
): Promise<number> {
  let settled = 0
  let isAnswered = false
  let silence: BrokerUnreachable | undefined
  for (let last = 0; ; ) {
    const ids = await listReconciledAccounts(ctx.db.read, brokerId, last, accountsAtOnce)
    if (ids.length === 0) break
    last = ids.at(-1) ?? last
    try {
      settled += await reconcileAccounts(ctx, lease, brokerId, broker, ids)
      isAnswered = true
    } catch (error) {
      if (!(error instanceof BrokerUnreachable)) throw error
      silence = error
    }
    if (!broker.isUp() || !(await keepLease(ctx, lease, askingLeaseMs))) break
  }
  if (silence && !isAnswered) throw silence
  if (silence) ctx.log.warn({ error: silence, brokerId }, 'a broker said nothing of many accounts')
  return settled
}

async function reconcileAccounts(
  ctx: WorkContext,
  lease: Lease,
  brokerId: number,
  broker: Broker,
  ids: readonly number[],
): Promise<number> {
  const mark = await lastReport(ctx.db.write)
  // However long the broker takes: whoever took the lease meanwhile would begin anew, and be as late.
  const findings = await whileKept(ctx, lease, { lease: askingLeaseMs }, () =>
    ask(ctx, brokerId, broker, ids),
  )
  return ctx.db.transaction(async (tx) => {
    await guardLease(tx, lease)
    const accounts = await lockQuietAccounts(tx, [...findings.snapshots.keys()], mark)
    return conclude(ctx, tx, findings, accounts)
  })
}

/** Asks for what the accounts hold and work, and for every order of ours that the answer leaves open. */
async function ask(
  ctx: WorkContext,
  brokerId: number,
  broker: Broker,
  ids: readonly number[],
): Promise<Findings> {
  const asked = new Set(ids)
  const all = (await broker.snapshot(ctx, ids)).filter(({ accountId }) => asked.has(accountId))
  const said = all.filter(isReadable)
  const unreadable = all.filter((snapshot) => !isReadable(snapshot)).map(({ accountId }) => accountId)
  const snapshots = new Map(said.map((snapshot) => [snapshot.accountId, snapshot]))
  const sums = await sumBooked(ctx.db.read, ids, ctx.settings.environment)
  const booked = groupBy(sums, ({ accountId }) => accountId)
  const suspects = said.flatMap(({ accountId, positions }) => {
    const ours = booked.get(accountId) ?? []
    const agrees = ours.every(({ symbol, quantity }) => dec(positions.get(symbol) ?? 0).equals(quantity))
    return agrees && ours.length === positions.size ? [] : [accountId]
  })
  const now = ctx.clock.now()
  const read = [
    ...(await listSentOrders(ctx.db.read, [...snapshots.keys()], now)),
    ...(await listEndedOrders(ctx.db.read, suspects, now, endedLately)),
    ...(await listWatchedOrders(ctx.db.read, [...snapshots.keys()], now, watchedFor)),
  ]
  // As it was read last: one may end between two questions.
  const orders = oneOfEach(read, ({ accountId, id }) => `${accountId} ${id}`)
  const working = new Map(
    said.flatMap(({ accountId, working }) =>
      working.map((one) => [orderNameOf(accountId, one.clientOrderId), one] as const),
    ),
  )
  const named = orders.map((order) => ({ order, clientOrderId: idOf(ctx, order) }))
  const standings: Findings['standings'][number][] = named.flatMap(({ order, clientOrderId }) => {
    const standing = working.get(orderNameOf(order.accountId, clientOrderId))
    return standing ? [{ order, clientOrderId, standing }] : []
  })
  const open = named.filter(
    ({ order, clientOrderId }) => !working.has(orderNameOf(order.accountId, clientOrderId)),
  )
  const unanswered = new Set<number>()
  for (const [place, standing] of (await findThem(ctx, brokerId, broker, open)).entries()) {
    const one = open[place]!
    if (standing !== undefined) standings.push({ standing, ...one })
    else if (isLive(one.order.status)) unanswered.add(one.order.accountId)
  }
  return { brokerId, snapshots, unreadable, standings, unanswered }
}

type Named = Pick<Findings['standings'][number], 'order' | 'clientOrderId'>

/**
 * How orders stand, undefined where the broker does not say. A call of which it says nothing ends none of the others;
 * once it says nothing of as many in a row as go side by side it is left alone.
 */
async function findThem(
  ctx: WorkContext,
  brokerId: number,
  broker: Broker,
  orders: readonly Named[],
): Promise<(OrderStanding | null | undefined)[]> {
  const { batch, concurrency } = broker.limits
  let silences = 0
  const found = await inLanes([...chunked(orders, batch)], concurrency, async (chunk) => {
    const unsaid = chunk.map(() => undefined)
    if (silences >= concurrency) return unsaid
    try {
      const names = chunk.map(({ order, clientOrderId }) => ({ clientOrderId, ...order }))
      const standings = await broker.find(ctx, brokerId, names)
      silences = 0
      return standings
    } catch (error) {
      if (!(error instanceof BrokerUnreachable)) throw error
      silences += 1
      ctx.log.warn({ error, brokerId }, 'a broker did not say how orders stand')
      return unsaid
    }
  })
  return found.flat()
}

const idOf = ({ settings }: WorkContext, order: SentOrder): string =>
  clientOrderId({ environment: settings.environment, ...order })

/** When a difference that is watched has lasted long enough. */
const nextConfirmation: DueSource = findNextConfirmation(patience)

/** Brokers are asked at the start, when a link is back, and when their time has come. */
export function reconciliationStep(adapter: string, broker: Broker): Step {
  let isForced = true
  return {
    name: `reconcile ${adapter}`,
    due: (now) => {
      if (!broker.isUp()) isForced = true
      if (!broker.isUp()) return false
      return isForced || isReconciliationDue(adapter, now)
    },
    moments: [nextConfirmation],
    run: (ctx) => {
      const forced = isForced
      isForced = false
      return reconcile(ctx, adapter, broker, forced)
    },
  }
}
