/**
 * Alpaca behind the port: US stocks and options for customers who have an account there and a key to it. Each account
 * signs in for itself. The package is loaded only where a connection of this kind is configured.
 */

import type { KeyRing } from '../../../storage/database/vault.ts'
import { quotedInstruments } from '../../../storage/market/quotes.ts'
import { backoff } from '../../backoff.ts'
import type { WorkContext } from '../../context.ts'
import type { Answer, LiveBroker, OrderName, OrderTicket } from '../broker.ts'
import { findAll, snapshotAll } from './asking.ts'
import { createClient, type Endpoint, loadSdk, type Note } from './client.ts'
import type { Desk } from './desk.ts'
import { Following } from './following.ts'
import { createNotices } from './notices.ts'
import { createSessions, type Session, soon } from './sessions.ts'
import { type AlpacaInstrument, trades } from './tickets.ts'
import { cancelOne, placeOne, replaceOne } from './trading.ts'

export interface AlpacaOptions extends Endpoint {
  /** The `adapter` of the brokers that it serves. */
  readonly adapter: string
  /** Opens what customers entrusted. */
  readonly keyRing: KeyRing
}

/** Every order is a request of its own, so many small calls go side by side. */
const limits = { batch: 20, concurrency: 10 }

/** Builds the broker. Throws where the package is not installed. */
export async function connectAlpaca(options: AlpacaOptions): Promise<LiveBroker> {
  const sdk = await loadSdk()
  const link = createLink()
  const sessions = createSessions(options.keyRing, (keys) => createClient(sdk, options, keys, link.note))
  const following = new Following(options.adapter, sessions, link.isUp)
  const desk: Desk = { sessions, why: link.why, pull: (accountIds) => following.pull(accountIds) }
  const notices = createNotices()
  return {
    limits,
    trades,
    isUp: link.isUp,
    place: (ctx, _brokerId, tickets, until) =>
      withInstruments(ctx, desk, tickets, (session, ticket, instrument) =>
        placeOne(ctx, session, ticket, instrument, until),
      ),
    replace: (ctx, _brokerId, tickets, until) =>
      withInstruments(ctx, desk, tickets, (session, ticket, instrument) =>
        replaceOne(ctx, session, ticket, instrument, until),
      ),
    cancel: (ctx, _brokerId, orders, until) =>
      withSessions(ctx, desk, orders, (session, order) => cancelOne(ctx, session, order, until)),
    find: (ctx, _brokerId, orders) => findAll(ctx, desk, orders),
    snapshot: (ctx, accountIds) => snapshotAll(ctx, desk, notices, accountIds),
    steps: following.steps(),
    close: () => following.close(),
  }
}

const shortestPauseMs = 500
const longestPauseMs = 30_000

/** Whether Alpaca can be reached: after a call that found no way there it is left alone, longer each time. */
export function createLink() {
  let failures = 0
  let downUntil = 0
  let lastWhy: string | undefined
  const note: Note = (outcome, why) => {
    lastWhy = why
    if (outcome === 'done' || outcome === 'refused') failures = 0
    if (outcome !== 'unsent' || performance.now() < downUntil) return
    downUntil = performance.now() + backoff(failures, shortestPauseMs, longestPauseMs)
    failures += 1
  }
  return {
    isUp: (): boolean => performance.now() >= downUntil,
    /** What was wrong with the last call, in words for the operator. */
    why: (): string | undefined => lastWhy,
    note,
  }
}

/**
 * Serves each order in the session of its account; where there is none for good, the order is refused, and where there
 * is none now, it is not sent. One that fails is unknown and ends nothing: the call is over when nothing of it is under
 * way.
 */
async function withSessions<Order extends OrderName>(
  ctx: WorkContext,
  { sessions }: Desk,
  orders: readonly Order[],
  serve: (session: Session, order: Order) => Promise<Answer>,
): Promise<Answer[]> {
  const ids = orders.map(({ accountId }) => accountId)
  const found = await sessions.of(ctx, ids)
  return Promise.all(
    found.map(async (one, place): Promise<Answer> => {
      const order = orders[place]!
      const session = await soon(one)
      if (!session || 'outcome' in session) return { answer: 'unsent' }
      if ('refused' in session) return { answer: 'rejected', text: session.refused }
      return serve(session, order).catch((error: unknown): Answer => {
        ctx.log.warn({ error, accountId: order.accountId }, 'a request to Alpaca failed on its way')
        return { answer: 'unknown' }
      })
    }),
  )
}

async function withInstruments<Ticket extends OrderTicket>(
  ctx: WorkContext,
  desk: Desk,
  tickets: readonly Ticket[],
  serve: (session: Session, ticket: Ticket, instrument: AlpacaInstrument | undefined) => Promise<Answer>,
): Promise<Answer[]> {
  const ids = [...new Set(tickets.map(({ instrumentId }) => instrumentId))]
  const instruments = await quotedInstruments(ctx.db.read, ids)
  return withSessions(ctx, desk, tickets, (session, ticket) =>
    serve(session, ticket, instruments.get(ticket.instrumentId)),
  )
}
