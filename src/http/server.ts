/**
 * The server of the three hosts. Requests for operations take the short way from Node's parser to their
 * exchange; everything else on the port (probes, pages, what a caller of `createServer` adds) is routed by
 * fastify, and what nobody knows is a 404 in the envelope.
 */
import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import { refuse } from '../operations/context.ts'
import { platformWindows } from '../operations/limits.ts'
import { type Reply, replyTo } from '../operations/reply.ts'
import { passingReply } from '../operations/run.ts'
import { createAddressReader } from './address.ts'
import { addApprovals } from './approvals.ts'
import { addEmailConfirmations } from './email-confirmations.ts'
import {
  answer,
  type Edge,
  type EdgeOptions,
  framingFault,
  isMalformed,
  openExchange,
  routeUnknown,
  serve,
} from './exchange.ts'
import { readAbsoluteForm } from './head.ts'
import { createListener } from './listener.ts'
import { type Pages, pageHeaders } from './pages.ts'
import { newRequestCounts, type RequestCounts } from './request-counts.ts'
import { createRouter, type Hosts } from './routes.ts'
import { jsonType } from './send.ts'
import { receive, type Shown } from './visits.ts'

export interface ServerOptions extends EdgeOptions {
  readonly hosts: Hosts
  /** HTML by path, made for the port that it listens on when it is first asked for. */
  readonly pages?: Pages
  /** JSON, or other text, by path, likewise. */
  readonly documents?: Pages
  /** What else must hold for it to be ready, each by its name; absent: nothing. */
  readonly conditions?: () => Promise<Readonly<Record<string, boolean>>>
  /** What is told beside, by its name, and has no bearing on whether it is ready; absent: nothing. */
  readonly signs?: () => Promise<Readonly<Record<string, boolean>>>
  /** Counts the requests; absent: nobody looks. */
  readonly counts?: RequestCounts
  /** Adds routes of the caller's own. */
  readonly extra?: (app: FastifyInstance) => void
}

export interface Server {
  /** Resolves with the server's address once it accepts connections. */
  listen(port: number, host: string): Promise<string>
  /**
   * Says that it is not ready, gives balancers a notice to see it, stops accepting, finishes what is under way,
   * then closes.
   */
  close(noticeMs?: number): Promise<void>
}

/** How long requests under way may take to finish at a close. */
const finishWithinMs = 10_000

/**
 * The server of all hosts: it knows its requests by host, method and path, and turns away what is malformed
 * before any of them.
 */
export function createServer(options: ServerOptions): Server {
  const find = createRouter(options.hosts)
  const state = { isDraining: false }
  const edge = edgeOf(options, () => state.isDraining)
  const listener =
    (others: (request: IncomingMessage, response: ServerResponse) => void) =>
    (request: IncomingMessage, response: ServerResponse): void => {
      const exchange = openExchange(request)
      if (isMalformed(exchange)) {
        exchange.isLast = true
        void answer(edge, exchange, response, framingFault)
        return
      }
      const named = readAbsoluteForm(request.url ?? '')
      if (named !== undefined) {
        request.url = named.url
        exchange.head.host = named.host
      }
      const url = request.url ?? ''
      const at = url.indexOf('?')
      const to = find(request.method ?? '', exchange.head.host, at < 0 ? url : url.slice(0, at))
      if (to !== undefined) void serve(edge, exchange, to, response)
      else others(request, response)
    }
  const app = Fastify({
    serverFactory: (others) => createListener(listener(others), randomUUID),
    exposeHeadRoutes: false,
    return503OnClosing: false,
    bodyLimit: 16 * 1024 * 1024,
    frameworkErrors: (_, request, reply) => say(edge, request, reply, routeUnknown),
    // The listener's own.
    clientErrorHandler: () => undefined,
  })
  addRequestIds(app)
  addFallbacks(app, edge)
  addProbes(app, edge, options)
  addPages(app, edge, options.pages ?? {}, pageHeaders)
  addPages(app, edge, options.documents ?? {}, (_, path) => [
    'Content-Type',
    path.endsWith('.json') ? jsonType : 'text/plain; charset=utf-8',
  ])
  addApprovals(app, edge)
  addEmailConfirmations(app, edge)
  options.extra?.(app)
  return {
    listen: (port, host) => listen(app, port, host),
    close: (noticeMs = 0) => close(app, state, noticeMs),
  }
}

