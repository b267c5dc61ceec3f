/**
 * A broker that speaks FIX 4.4. An order counts as accepted once the broker has said anything about it and that is
 * booked; without an answer it is unknown, and without a session nothing went out. Whether the broker has an order is
 * asked by its client order id: a session delivers in order, so its "no such order" is proof.
 */
import { parseClientOrderId } from '../../../domain/orders/client-order-id.ts'
import { type FixOrder, loadFixOrders } from '../../../storage/brokers/fix-sessions.ts'
import type { Step, WorkContext } from '../../context.ts'
import type { Answer, LiveBroker, OrderName, OrderStanding } from '../broker.ts'
import { BrokerUnreachable } from '../broker.ts'
import { Desk, type Heard } from './desk.ts'
import type { FixEngine } from './engine.ts'
import { withoutReplaced } from './executions.ts'
import { FixLink } from './link.ts'
import { countOf, type FixMessage, type FixRequest, idOf, tags, textOf } from './message.ts'
import { readingOf, readMessages } from './reports.ts'
import {
  askOrder,
  cancelIdOf,
  cancelOrder,
  isSendable,
  newOrder,
  nonce,
  orderIdOf,
  replaceOrder,
} from './requests.ts'
import type { FixSettings } from './settings.ts'
import { snapshotsOf } from './snapshots.ts'
import { UntoldAccounts } from './untold.ts'

export interface FixOptions {
  /** The connection's name: the adapter of the brokers that it serves. */
  readonly name: string
  readonly settings: FixSettings
  readonly engine: FixEngine
  /** Longest wait for an answer in milliseconds (4,000); shorter than the sender's own. */
  readonly patienceMs?: number
}

/** Side by side on one session: what the broker says nothing of keeps only its own call waiting. */
const limits = { batch: 20, concurrency: 10 }

/** Builds the broker; its session begins with the first round of the worker that has its steps. */
export function createFixBroker({ name, settings, engine, patienceMs = 4_000 }: FixOptions): LiveBroker {
  const refusals = new Refusals()
  const untold = new UntoldAccounts()
  const link: FixLink = new FixLink({
    name,
    engine,
    settings,
    read: (ctx, messages) =>
      readMessages(ctx, { connection: name, isCompared: settings.tellsPositions }, messages),
    booked: (messages) => {
      for (const message of messages) {
        refusals.note(message)
        hand(desk, message)
      }
    },
    lost: () => desk.giveUp(),
  })
  const desk: Desk = new Desk((request, sent) => link.send(request, sent), patienceMs)
  const keep: Step = {
    name: `keep FIX session ${name}`,
    due: () => !link.isStarted,
    run: async (ctx) => {
      link.start(ctx)
      return 0
    },
  }
  return {
    limits,
    isUp: () => link.isUp,
    isElsewhere: () => !link.isHeld,
    ...requests(desk, settings, refusals),
    snapshot: (ctx, accountIds) => snapshotsOf(ctx, desk, settings, untold, accountIds),
    steps: [keep],
    close: () => link.close(),
  }
}

/** Hands an answer to whoever asked. */
function hand(desk: Desk, message: FixMessage): void {
  const { type } = message
  if (type === '3' || type === 'j') {
    const refused = textOf(message, tags.text) ?? 'the broker refused the message'
    const seqNum = countOf(message, tags.refSeqNum)
    const about = idOf(message, tags.businessRejectRefId)
    // An order and a question about it go by one id: only the number says which of them is refused.
    if (seqNum !== null) desk.tellSender(seqNum, { refused })
    else if (about !== null) desk.tell(about, { refused })
    return
  }
  const names = [tags.clOrdId, tags.ordStatusReqId, tags.massStatusReqId, tags.posReqId].flatMap(
    (tag) => idOf(message, tag) ?? [],
  )
  for (const name of new Set(names)) desk.tell(name, { message })
}

/** How long a refused cancel rests: whoever asked for it would ask again at once. */
const cancelPause = 1_000

/** When cancels of orders were refused, the latest last. */
class Refusals {
  readonly #at = new Map<string, number>()

