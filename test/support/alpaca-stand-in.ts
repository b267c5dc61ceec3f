/**
 * A stand-in for Alpaca's Trading API: the HTTP and the stream that the official client speaks, over books of its
 * own. A test may make any request fail before or after its work is done, and any event be lost, late or repeated.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  type BookAccount,
  type BookEvent,
  type Books,
  createBooks,
  isOpen,
  positionsOf,
  Refusal,
} from './alpaca-book.ts'
import { acceptSockets, type Peer } from './websocket.ts'

/**
 * refuse: cut before the work; drop: cut after it; error, late: status 500 before and after it; limit: 429 before it;
 * malformed, empty: the work is done and the answer is nonsense; slow: the answer takes longer than anybody waits.
 */
export type Fault = 'refuse' | 'drop' | 'error' | 'late' | 'limit' | 'malformed' | 'empty' | 'slow'

/** What becomes of an event of the stream; a delayed one comes after those that follow. */
export type EventFault = 'drop' | 'repeat' | 'delay'

/** An order whose answer is all that a test is about. */
export const anyOrder = {
  symbol: 'AAPL',
  qty: '1',
  side: 'buy',
  type: 'market',
  timeInForce: 'day',
  clientOrderId: 'c',
} as never

export interface AlpacaStandIn {
  readonly url: string
  readonly streamUrl: string
  readonly books: Books
  /** Requests that arrived, method and path. */
  readonly heard: string[]
  /** Decides how a request goes wrong, if it does. */
  fault: (method: string, path: string) => Fault | undefined
  eventFault: (event: BookEvent) => EventFault | undefined
  /** Cancels take until the order is ended by the test. */
  isSlowToCancel: boolean
  /** Streams are opened and nothing is said on them; what comes on one is noted as passed over. */
  isMute: boolean
  /** Puts something else in the place of a good answer. */
  distort: ((path: string, body: unknown) => unknown) | undefined
  /** Streams that are open, of this account or of all. */
  listeners(of?: BookAccount): number
  /** Cuts every stream. */
  cutStreams(): void
  /** Tells what was delayed. */
  release(): void
  /** Says something to the streams of an account. */
  say(account: BookAccount, message: unknown): void
  close(): Promise<void>
}

type Handler = (
  account: BookAccount,
  path: string,
  query: URLSearchParams,
  body: Record<string, string>,
) => unknown

