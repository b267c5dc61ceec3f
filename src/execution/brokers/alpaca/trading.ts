/**
 * Placing, replacing and canceling at Alpaca. A write is named by our id before it is sent, so that its outcome can
 * always be asked for: Alpaca takes an id once, and whatever answer is missing or makes no sense leaves the order
 * unknown, never sent twice.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { type Decimal, dec, max, zero } from '../../../domain/decimal.ts'
import { clientOrderId, parseClientOrderId } from '../../../domain/orders/client-order-id.ts'
import { isSameCount } from '../../../domain/orders/order-gap.ts'
import { type ExecutedOrder, listReplaced } from '../../../storage/brokers/broker-pulls.ts'
import { insertReports } from '../../../storage/brokers/report-intake.ts'
import type { WorkContext } from '../../context.ts'
import { inLanes } from '../../lanes.ts'
import type { Answer, OrderName, OrderTicket, ReplaceTicket } from '../broker.ts'
import type { Outcome } from './client.ts'
import { isAbsent, isSameId, lookUp, readOutcome, sourceOf, takeOrder } from './desk.ts'
import { raise, type Session } from './sessions.ts'
import { type AlpacaInstrument, type AlpacaRequest, requestOf } from './tickets.ts'
import type { AlpacaOrder } from './wire.ts'

const accepted: Answer = { answer: 'accepted' }
const unsent: Answer = { answer: 'unsent' }
const unknown: Answer = { answer: 'unknown' }
const rejected = (text: string): Answer => ({ answer: 'rejected', text })
const unknownOrder: Answer = { answer: 'rejected', text: 'Alpaca has no such order', unknownOrder: true }

/** Places one order. */
export async function placeOne(
  ctx: WorkContext,
  session: Session,
  ticket: OrderTicket,
  instrument: AlpacaInstrument | undefined,
  until: number,
): Promise<Answer> {
  const request = requestOf(ticket, instrument)
  return 'refusal' in request ? rejected(request.refusal) : send(ctx, session, request, until)
}

async function send(
  ctx: WorkContext,
  session: Session,
  request: AlpacaRequest,
  until: number,
): Promise<Answer> {
  return answerTo(ctx, session, request, await session.client.place(request, until))
}

/** What came of a write that made an order; an order that Alpaca has already is looked up. */
async function answerTo(
  ctx: WorkContext,
  session: Session,
  { clientOrderId, symbol, side }: Pick<AlpacaRequest, 'clientOrderId' | 'symbol' | 'side'>,
  said: Outcome,
): Promise<Answer> {
  if (said.outcome === 'unsent' || said.outcome === 'unknown') return { answer: said.outcome }
  const isTaken = said.outcome === 'refused' && isIdTaken(said)
  if (said.outcome === 'refused' && !isTaken) return refused(ctx, session, clientOrderId, said)
  const order = isTaken ? await lookUp(ctx, session, clientOrderId) : await readOutcome(ctx, session, said)
  if (!order) return unknown
  const isSame = order.symbol === symbol && order.side === (side === 'buy' ? '1' : '2')
  if (!isSame || !isSameId(order, clientOrderId)) {
    await raise(ctx, session.brokerId, session.accountId, 'MalformedAnswer', 'another order')
    return unknown
  }
  await takeOrder(ctx, session, order)
  return accepted
}

type Refused = Extract<Outcome, { outcome: 'refused' }>

const isIdTaken = ({ status, text }: Refused): boolean =>
  (status === 409 || status === 422) &&
  /client.?order.?id/i.test(text) &&
  /unique|exist|duplicate/i.test(text)

/** FINRA Rule 4210: Alpaca protects accounts from becoming pattern day traders. */
const patternDayTraderCode = '40310100'

async function refused(
  ctx: WorkContext,
  session: Session,
  clientOrderId: string,
  { status, code, text }: Refused,
): Promise<Answer> {
  if (code === patternDayTraderCode) {
    const { brokerId, accountId, now } = sourceOf(ctx, session)
    const notice = { kind: 'patternDayTrader' as const, reportKey: `${code}:${clientOrderId}`, text }
    await insertReports(ctx.db.write, [
      { ...notice, brokerId, accountId, clientOrderId: null, symbol: '', occurredAt: now },
    ])
  }
  return rejected(`Alpaca: ${text || `status ${status}`}`)
}

/** Statuses in which Alpaca replaces an order in place. */
const replaceable = ['new', 'partially_filled']
const ended = ['filled', 'expired', 'rejected', 'replaced']
/** An order that is being withdrawn is waited for this long, then asked for again later. */
const pausesMs = [50, 100, 200, 400, 800]

/**
 * Replaces one order: in place where Alpaca can, otherwise withdrawn and, once that is certain, placed anew. Alpaca
 * counts a replacement's quantity from its own start, so what the orders before it executed is asked for and taken off.
 */
