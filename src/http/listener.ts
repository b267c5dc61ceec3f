/**
 * The listening socket: time-outs, limits per address, and an answer in our words to everything that Node
 * refuses before it becomes a request. Node's strict parser is kept.
 */
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http'
import type { Socket } from 'node:net'
import type { TextReply } from '../operations/reply.ts'
import { framingFault, routeUnknown } from './exchange.ts'
import { commonHeaders, jsonType } from './send.ts'

const limits = {
  headersTimeout: 10_000,
  requestTimeout: 60_000,
  keepAliveTimeout: 65_000,
  connectionsCheckingInterval: 2_000,
  maxHeaderSize: 32 * 1024,
}
const socketsPerAddressMax = 2_048

/** A server that hands every well-formed request to `listener`; `newId` names those without a request. */
export function createListener(listener: RequestListener, newId: () => string): Server {
  // A missing Host is refused by us, in our words.
  const server = createServer({ ...limits, requireHostHeader: false, noDelay: true }, listener)
  server.maxHeadersCount = 0
  // Who has said all it wants to say may still listen.
  Object.assign(server, { httpAllowHalfOpen: true })
  const refused = new WeakSet<Socket>()
  const refuseRaw = (socket: Socket, reply: TextReply): void => {
    // Every further byte breaks the grammar anew.
    if (refused.has(socket)) return
    refused.add(socket)
    afterAnswers(socket, () => {
      if (!socket.writable || isAnswering(socket) || isAnswered(socket)) socket.destroy()
      else socket.end(rawAnswer(reply, newId()), () => socket.destroySoon())
    })
  }
  server.on('clientError', (error: ParserError, socket: Socket) => {
    if (error.code === 'ECONNRESET' || !socket.writable) socket.destroy()
    else refuseRaw(socket, isOtherMethod(error) ? routeUnknown : framingFault)
  })
  server.on('connect', (_, socket: Socket) => {
    // Node has let go of it: an error that nobody hears would end the process.
    socket.on('error', () => socket.destroy())
    refuseRaw(socket, routeUnknown)
  })
  server.on('checkExpectation', listener)
  limitSockets(server)
  return server
}

/** What Node says of bytes that its parser refuses. */
interface ParserError extends NodeJS.ErrnoException {
  readonly bytesParsed?: number
  readonly rawPacket?: Buffer
}

/** From within the method on. */
const requestLine = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+ \S+ HTTP\/1\.[01]\r\n/
const requestLineMaxBytes = 16 * 1024

/** Node's parser knows its methods by name; a well-formed line with another one is a wrong method, not a wrong form. */
function isOtherMethod({ code, bytesParsed = 0, rawPacket }: ParserError): boolean {
  if (code !== 'HPE_INVALID_METHOD' || rawPacket === undefined) return false
  return requestLine.test(rawPacket.toString('latin1', bytesParsed, bytesParsed + requestLineMaxBytes))
}

/** The answer that is being made or sent on a connection. */
const answerOf = (socket: Socket): ServerResponse | null | undefined =>
  (socket as Socket & { _httpMessage?: ServerResponse | null })._httpMessage

/** True while an answer is on its way: writing into it would corrupt it. */
const isAnswering = (socket: Socket): boolean => answerOf(socket)?.headersSent === true

/** True when what broke is the body of a request that has its answer: nobody waits for a second one. */
function isAnswered(socket: Socket): boolean {
  const { parser } = socket as { parser?: { incoming?: IncomingMessage | null } | null }
  return !answerOf(socket) && parser?.incoming?.complete === false
}

/** Waits until the whole requests that came before have their own answers, which callers tell by their order. */
function afterAnswers(socket: Socket, then: () => void): void {
  const answer = answerOf(socket)
  if (!answer?.req.complete || socket.destroyed) then()
  else answer.once('close', () => afterAnswers(socket, then))
}

function rawAnswer({ status, body }: TextReply, requestId: string): string {
  const headers = ['Content-Type', jsonType, 'Content-Length', String(Buffer.byteLength(body))]
  headers.push('Date', new Date().toUTCString(), ...commonHeaders({ requestId, isLast: true }))
  let text = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n`
  for (let at = 0; at < headers.length; at += 2) text += `${headers[at]}: ${headers[at + 1]}\r\n`
  return `${text}\r\n${body}`
}

function limitSockets(server: Server): void {
  const open = new Map<string, number>()
  server.on('connection', (socket) => {
    const address = socket.remoteAddress ?? ''
    const count = (open.get(address) ?? 0) + 1
    open.set(address, count)
    socket.once('close', () => {
      const left = (open.get(address) ?? 1) - 1
      if (left === 0) open.delete(address)
      else open.set(address, left)
    })
    if (count > socketsPerAddressMax) socket.destroy()
  })
}