function edgeOf(options: ServerOptions, isDraining: () => boolean): Edge {
  const { trustedProxies, addressWindows = platformWindows, counts = newRequestCounts() } = options
  return { ...options, counts, addressOf: createAddressReader(trustedProxies), addressWindows, isDraining }
}

/** Answers in the envelope instead of fastify's own words. */
function say(edge: Edge, request: FastifyRequest, reply: FastifyReply, said: Reply): void {
  reply.hijack()
  void answer(edge, openExchange(request.raw), reply.raw, said)
}

/** What fastify sends by itself, as for probes and for routes of a caller, carries a request id like every other answer. */
function addRequestIds(app: FastifyInstance): void {
  app.addHook('onSend', async (request, reply) => {
    void reply.header('x-request-id', openExchange(request.raw).requestId)
  })
}

function addFallbacks(app: FastifyInstance, edge: Edge): void {
  app.addHook('onRequest', (request, reply, done) => {
    if (request.is404) say(edge, request, reply, routeUnknown)
    else done()
  })
  app.setErrorHandler((error: { statusCode?: number; message: string }, request, reply) => {
    if (error.statusCode !== undefined && error.statusCode < 500) {
      say(edge, request, reply, replyTo(refuse('RequestMalformed', '', error.message)))
      return
    }
    const passing = passingReply(error)
    if (!passing) edge.log.error({ path: request.routeOptions.url, err: error }, 'a request failed')
    say(edge, request, reply, passing ?? replyTo(refuse('Unknown')))
  })
}

/** Alive says that the process turns, started that it was able to begin, ready that it can do its work. */
function addProbes(
  app: FastifyInstance,
  { operations, isDraining }: Edge,
  { conditions = async () => ({}), signs = async () => ({}) }: Pick<ServerOptions, 'conditions' | 'signs'>,
): void {
  const common = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' }
  // Monitors often ask with HEAD, as their body says no more than their status.
  const asked = { exposeHeadRoute: true }
  app.get('/livez', asked, (_, reply) => reply.headers(common).send({ alive: true }))
  // Nothing listens before schema and secrets are in order.
  app.get('/startupz', asked, (_, reply) => reply.headers(common).send({ started: true }))
  app.get('/readyz', asked, async (_, reply) => {
    const [database, others, told] = await Promise.all([operations.isReady(), conditions(), signs()])
    const ready = database && !isDraining() && Object.values(others).every(Boolean)
    return reply
      .status(ready ? 200 : 503)
      .headers({ ...common, ...(ready ? {} : { 'retry-after': '1' }) })
      .send({ ready, database, ...others, draining: isDraining(), ...told })
  })
}

function addPages(
  app: FastifyInstance,
  edge: Edge,
  pages: Pages,
  headersOf: (text: string, path: string) => readonly string[],
): void {
  for (const [path, textAt] of Object.entries(pages)) {
    let made: Shown | undefined
    const show = async (): Promise<Shown> => {
      if (made === undefined) {
        const text = textAt((app.server.address() as AddressInfo).port)
        made = { status: 200, text, policy: headersOf(text, path) }
      }
      return made
    }
    app.get(path, (request, reply) => receive(edge, request, reply, { path, find: show }))
  }
}

async function listen(app: FastifyInstance, port: number, host: string): Promise<string> {
  await app.listen({ port, host })
  const { address, family, port: bound } = app.server.address() as AddressInfo
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${bound}`
}

async function close(app: FastifyInstance, state: { isDraining: boolean }, noticeMs: number): Promise<void> {
  state.isDraining = true
  if (noticeMs > 0) await pause(noticeMs)
  const timer = setTimeout(() => app.server.closeAllConnections(), finishWithinMs)
  await app.close().finally(() => clearTimeout(timer))
}
