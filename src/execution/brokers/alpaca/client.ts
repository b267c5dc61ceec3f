/**
 * One account's way to Alpaca, over the official SDK, which is loaded only where a connection is configured. Every
 * call ends in one of a few outcomes, told apart by what is certain: done, refused, never sent, or unknown. Nothing
 * is repeated here but what the limit of requests turned away, which Alpaca has not looked at.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { failureWords } from '../../../services/failure-words.ts'
import { fetchWhole } from '../../../services/whole-answers.ts'
import type { AlpacaRequest } from './tickets.ts'

type Sdk = typeof import('@alpacahq/alpaca-trade-api')
export type Stream = InstanceType<Sdk['streaming']['TradingStream']>

/** What came of a call. `refused` is Alpaca's word that it did not do it; 404 among it means there is no such thing. */
export type Outcome =
  | { readonly outcome: 'done'; readonly body: unknown }
  | { readonly outcome: 'refused'; readonly status: number; readonly code: string; readonly text: string }
  | { readonly outcome: 'unsent' | 'unknown' }

/** Hears how a call ended, and why where nothing is known of it. */
export type Note = (outcome: Outcome['outcome'], why?: string) => void

export interface Changes {
  readonly clientOrderId: string
  readonly qty: string
  readonly timeInForce: 'day' | 'gtc'
  readonly limitPrice?: string
  readonly stopPrice?: string
}

export interface Client {
  account(): Promise<Outcome>
  positions(): Promise<Outcome>
  openOrders(): Promise<Outcome>
  order(id: string): Promise<Outcome>
  orderByClientId(clientOrderId: string): Promise<Outcome>
  /** The writes: one that has not begun by `until`, on the steady clock, never does and is `unsent`. */
  place(request: AlpacaRequest, until: number): Promise<Outcome>
  replace(id: string, changes: Changes, until: number): Promise<Outcome>
  cancel(id: string, until: number): Promise<Outcome>
  /** The account's history between two moments, as the text of its events. */
  activities(since: Date, until: Date): Promise<Outcome>
  /** A stream of the account's order events, not yet connected. */
  stream(): Stream
}

export interface Endpoint {
  /** Where the Trading API is, without a slash at the end. */
  readonly url: string
  readonly streamUrl: string
  /** Requests that one account may make. */
  readonly requestsPerMinute: number
}

export interface KeyPair {
  readonly keyId: string
  readonly secret: string
}

/** What was begun is given up after this; of writes the port demands it. */
const timeoutMs = 3_000
const historyTimeoutMs = 15_000
/** A pause that Alpaca asks for and that is longer than this is left to whoever asks again. */
const patienceMs = 1_500
/** The clock is adjusted by less than this all the time. */
const clockStepMs = 1_000
const openOrdersAtOnce = 500
const firstReconnectMs = 500
const lastReconnectMs = 30_000

/** Loads the SDK. Throws where the package is not installed. */
export const loadSdk = (): Promise<Sdk> => import('@alpacahq/alpaca-trade-api')

/** A client for one key pair; `note` hears of every call. */
export function createClient(sdk: Sdk, endpoint: Endpoint, keys: KeyPair, note: Note): Client {
  const { trading, streaming } = sdk
  const { url: basePath, requestsPerMinute } = endpoint
  const shared = { basePath, ...keys, userAgent: 'lockstep', fetchApi: fetchWhole }
  const configuration = new (limited(sdk, requestsPerMinute))({ ...shared, timeoutMs })
  const patient = new trading.Configuration({ ...shared, timeoutMs: historyTimeoutMs })
  const orders = new trading.OrdersApi(configuration)
  const accounts = new trading.AccountsApi(configuration)
  const held = new trading.PositionsApi(configuration)
  const events = new trading.EventsApi(patient)
  const ask = async (...call: Parameters<typeof outcomeOf>): Promise<Outcome> => {
    const { outcome, why } = await outcomeOf(...call)
    note(outcome.outcome, why)
    return outcome
  }
  const write = writerOf(orders, note)
  return {
    account: () => ask(() => accounts.getAccountRaw()),
    positions: () => ask(() => held.getAllOpenPositionsRaw()),
    openOrders: () => ask(() => orders.getAllOrdersRaw({ status: 'open', limit: openOrdersAtOnce })),
    order: (orderId) => ask(() => orders.getOrderByOrderIDRaw({ orderId })),
    orderByClientId: (clientOrderId) => ask(() => orders.getOrderByClientOrderIdRaw({ clientOrderId })),
    place: (postOrderRequest, until) => write(until, (to) => to.postOrderRaw({ postOrderRequest })),
    replace: (orderId, patchOrderRequest, until) =>
      write(until, (to) => to.patchOrderByOrderIdRaw({ orderId, patchOrderRequest })),
    cancel: (orderId, until) => write(until, (to) => to.deleteOrderByOrderIDRaw({ orderId }), asNothing),
    activities: (since, until) =>
      ask(
        () => events.subscribeToActivitiesSSERaw({ since, until }),
        (response) => response.text(),
      ),
    stream: () =>
      new streaming.TradingStream({
        url: endpoint.streamUrl,
        credentials: keys,
        maxReconnectAttempts: -1,
        initialReconnectMs: firstReconnectMs,
        maxReconnectMs: lastReconnectMs,
      }),
  }
}