export async function replaceOne(
  ctx: WorkContext,
  session: Session,
  ticket: ReplaceTicket,
  instrument: AlpacaInstrument | undefined,
  until: number,
): Promise<Answer> {
  const request = requestOf(ticket, instrument)
  if ('refusal' in request) return rejected(request.refusal)
  const old = await lookUp(ctx, session, ticket.replacesClientOrderId)
  if (old === null) return unknownOrder
  const before = old && (await executedBefore(ctx, session, ticket))
  if (!old || !before) return unsent
  if (ended.includes(old.status)) return tooLateToReplace(ctx, session, ticket, old)
  const rest = restOf(ticket, before, old)
  if (rest === undefined) return rejected(overSplit)
  if (replaceable.includes(old.status) && old.type === request.type && rest.greaterThan(0)) {
    const { clientOrderId, timeInForce, limitPrice, stopPrice } = request
    const prices = { ...(limitPrice && { limitPrice }), ...(stopPrice && { stopPrice }) }
    const changes = { clientOrderId, timeInForce, qty: rest.toFixed(), ...prices }
    return answerTo(ctx, session, request, await session.client.replace(old.id, changes, until))
  }
  const gone = await withdraw(ctx, session, old, until)
  if ('answer' in gone) return gone
  if (gone.status !== 'canceled') return tooLateToReplace(ctx, session, ticket, gone)
  // Executed while it was withdrawn: of today, in whatever units the count goes on.
  const left = rest.minus(max(zero, dec(gone.filledQty).minus(old.filledQty)))
  if (!left.greaterThan(0)) return rejected('as much has been executed already')
  const placed = await send(ctx, session, { ...request, qty: left.toFixed() }, until)
  // Its end was kept back as long as it was not certain that anything follows, and its count with it.
  if (placed.answer === 'accepted') await takeOrder(ctx, session, { ...gone, status: 'replaced' })
  const isWithdrawnHere = old.status !== 'canceled'
  return placed.answer === 'unsent' && isWithdrawnHere ? unknown : placed
}

/** The order has ended by itself, unless it was this very replacement that ended it. */
async function tooLateToReplace(
  ctx: WorkContext,
  session: Session,
  { clientOrderId }: ReplaceTicket,
  old: AlpacaOrder,
): Promise<Answer> {
  const replacement = old.status === 'replaced' ? await lookUp(ctx, session, clientOrderId) : null
  if (replacement === undefined) return unknown
  await takeOrder(ctx, session, replacement ?? old)
  return replacement ? accepted : rejected(`the order at Alpaca is ${old.status}`)
}

const overSplit = 'what it has executed is not certain over a split'

/** What orders of a chain have executed in the units of now; undefined where that is not certain. */
interface Before {
  readonly sum: Decimal | undefined
  /** The order that is replaced. */
  readonly last: ExecutedOrder | undefined
}

function restOf(
  { quantity }: OrderTicket,
  { sum, last }: Before,
  { filledQty }: AlpacaOrder,
): Decimal | undefined {
  const filled = inPresentUnits(dec(filledQty), last)
  return sum && filled && dec(quantity).minus(sum).minus(filled)
}

/** Over a split Alpaca may count in old units or in new ones: only a count that is ours in either can be read. */
function inPresentUnits(filledQty: Decimal, known: ExecutedOrder | undefined): Decimal | undefined {
  if (!known || known.restated === null) return filledQty
  const restated = dec(known.restated)
  return filledQty.equals(known.executed) || isSameCount(filledQty, restated) ? restated : undefined
}

/** Orders of a chain that are asked for side by side: the longer that takes, the later is the write. */
const lanes = 10

/** What the orders before the replaced one executed; undefined when that cannot be asked. */
async function executedBefore(
  ctx: WorkContext,
  session: Session,
  { accountId, replacesClientOrderId }: ReplaceTicket,
): Promise<Before | undefined> {
  const key = parseClientOrderId(replacesClientOrderId)
  if (!key) throw new Error(`${replacesClientOrderId} is no id of ours`)
  const chain = await listReplaced(ctx.db.read, { ...key, accountId }, ctx.clock.now())
  const earlier = chain.filter(({ isLast }) => !isLast)
  const orders = await inLanes(earlier, lanes, (one) => lookUp(ctx, session, clientOrderId(one)))
  if (orders.includes(undefined)) return undefined
  let sum: Decimal | undefined = dec(0)
  for (const [place, one] of earlier.entries()) {
    const filled = inPresentUnits(dec(orders[place]?.filledQty ?? 0), one)
    sum = sum && filled && sum.plus(filled)
  }
  return { sum, last: chain.find(({ isLast }) => isLast) }
}

/** Cancels the order and waits until it has ended; an answer while that is not certain. */
async function withdraw(
  ctx: WorkContext,
  session: Session,
  order: AlpacaOrder,
  until: number,
): Promise<AlpacaOrder | Answer> {
  if (order.status === 'canceled') return order
  const said = await session.client.cancel(order.id, until)
  if (said.outcome === 'unsent' || said.outcome === 'unknown') return { answer: said.outcome }
  for (const pause of pausesMs) {
    const now = await readOutcome(ctx, session, await session.client.order(order.id))
    if (now && (now.status === 'canceled' || ended.includes(now.status))) return now
    await delay(pause)
  }
  return unknown
}

/** Cancels one order. */
export async function cancelOne(
  ctx: WorkContext,
  session: Session,
  name: OrderName,
  until: number,
): Promise<Answer> {
  const order = await lookUp(ctx, session, name.clientOrderId)
  if (order === undefined) return unknown
  if (order === null) return unknownOrder
  if (goingAway.includes(order.status) || ended.includes(order.status)) return tooLate(ctx, session, order)
  const said = await session.client.cancel(order.id, until)
  if (said.outcome === 'done') return accepted
  if (said.outcome !== 'refused') return { answer: said.outcome }
  if (isAbsent(said)) return unknownOrder
  const now = await readOutcome(ctx, session, await session.client.order(order.id))
  return now ? tooLate(ctx, session, now) : unknown
}

const goingAway = ['canceled', 'pending_cancel']

/** The order has ended by itself, or is being canceled already: what it came to is told again. */
async function tooLate(ctx: WorkContext, session: Session, order: AlpacaOrder): Promise<Answer> {
  await takeOrder(ctx, session, order)
  return goingAway.includes(order.status) ? accepted : rejected(`too late to cancel: ${order.status}`)
}