  note(message: FixMessage): void {
    const about = idOf(message, tags.clOrdId)
    if (message.type !== '9' || about === null) return
    const now = performance.now()
    for (const [id, at] of this.#at) if (now - at > cancelPause) this.#at.delete(id)
    this.#at.set(orderIdOf(about), now)
  }

  isFresh(clientOrderId: string): boolean {
    return performance.now() - (this.#at.get(clientOrderId) ?? Number.NEGATIVE_INFINITY) < cancelPause
  }
}

type Requests = Pick<LiveBroker, 'place' | 'replace' | 'cancel' | 'find'>

function requests(desk: Desk, settings: FixSettings, refusals: Refusals): Requests {
  return {
    place: (ctx, _, tickets, until) =>
      each(ctx, tickets, (ticket, order) =>
        ask(desk, ticket.clientOrderId, newOrder(ticket, order, ctx.clock.now(), settings), until),
      ),
    replace: (ctx, _, tickets, until) =>
      each(ctx, tickets, (ticket, order) =>
        ask(desk, ticket.clientOrderId, replaceOrder(ticket, order, ctx.clock.now(), settings), until),
      ),
    cancel: (ctx, _, names, until) =>
      each(ctx, names, (name, order) => {
        if (refusals.isFresh(name.clientOrderId)) return Promise.resolve({ answer: 'unknown' })
        const id = cancelIdOf(name.clientOrderId, nonce())
        return ask(desk, id, cancelOrder(id, order, ctx.clock.now(), settings), until)
      }),
    find: async (ctx, _, names) => {
      const orders = await ordersOf(ctx, names)
      const found = await Promise.all(orders.map((order) => findOne(desk, settings, order)))
      if (found.length > 0 && found.every((standing) => standing === undefined))
        throw new BrokerUnreachable('the broker did not say how orders stand')
      return found
    },
  }
}

/** Does something for each order whose name can be said in FIX. */
async function each<Name extends OrderName>(
  ctx: WorkContext,
  names: readonly Name[],
  send: (name: Name, order: FixOrder) => Promise<Answer>,
): Promise<readonly Answer[]> {
  const orders = await ordersOf(ctx, names)
  return Promise.all(
    names.map((name, place): Promise<Answer> => {
      const order = orders[place]
      if (!order) throw new Error(`there is no order ${name.clientOrderId}`)
      if (isSendable(order.account) && isSendable(order.symbol)) return send(name, order)
      return Promise.resolve({ answer: 'rejected', text: 'account or symbol cannot be said in FIX' })
    }),
  )
}

function ordersOf(ctx: WorkContext, names: readonly OrderName[]): Promise<(FixOrder | undefined)[]> {
  const keys = names.map(({ accountId, clientOrderId }) => {
    const key = parseClientOrderId(clientOrderId)
    if (!key) throw new Error(`not an order of ours: ${clientOrderId}`)
    return { ...key, accountId, clientOrderId }
  })
  return loadFixOrders(ctx.db.read, keys)
}

const unsent: Answer = { answer: 'unsent' }

/**
 * Sends a request about an order; any word about it says that the broker has it. From here on it may wait for the
 * socket as long as it likes: whoever asks for the order asks behind it.
 */
async function ask(desk: Desk, id: string, request: FixRequest, until: number): Promise<Answer> {
  if (performance.now() > until) return unsent
  const hear = (heard: Heard): Answer | undefined => answerOf(id, heard)
  return desk.ask<Answer>({ request, names: [id], hear, unsent, unknown: { answer: 'unknown' } })
}

function answerOf(id: string, heard: Heard): Answer | undefined {
  if ('refused' in heard) return { answer: 'rejected', text: heard.refused }
  const reading = readingOf(heard.message)
  if (!reading || 'malformed' in reading) return undefined
  const says = reading.replies.find(({ about }) => about === id)?.says
  if (says === undefined) return undefined
  return { answer: says === 'known' ? 'unknown' : 'accepted' }
}

/** How an order stands; undefined where the broker does not say. */
async function findOne(
  desk: Desk,
  settings: FixSettings,
  order: FixOrder | undefined,
): Promise<OrderStanding | null | undefined> {
  if (!order) throw new Error('an order to be found must exist')
  const id = `Q${nonce()}`
  const found = await desk.ask<OrderStanding | null | 'silent'>({
    request: askOrder(id, order, settings),
    names: [id, order.clientOrderId],
    hear: (heard) => standingOf([id, order.clientOrderId], heard),
    unsent: 'silent',
    unknown: 'silent',
  })
  if (found === 'silent') return undefined
  return found && withoutReplaced(found, order)
}

function standingOf(names: readonly string[], heard: Heard): OrderStanding | null | 'silent' | undefined {
  if ('refused' in heard) return 'silent'
  const reading = readingOf(heard.message)
  if (!reading || 'malformed' in reading) return undefined
  const name = names.find((one) => reading.standings.has(one))
  return name === undefined ? undefined : reading.standings.get(name)
}
