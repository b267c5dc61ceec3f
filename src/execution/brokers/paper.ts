/**
 * The paper broker: an exchange with a durable book of its own, behind the same port as any other. What it has
 * accepted, filled or expired survives every crash of the platform, and a request that comes twice changes
 * nothing the second time. A script may make it refuse, fill in part, keep silent, lose its link or repeat itself.
 */

import { type Decimal, zero } from '../../domain/decimal.ts'
import { groupBy } from '../../domain/group.ts'
import { dayOrderExpiry } from '../../domain/market/calendar.ts'
import type { Instant } from '../../domain/time.ts'
import {
  cancelPaperOrders,
  expirePaperOrders,
  fillPaperOrder,
  findNextPaperMoment,
  findPaperOrders,
  insertPaperOrders,
  isPaperExpiryDue,
  listPaperBalances,
  listWorkingPaper,
  loadCalendars,
  type PaperAnswer,
  type PaperRequest,
  replacePaperOrders,
} from '../../storage/brokers/paper.ts'
import { isPaperArrivalDue } from '../../storage/brokers/paper-market.ts'
import {
  bustPaperExecution,
  deliverPaperReports,
  insertPaperExecutions,
  insertPaperNotice,
  isPaperDeliveryDue,
  type PaperExecution,
  repeatPaperReport,
  sumPaperPositions,
} from '../../storage/brokers/paper-reports.ts'
import type { Transaction } from '../../storage/database/sql.ts'
import type { MarketSink, Step, WorkContext } from '../context.ts'
import type { MarketBar, MarketQuote } from '../market/feed.ts'
import {
  type AccountSnapshot,
  type Answer,
  type Broker,
  BrokerUnreachable,
  type OrderName,
  type OrderTicket,
} from './broker.ts'
import { takeArrivals, takeBars, takeQuotes } from './paper-market.ts'

export interface PaperOptions {
  /** Business time between a request and its acceptance, in milliseconds (0). */
  readonly latencyMs?: number
  readonly slippageTicks?: Decimal
  readonly slippageBps?: Decimal
}

/** What a script makes the broker do. */
export interface PaperControls {
  /** Refuses the account's next order. */
  reject(accountId: number, text: string): void
  /** Fills the account's next order no further than this; the rest of it stays. */
  partial(accountId: number, quantity: string): void
  /** Keeps every answer and report back. */
  hold(isHeld: boolean): void
  /** Cuts the link, or restores it. */
  down(isDown: boolean): void
  /** An execution out of the blue; answers its id. */
  execution(ctx: WorkContext, execution: Omit<PaperExecution, 'execId' | 'at' | 'cumQty'>): Promise<string>
  /** Tells of an execution again; false when it does not know it. */
  duplicate(ctx: WorkContext, execId: string): Promise<boolean>
  /** Cancels an execution; false when it does not know it. */
  bust(ctx: WorkContext, execId: string): Promise<boolean>
  /** Tells that an account is closed to the platform. */
  notice(ctx: WorkContext, notice: Omit<Parameters<typeof insertPaperNotice>[1], 'at'>): Promise<void>
}

export interface PaperBroker {
  readonly broker: Broker
  readonly controls: PaperControls
  readonly quoteSink: MarketSink<MarketQuote>
  readonly barSink: MarketSink<MarketBar>
}

/** What a script has asked for and the state of the link. */
interface Script {
  readonly rejections: Map<number, string>
  readonly caps: Map<number, string>
  isHeld: boolean
  isDown: boolean
}

const reportsAtOnce = 5_000
/** What is begun at the last moment has ended when others may ask for the order; the claim lasts a second longer. */
const writeMs = 3_000