export async function startAlpacaStandIn(now: () => number): Promise<AlpacaStandIn> {
  const listening = new Map<Peer, BookAccount>()
  const delayed: [BookAccount, BookEvent][] = []

  const say = (account: BookAccount, message: unknown): void => {
    for (const [peer, owner] of listening) if (owner === account) peer.send(JSON.stringify(message))
  }
  const tell = (account: BookAccount, data: BookEvent): void => {
    const fault = standIn.eventFault(data)
    if (fault === 'drop') return
    if (fault === 'delay') delayed.push([account, data])
    else say(account, { stream: 'trade_updates', data })
    if (fault === 'repeat') say(account, { stream: 'trade_updates', data })
  }
  const books = createBooks(now, tell)

  const server = createServer((request, response) => {
    void answer(request, response).catch((error: unknown) => {
      response.writeHead(500).end(String(error))
    })
  })

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const text = await textOf(request)
    const { pathname: path, searchParams } = new URL(request.url ?? '/', 'http://alpaca')
    const method = request.method ?? 'GET'
    standIn.heard.push(`${method} ${path}`)
    const fault = standIn.fault(method, path)
    if (fault === 'refuse') return void request.socket.destroy()
    if (fault === 'error') return reply(response, 500, { message: 'internal server error' })
    if (fault === 'limit')
      return reply(
        response,
        429,
        { code: 42910000, message: 'rate limit exceeded' },
        { 'Retry-After': '0.05' },
      )
    const said = work(method, path, searchParams, request, text)
    if (fault === 'drop') return void request.socket.destroy()
    if (fault === 'late') return reply(response, 500, { message: 'internal server error' })
    if (fault === 'slow') return // the client's own time-out ends the connection
    if (fault === 'malformed') return reply(response, 200, { id: 7, status: 'NaN', filled_qty: 'NaN' })
    if (fault === 'empty') return void response.writeHead(200, { 'Content-Type': 'application/json' }).end()
    const body = said.status === 200 && standIn.distort ? standIn.distort(path, said.body) : said.body
    reply(response, said.status, body)
  }

  const work = (
    method: string,
    path: string,
    query: URLSearchParams,
    { headers }: IncomingMessage,
    text: string,
  ): { status: number; body: unknown } => {
    const account = books.accounts.get(String(headers['apca-api-key-id']))
    if (!account || account.secret !== headers['apca-api-secret-key'])
      return { status: 401, body: { code: 40110000, message: 'request is not authorized' } }
    const route = routes.find(([verb, pattern]) => verb === method && pattern.test(path))
    if (!route) return { status: 404, body: 'not found' }
    try {
      const body = route[2](account, path, query, text === '' ? {} : JSON.parse(text))
      return { status: method === 'DELETE' ? 204 : 200, body }
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      return { status: error.status, body: { code: error.code, message: error.message } }
    }
  }

  const orderOf = (account: BookAccount, path: string) => {
    const order = account.orders.get(path.split('/').at(-1) ?? '')
    if (!order) throw new Refusal(404, 40410000, 'order not found')
    return order
  }

  const routes: readonly [string, RegExp, Handler][] = [
    ['GET', /^\/v2\/account$/, shownAccount],
    ['GET', /^\/v2\/positions$/, shownPositions],
    ['GET', /^\/v2\/orders$/, (account) => [...account.orders.values()].filter(isOpen)],
    ['GET', /^\/v2\/orders:by_client_order_id$/, (account, _, query) => byClientId(account, query)],
    ['GET', /^\/v2\/orders\/[^/]+$/, (account, path) => orderOf(account, path)],
    ['POST', /^\/v2\/orders$/, (account, _, __, body) => books.place(account, body)],
    [
      'PATCH',
      /^\/v2\/orders\//,
      (account, path, _, body) => books.replace(account, orderOf(account, path), body),
    ],
    [
      'DELETE',
      /^\/v2\/orders\//,
      (account, path) => books.cancel(account, orderOf(account, path), standIn.isSlowToCancel),
    ],
    ['GET', /^\/v2beta1\/events\/activities$/, (account, _, query) => shownHistory(account, query)],
  ]

  acceptSockets(
    server,
    (peer, text) => {
      if (standIn.isMute) return void standIn.heard.push('passed over')
      const { action, data } = JSON.parse(text) as { action: string; data: Record<string, string> }
      if (action === 'authenticate') {
        const account = books.accounts.get(data.key_id ?? '')
        const isKnown = account !== undefined && account.secret === data.secret_key
        if (isKnown) listening.set(peer, account)
        else standIn.heard.push(`turned away ${data.key_id}`)
        const status = isKnown ? 'authorized' : 'unauthorized'
        peer.send(JSON.stringify({ stream: 'authorization', data: { action, status } }))
      } else peer.send(JSON.stringify({ stream: 'listening', data }))
    },
    (peer) => listening.delete(peer),
  )

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const standIn: AlpacaStandIn = {
    url: `http://127.0.0.1:${port}`,
    streamUrl: `ws://127.0.0.1:${port}/stream`,
    books,
    heard: [],
    isSlowToCancel: false,
    isMute: false,
    distort: undefined,
    say,
    fault: () => undefined,
    eventFault: () => undefined,
    listeners: (of) => [...listening.values()].filter((account) => !of || account === of).length,
    cutStreams: () => {
      for (const peer of listening.keys()) peer.cut()
    },
    release: () => {
      for (const [account, data] of delayed.splice(0)) say(account, { stream: 'trade_updates', data })
    },
    close: async () => {
      for (const peer of listening.keys()) peer.cut()
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return standIn
}

const shownAccount = ({ number, status, isBlocked, cash }: BookAccount) => ({
  account_number: number,
  status,
  account_blocked: isBlocked,
  trading_blocked: false,
  currency: 'USD',
  cash: String(cash),
})

const shownPositions = (account: BookAccount) =>
  [...positionsOf(account)].map(([symbol, quantity]) => ({
    symbol,
    asset_class: 'us_equity',
    qty: String(quantity),
    side: quantity < 0 ? 'short' : 'long',
  }))

function byClientId(account: BookAccount, query: URLSearchParams) {
  const wanted = query.get('client_order_id')
  const order = [...account.orders.values()].find((one) => one.client_order_id === wanted)
  if (!order) throw new Refusal(404, 40410000, 'order not found')
  return order
}

/** The history as server-sent events. */
function shownHistory({ history }: BookAccount, query: URLSearchParams): string {
  const [since, until] = [Date.parse(query.get('since') ?? ''), Date.parse(query.get('until') ?? '')]
  const between = history.filter(
    ({ at }) => since <= Date.parse(String(at)) && Date.parse(String(at)) <= until,
  )
  return [
    ': hello',
    ...between.map((event) => `id: ${event.event_id}\ndata: ${JSON.stringify(event)}\n`),
  ].join('\n')
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString()
}

function reply(response: ServerResponse, status: number, body: unknown, headers: object = {}): void {
  const isText = typeof body === 'string'
  response.writeHead(status, {
    'Content-Type': isText ? 'text/event-stream' : 'application/json',
    ...headers,
  })
  response.end(status === 204 ? undefined : isText ? body : JSON.stringify(body))
}