/**
 * A configuration with a limit of requests. The SDK's limiter goes by the time of day: after the clock was set back it
 * would let nothing through until the earlier time has come again, so another takes its place.
 */
const limited = ({ trading, rateLimit: { RateLimiter } }: Sdk, maxRequests: number) =>
  class extends trading.Configuration {
    #limiter = new RateLimiter({ maxRequests })
    #latest = Date.now()

    override get rateLimiter() {
      const now = Date.now()
      if (now < this.#latest - clockStepMs) this.#limiter = new RateLimiter({ maxRequests })
      this.#latest = now
      return this.#limiter
    }
  }

type Orders = InstanceType<Sdk['trading']['OrdersApi']>

/**
 * Writes orders. The clock is looked at after the SDK has waited for its limit of requests, each time that a request
 * goes out. One that comes too late says nothing about the way to Alpaca.
 */
const writerOf =
  (orders: Orders, note: Note) =>
  async (
    until: number,
    call: (to: Orders) => ReturnType<Parameters<typeof outcomeOf>[0]>,
    read?: Parameters<typeof outcomeOf>[1],
  ): Promise<Outcome> => {
    let isBegun = false
    const inTime = orders.withPreMiddleware(async () => {
      if (performance.now() > until) throw new Error('too late to write')
      isBegun = true
    })
    const { outcome, why } = await outcomeOf(() => call(inTime), read)
    if (!isBegun) return { outcome: 'unsent' }
    note(outcome.outcome, why)
    return outcome
  }

const asNothing = async (): Promise<undefined> => undefined

async function outcomeOf(
  call: () => Promise<{ readonly raw: Response }>,
  read: (response: Response) => Promise<unknown> = (response) => response.json(),
  isLast = false,
): Promise<{ readonly outcome: Outcome; readonly why?: string }> {
  try {
    const { raw } = await call()
    return { outcome: { outcome: 'done', body: await read(raw) } }
  } catch (error) {
    const { retryAfterMs, ...failure } = failureOf(error)
    if (isLast || retryAfterMs === undefined || retryAfterMs > patienceMs) return failure
    await delay(retryAfterMs)
    return outcomeOf(call, read, true)
  }
}

/** What the SDK's errors hold, whatever copy of its classes made them. */
interface Failure {
  readonly name?: string
  readonly status?: number
  readonly code?: unknown
  readonly message?: string
  readonly retryAfterMs?: number
  readonly cause?: Failure
}

/** Statuses after which the request may yet have been carried out. */
const doubtful = [408, 425, 429]

/** Codes of a connection that was never made. */
const unconnected = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH']

/** Codes of a certificate that was not believed: whoever showed it was sent nothing. */
const unbelieved = /^(ERR_TLS_CERT|CERT|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO)_\w+$/

interface Failed {
  readonly outcome: Outcome
  readonly why?: string
  readonly retryAfterMs?: number
}

function failureOf(error: unknown): Failed {
  const { status, code, message = '', retryAfterMs, cause } = error as Failure
  if (status === undefined) return unanswered([cause, cause?.cause])
  const unknown = { outcome: { outcome: 'unknown' }, why: `it answers ${status}` } as const
  if (status === 429) return { ...unknown, retryAfterMs: retryAfterMs ?? patienceMs }
  if (status < 400 || status >= 500 || doubtful.includes(status)) return unknown
  return { outcome: { outcome: 'refused', status, code: String(code ?? ''), text: message.slice(0, 200) } }
}

/** Of a call that got no answer; the words of its last cause say most. */
function unanswered(causes: readonly (Failure | undefined)[]): Failed {
  const codes = causes.map((one) => String(one?.code))
  const isUnsent = codes.some((code) => unconnected.includes(code) || unbelieved.test(code))
  const [why = 'no answer'] = causes.flatMap((one) => failureWords(one) ?? []).reverse()
  return { outcome: { outcome: isUnsent ? 'unsent' : 'unknown' }, why }
}
