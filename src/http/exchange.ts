/**
 * One request and its answer. The checks run in one fixed order, from the worst fault to the mildest, so that
 * every request has exactly one answer: framing, route, maintenance, limit of the address, key, limit of the
 * key, Accept, body, shape; rights, existence and conflicts are the operations' own. Every fault of shape is
 * listed. The body is not read before the key was found good.
 */
import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { type Fault, faultEnvelope, faultOf, type Refusal, takesBody } from '../contract/index.ts'
import { type Caller, isRefused, type Refused, refuse } from '../operations/context.ts'
import { failureWindows, type Verdict, type Window, windowsOf } from '../operations/limits.ts'
import type { Operations } from '../operations/operations.ts'
import { type Reply, replyTo, type TextReply } from '../operations/reply.ts'
import { passingReply } from '../operations/run.ts'
import type { AddressOf, Networks } from './address.ts'
import { readBody } from './body.ts'
import {
  acceptedRequestId,
  type Head,
  hasBody,
  headersMax,
  isIdempotencyKey,
  readHead,
  readHttpDate,
  repeated,
} from './head.ts'
import { readJson } from './json.ts'
import { acceptsJson, isJsonType } from './media.ts'
import { readQuery } from './query.ts'
import { countRequest, type RequestCounts } from './request-counts.ts'
import type { Destination } from './routes.ts'
import { sendReply } from './send.ts'

interface EdgeLog {
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
}

export interface EdgeOptions {
  readonly operations: Operations
  /** Whether calls are counted and limited; it may change while the server runs. */
  readonly isCounting: () => boolean
  readonly log: EdgeLog
  /** Proxies in front of it, which say whom they were asked by; absent: nobody's word is believed. */
  readonly trustedProxies?: Networks | undefined
  /** What one address may ask for; absent: the platform's windows. */
  readonly addressWindows?: readonly Window[] | undefined
  /** Where the platform is reached from outside; absent: as the request says. */
  readonly publicUrl?: string | undefined
  /** Awaited after each successful write, before it is answered. */
  readonly afterWrite?: (() => Promise<void>) | undefined
}

/** What the server itself adds to its options. */
export interface Edge extends EdgeOptions {
  readonly addressOf: AddressOf
  readonly addressWindows: readonly Window[]
  readonly counts: RequestCounts
  /** The server is closing: connections end with their next answer. */
  readonly isDraining: () => boolean
}

const urlMaxBytes = 8192
const bodyMaxBytes = 256 * 1024
/** A body that was never read is thrown away by Node when it is small; otherwise the connection ends. */
const strayBodyMaxBytes = 64 * 1024

/** What is known of a request while it is judged. */
export interface Exchange {
  readonly request: IncomingMessage
  readonly head: Head
  readonly requestId: string
  readonly startedAt: number
  standing?: Verdict
  caller?: Caller
  isLast: boolean
}

/** A request as it came, under its own id where that may be taken. */
export function openExchange(request: IncomingMessage): Exchange {
  const head = readHead(request.rawHeaders)
  const requestId = acceptedRequestId(head.requestId) ?? randomUUID()
  return { request, head, requestId, startedAt: performance.now(), isLast: false }
}

/** A target or headers that break HTTP itself, whatever they are for. */
export function isMalformed({ request, head }: Exchange): boolean {
  if (request.rawHeaders.length > headersMax * 2) return true
  // The router would take it for the first page (RFC 9112, 3.2.4).
  if (request.url === '*' && request.method !== 'OPTIONS') return true
  if (head.host === repeated || (head.host === undefined && request.httpVersion === '1.1')) return true
  // Older HTTP knows of no chunks, and no other coding is undone here: a proxy may see other ends than we (RFC 9112, 6.1).
  const coding = head.transferEncoding?.toLowerCase()
  if (coding !== undefined && (coding !== 'chunked' || request.httpVersion !== '1.1')) return true
  return head.expect !== undefined && head.expect.toLowerCase() !== '100-continue'
}

const malformed = (message: string): TextReply => replyTo(refuse('RequestMalformed', '', message))
export const closed: TextReply = replyTo(refuse('Maintenance'))
export const routeUnknown: TextReply = replyTo(refuse('RouteUnknown'))
export const framingFault: TextReply = replyTo(refuse('RequestMalformed'))
const wrong = (faults: readonly Fault[]): Reply => ({ status: 400, body: faultEnvelope(400, faults) })
const fault = (refusal: Refusal, field: string, message?: string): Reply =>
  wrong([faultOf(refusal, field, message)])

/** Answers a request for an operation, whatever happens. */
export async function serve(
  edge: Edge,
  exchange: Exchange,
  to: Destination,
  response: ServerResponse,
): Promise<void> {
  let reply: Reply | 'gone'
  try {
    reply = await judge(edge, exchange, to)
    if (reply === 'gone') return
    if (edge.afterWrite && reply.status < 300 && to.method !== 'GET') await edge.afterWrite()
  } catch (error) {
    // What is awaited after a write may meet a database that has gone away since.
    reply = passingReply(error) ?? replyTo(refuse('Unknown'))
    const { requestId } = exchange
    edge.log.error({ requestId, operation: to.operation, err: error }, 'a request failed')
  }
  await answer(edge, exchange, response, settled(reply, exchange), to)
}