/** Builds the broker; register its sinks and its steps with the worker. */
export function createPaperBroker(options: PaperOptions = {}): PaperBroker {
  const script: Script = { rejections: new Map(), caps: new Map(), isHeld: false, isDown: false }
  const { slippageTicks = zero, slippageBps = zero } = options
  const slippage = { slippageTicks, slippageBps }
  return {
    broker: {
      limits: { batch: 200, concurrency: 1 },
      isUp: () => !script.isDown,
      ...requests(script, options.latencyMs ?? 0),
      steps: stepsOf(script, (ctx) => takeArrivals(ctx, slippage)),
    },
    controls: controlsOf(script),
    quoteSink: (ctx, batch, lease) => takeQuotes(ctx, slippage, batch, lease),
    barSink: (ctx, batch, lease) => takeBars(ctx, slippage, batch, lease),
  }
}

type Requests = Pick<Broker, 'place' | 'replace' | 'cancel' | 'find' | 'snapshot'>

function requests(script: Script, latencyMs: number): Requests {
  /** A link that is down carries nothing; one whose answers are held back carries the request all the same. */
  const over = async (count: number, ask: () => Promise<readonly Answer[]>): Promise<readonly Answer[]> => {
    if (script.isDown) return all(count, 'unsent')
    const answers = await ask()
    return script.isHeld ? all(count, 'unknown') : answers
  }
  const reachable = (): void => {
    if (script.isDown || script.isHeld) throw new BrokerUnreachable('the paper broker does not answer')
  }
  const accept = (ctx: WorkContext, tickets: readonly OrderTicket[]): Promise<PaperRequest[]> =>
    requestsOf(ctx, tickets, ctx.clock.now() + latencyMs)
  return {
    place: (ctx, brokerId, tickets, until) =>
      over(tickets.length, async () => {
        const asked = (await accept(ctx, tickets)).map((request) => scripted(script, request))
        return inTime(ctx, asked, until, async (tx) =>
          (await insertPaperOrders(tx, brokerId, asked)).sort(byPlace).map(answerToOrder),
        )
      }),
    replace: (ctx, brokerId, tickets, until) =>
      over(tickets.length, async () => {
        const asked = await accept(ctx, tickets)
        const replaced = tickets.map(({ replacesClientOrderId }) => replacesClientOrderId)
        return inTime(ctx, asked, until, async (tx) =>
          (await replacePaperOrders(tx, brokerId, asked, replaced)).sort(byPlace).map(answerToOrder),
        )
      }),
    cancel: (ctx, _brokerId, orders, until) =>
      over(orders.length, () =>
        inTime(ctx, orders, until, async (tx) =>
          (await cancelPaperOrders(tx, orders, ctx.clock.now())).sort(byPlace).map(answerToCancel),
        ),
      ),
    find: async (ctx, _brokerId, orders) => {
      reachable()
      const known = new Map((await findPaperOrders(ctx.db.read, orders)).map((row) => [row.place, row]))
      return orders.map((_: OrderName, place) => known.get(place) ?? null)
    },
    snapshot: async (ctx, accountIds) => {
      reachable()
      return snapshotOf(ctx, accountIds)
    },
  }
}

/**
 * Writes, unless it is too late for that once there is a connection to write on: a process may have stood still in the
 * middle of its call, and meanwhile others have been told that the book does not have the order.
 */
const inTime = (
  ctx: WorkContext,
  asked: readonly unknown[],
  until: number,
  write: (tx: Transaction) => Promise<Answer[]>,
): Promise<Answer[]> =>
  ctx.db.transaction(
    (tx) => (performance.now() > until ? Promise.resolve(all(asked.length, 'unsent')) : write(tx)),
    { statementTimeoutMs: writeMs },
  )

const all = (count: number, answer: 'unsent' | 'unknown'): Answer[] =>
  Array.from({ length: count }, () => ({ answer }))

const byPlace = (one: PaperAnswer, other: PaperAnswer): number => one.place - other.place

const answerToOrder = ({ status, text }: PaperAnswer): Answer =>
  status === null || status === '8' ? { answer: 'rejected', text: text ?? 'refused' } : { answer: 'accepted' }

function answerToCancel({ status }: PaperAnswer): Answer {
  if (status === '4') return { answer: 'accepted' }
  return status === null
    ? { answer: 'rejected', text: 'unknown order', unknownOrder: true }
    : { answer: 'rejected', text: 'too late to cancel' }
}