/** A place named by an operation is beside the operation's own, however the host was reached. */
function settled(reply: Reply, { request }: Exchange): Reply {
  const location = reply.headers?.location
  if (location === undefined) return reply
  const { pathname, search } = new URL(location, `http://localhost${request.url ?? '/'}`)
  return { ...reply, headers: { ...reply.headers, location: `${pathname}${search}` } }
}

/** Sends a reply and notes the request. Nothing of a key but its public id, nothing of a body is noted. */
export async function answer(
  edge: Edge,
  exchange: Exchange,
  response: ServerResponse,
  reply: Reply,
  to?: Destination,
): Promise<void> {
  const { log, operations, isCounting, isDraining, addressOf, addressWindows } = edge
  const { head, request, requestId } = exchange
  if (isCounting())
    exchange.standing ??= operations.limiter.peek(`address:${addressOf(request)}`, addressWindows)
  const isLast = exchange.isLast || isDraining() || (!request.complete && isStray(head))
  try {
    const sent = sendReply(response, reply, {
      requestId,
      acceptEncoding: head.acceptEncoding,
      standing: exchange.standing,
      isLast,
    })
    if (sent) await sent
  } catch (error) {
    log.error({ requestId, err: error }, 'an answer could not be sent')
    response.destroy()
  }
  const what = to ? { host: to.host, operation: to.operation } : placeOf(request)
  noteRequest(edge, exchange, to?.operation ?? 'none', reply.status, what)
}

/** Counts and logs a request that was answered; `what`: which one, without a secret. */
export function noteRequest(
  { counts, log }: Edge,
  { requestId, startedAt, caller }: Exchange,
  countedAs: string,
  status: number,
  what: object,
): void {
  const ms = Math.round((performance.now() - startedAt) * 100) / 100
  countRequest(counts, countedAs, status, ms)
  log.info({ requestId, ...what, keyId: caller?.keyId, status, ms }, 'request')
}

/** Longer than the name of any operation. A part of a path that is may be a key, or a link that opens something. */
const secretPart = /[^/]{36,}/g

const placeOf = ({ method, url = '' }: IncomingMessage) => ({
  method,
  path: url.split('?', 1)[0]?.replace(secretPart, '...').slice(0, 200),
})

const isStray = (head: Head): boolean =>
  head.transferEncoding !== undefined || Number(head.contentLength ?? 0) > strayBodyMaxBytes

async function judge(edge: Edge, exchange: Exchange, to: Destination): Promise<Reply | 'gone'> {
  const { head, request } = exchange
  const url = request.url ?? ''
  if (url.length > urlMaxBytes) return malformed(`The URL is longer than ${urlMaxBytes} bytes`)
  const admission = admit(edge, exchange, to)
  const admitted = admission instanceof Promise ? await admission : admission
  if ('status' in admitted) return admitted
  if (head.accept !== 'application/json' && !acceptsJson(head.accept, to.dialect))
    return replyTo(refuse('NotAcceptable', 'Accept'))
  const isRead = to.method === 'GET'
  const payload = takesBody(to) ? await readPayload(exchange, to) : undefined
  if (payload === 'gone' || (payload !== undefined && 'status' in payload)) return payload
  const input = readInput(exchange, to, url, payload)
  if ('status' in input) return input
  return edge.operations.run({
    operation: to.operation,
    compiled: to.compiled,
    params: input.params,
    caller: admitted,
    host: to.host,
    dialect: to.dialect,
    version: to.version,
    requestId: exchange.requestId,
    origin: edge.publicUrl ?? originOf(head.host),
    idempotencyKey: isRead ? undefined : head.idempotencyKey,
    ifModifiedSince: isRead ? readHttpDate(head.ifModifiedSince) : undefined,
  })
}

/** Where the caller has reached the platform. */
const originOf = (host: string | undefined): string =>
  `http://${host !== undefined && /^[\w.:[\]-]{1,260}$/.test(host) ? host : 'localhost'}`

type Admission = Caller | Reply

/** Maintenance, limits and the key: who may go on. Hello tells about a wrong key even during maintenance. */
function admit(edge: Edge, exchange: Exchange, to: Destination): Admission | Promise<Admission> {
  const { operations, isCounting } = edge
  const isClosed = operations.isInMaintenance()
  if (isClosed && to.operation !== 'Hello') return closed
  const letIn = (caller: Caller | Refused): Admission => {
    if (isRefused(caller)) return notLetIn(caller)
    exchange.caller = caller
    return isClosed ? closed : caller
  }
  if (isCounting()) return admitCounted(edge, exchange, to, letIn)
  const found = operations.authenticate(exchange.head.authorization, to.dialect)
  return found instanceof Promise ? found.then(letIn) : letIn(found)
}