/** Tickets as the book takes them; a day order ends with the session that runs, or the next one. */
async function requestsOf(
  ctx: WorkContext,
  tickets: readonly OrderTicket[],
  acceptedAt: Instant,
): Promise<PaperRequest[]> {
  const calendars = await loadCalendars(
    ctx.db.read,
    tickets.map(({ instrumentId }) => instrumentId),
  )
  return tickets.map((ticket) => {
    const calendar = calendars.get(ticket.instrumentId)
    if (!calendar) throw new Error(`the paper broker knows no instrument ${ticket.instrumentId}`)
    const expiresAt = ticket.timeInForce === '0' ? dayOrderExpiry(calendar, acceptedAt) : null
    return { acceptedAt, expiresAt, rejectText: null, fillCap: null, ...ticket }
  })
}

/** Uses up what the script says about the account's next order. */
function scripted({ rejections, caps }: Script, request: PaperRequest): PaperRequest {
  const { accountId } = request
  const rejectText = rejections.get(accountId) ?? null
  if (rejections.delete(accountId)) return { ...request, rejectText }
  const fillCap = caps.get(accountId) ?? null
  caps.delete(accountId)
  return { ...request, fillCap }
}

async function snapshotOf(ctx: WorkContext, accountIds: readonly number[]): Promise<AccountSnapshot[]> {
  const [positions, working, balances] = await Promise.all([
    sumPaperPositions(ctx.db.read, accountIds),
    listWorkingPaper(ctx.db.read, accountIds),
    listPaperBalances(ctx.db.read, accountIds),
  ])
  const held = groupBy(positions, ({ accountId }) => accountId)
  const worked = groupBy(working, ({ accountId }) => accountId)
  return balances.map(({ accountId, ...balance }) => ({
    accountId,
    positions: new Map((held.get(accountId) ?? []).map(({ symbol, quantity }) => [symbol, quantity])),
    working: worked.get(accountId) ?? [],
    balance,
  }))
}

function stepsOf(script: Script, arrive: Step['run']): Step[] {
  const isSilent = (): boolean => script.isDown || script.isHeld
  return [
    { name: 'paper arrivals', due: isPaperArrivalDue, moments: [findNextPaperMoment], run: arrive },
    {
      name: 'paper expiries',
      due: isPaperExpiryDue,
      moments: [findNextPaperMoment],
      run: (ctx) => expirePaperOrders(ctx.db.write, ctx.clock.now()),
    },
    {
      name: 'paper reports',
      due: () => !isSilent() && isPaperDeliveryDue,
      run: (ctx) => deliverPaperReports(ctx.db.write, reportsAtOnce),
    },
  ]
}

function controlsOf(script: Script): PaperControls {
  let made = 0
  return {
    reject: (accountId, text) => {
      script.rejections.set(accountId, text)
    },
    partial: (accountId, quantity) => {
      script.caps.set(accountId, quantity)
    },
    hold: (isHeld) => {
      script.isHeld = isHeld
    },
    down: (isDown) => {
      script.isDown = isDown
    },
    execution: async (ctx, execution) => {
      made += 1
      const at = ctx.clock.now()
      const execId = `F${at.toString(36)}-${made}`
      const { clientOrderId } = execution
      await ctx.db.transaction(async (tx) => {
        const cumQty =
          clientOrderId === null ? null : await fillPaperOrder(tx, { ...execution, clientOrderId })
        await insertPaperExecutions(tx, [{ execId, at, cumQty, ...execution }])
      })
      return execId
    },
    duplicate: (ctx, execId) => repeatPaperReport(ctx.db.write, execId),
    bust: (ctx, execId) => bustPaperExecution(ctx.db.write, execId, ctx.clock.now()),
    notice: (ctx, notice) => insertPaperNotice(ctx.db.write, { at: ctx.clock.now(), ...notice }),
  }
}