async function admitCounted(
  edge: Edge,
  exchange: Exchange,
  to: Destination,
  letIn: (caller: Caller) => Admission,
): Promise<Admission> {
  const { operations, addressOf, addressWindows } = edge
  const address = addressOf(exchange.request)
  const addressVerdict = await operations.limiter.take(`address:${address}`, addressWindows)
  exchange.standing = addressVerdict
  if (!addressVerdict.isAllowed) return tooMany(edge, 'address', addressVerdict)
  const caller = await checkKey(edge, `failures:${address}`, exchange, to)
  if ('status' in caller) return caller
  exchange.caller = caller
  const keyVerdict = await operations.limiter.take(`key:${caller.accessKeyId}`, windowsOf(caller.limits))
  if (!keyVerdict.isAllowed || keyVerdict.tightest.remaining <= addressVerdict.tightest.remaining)
    exchange.standing = keyVerdict
  return keyVerdict.isAllowed ? letIn(caller) : tooMany(edge, 'key', keyVerdict)
}

/** An address that has tried too many wrong keys is told to wait with the next; a good one is let in all the same. */
async function checkKey(
  edge: Edge,
  failures: string,
  exchange: Exchange,
  to: Destination,
): Promise<Caller | Reply> {
  const { authenticate, limiter } = edge.operations
  const caller = await authenticate(exchange.head.authorization, to.dialect)
  if (!isRefused(caller)) return caller
  if (caller.refused === 'Disconnected') return notLetIn(caller)
  const patience = await limiter.take(failures, failureWindows)
  if (patience.isAllowed) return notLetIn(caller)
  exchange.standing = patience
  return tooMany(edge, 'wrongKeys', patience)
}

/** A key that is wrong, or that could not be looked up. */
function notLetIn(refused: Refused): Reply {
  const reply = replyTo(refused)
  return reply.status === 401 ? { ...reply, headers: { 'WWW-Authenticate': 'Bearer' } } : reply
}

/** Over a limit, and when to come back. Counted by what was limited. */
export function tooMany({ counts }: Edge, by: keyof RequestCounts['limited'], { tightest }: Verdict): Reply {
  counts.limited[by]++
  return { ...replyTo(refuse('RateLimited')), headers: { 'Retry-After': String(tightest.resetSeconds) } }
}

type Params = { params: unknown }
type Payload = { value: unknown }

/** Query or, of a method that takes one, body as the operation's parameters, or all that is wrong with them. */
function readInput(exchange: Exchange, to: Destination, url: string, payload?: Payload): Params | Reply {
  const { head } = exchange
  const at = url.indexOf('?')
  const text = at < 0 ? '' : url.slice(at + 1)
  if (payload === undefined && hasBody(head))
    return fault('RequestMalformed', 'Body', 'This method takes no body')
  const unknown = payload === undefined ? [] : strayNames(to, text)
  const input = payload === undefined ? to.readQuery(text) : to.compiled.readInput(payload.value)
  if (unknown === undefined || input === undefined) return malformed('The query string cannot be decoded')
  const key = to.method === 'GET' ? undefined : head.idempotencyKey
  const isKeyWrong = key !== undefined && !isIdempotencyKey(key)
  if ('params' in input && unknown.length === 0 && !isKeyWrong) return input
  return wrong([
    ...(isKeyWrong ? [faultOf('IdempotencyKeyMalformed', 'Idempotency-Key')] : []),
    ...unknown.slice(0, 20).map((name) => faultOf('InvalidParameter', name, 'Unknown name')),
    ...('faults' in input ? input.faults : []),
  ])
}

/** Names in the query of a request that has a body; undefined when it cannot be decoded. */
function strayNames({ dialect }: Destination, text: string): string[] | undefined {
  const query = readQuery(text)
  return query && (dialect === 'native' ? [...query.keys()] : [])
}

/** The JSON value of a body; undefined when there is no body at all. */
async function readPayload(exchange: Exchange, to: Destination): Promise<Payload | Reply | 'gone'> {
  const { head, request } = exchange
  if (!hasBody(head)) return { value: undefined }
  if (!isJsonType(head.contentType)) return fault('ContentTypeUnsupported', 'Content-Type')
  if (head.contentEncoding !== undefined && head.contentEncoding.toLowerCase() !== 'identity')
    return fault('ContentTypeUnsupported', 'Content-Encoding', 'The body must not be encoded')
  const body = await readBody(request, to.row.bodyMaxBytes ?? bodyMaxBytes, head.contentLength)
  if (body === 'gone') return body
  if (body === 'tooLarge') {
    exchange.isLast = true
    return fault('BodyTooLarge', 'Body')
  }
  const json = readJson(body)
  return 'fault' in json ? fault('JsonMalformed', 'Body', `Malformed JSON: ${json.fault}`) : json
}
