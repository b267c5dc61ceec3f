/**
 * Writes answers. Every one carries its request id, may not be cached or sniffed, and says where its caller
 * stands in the rate limits. Large bodies travel compressed when the caller asks for it.
 */
import type { ServerResponse } from 'node:http'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { Body, LongList } from '../contract/index.ts'
import type { Verdict, Window } from '../operations/limits.ts'
import type { Reply } from '../operations/reply.ts'
import { inTurns, rowsAtOnce } from '../operations/turns.ts'
import { codingOf } from './media.ts'
import { createUntaken } from './untaken.ts'

/** Smaller bodies are not worth the work. */
const compressMinBytes = 1024

const compress = {
  br: (body: Buffer): Promise<Buffer> =>
    promisify(brotliCompress)(body, {
      params: { [constants.BROTLI_PARAM_QUALITY]: 4, [constants.BROTLI_PARAM_SIZE_HINT]: body.length },
    }),
  gzip: (body: Buffer): Promise<Buffer> => promisify(gzip)(body, { level: 6 }),
}

export interface Envoy {
  readonly requestId: string
  readonly acceptEncoding?: string | undefined
  /** Where the caller stands, when calls are counted. */
  readonly standing?: Verdict | undefined
  /** The connection ends with this answer. */
  readonly isLast?: boolean
}

export const jsonType = 'application/json; charset=utf-8'

/** Sends a JSON answer: it was handed to the connection when this returns, or what it returns resolves. */
export function sendReply(response: ServerResponse, reply: Reply, envoy: Envoy): Promise<void> | undefined {
  const headers = commonHeaders(envoy)
  for (const name in reply.headers) headers.push(name, reply.headers[name] ?? '')
  if (reply.status === 304) return end(response, 304, headers)
  headers.push('Content-Type', jsonType)
  return sendBody(response, reply.status, headers, reply.body, envoy.acceptEncoding)
}

/** Sends text under headers that are complete but for its length and coding; waits only to compress it. */
export function sendBody(
  response: ServerResponse,
  status: number,
  headers: string[],
  body: Body,
  acceptEncoding: string | undefined,
): Promise<void> | undefined {
  if (typeof body !== 'string' && body.items.length > rowsAtOnce)
    return bytesInTurns(body).then((whole) => sendWhole(response, status, headers, whole, acceptEncoding))
  const whole = typeof body === 'string' ? body : bytesOf(body)
  return sendWhole(response, status, headers, whole, acceptEncoding)
}

function sendWhole(
  response: ServerResponse,
  status: number,
  headers: string[],
  whole: string | Buffer,
  acceptEncoding: string | undefined,
): Promise<void> | undefined {
  const length = Buffer.byteLength(whole)
  if (length < compressMinBytes) return end(response, status, headers, length, whole)
  headers.push('Vary', 'Accept-Encoding')
  const coding = codingOf(acceptEncoding)
  if (coding === 'identity') return end(response, status, headers, length, whole)
  return compress[coding](typeof whole === 'string' ? Buffer.from(whole) : whole).then((packed) => {
    headers.push('Content-Encoding', coding)
    end(response, status, headers, packed.length, packed)
  })
}

/** Of all servers of the process: they share its memory. */
const untaken = createUntaken()
const comma = 0x2c

/** Around the items stand no letters but ASCII. */
function bytesOf({ before, items, after }: LongList): Buffer {
  let length = before.length + items.length - 1 + after.length
  for (const item of items) length += Buffer.byteLength(item)
  const bytes = Buffer.allocUnsafe(length)
  let at = bytes.write(before)
  for (const item of items) {
    at += bytes.write(item, at)
    bytes[at++] = comma
  }
  // Over the last comma.
  bytes.write(after, at - 1)
  return bytes
}

/** The same for a list beyond any page: an answer of twenty megabytes takes half a second. */
async function bytesInTurns({ before, items, after }: LongList): Promise<Buffer> {
  let lead = before
  const parts = await inTurns(items, (some) => {
    const part = bytesOf({ before: lead, items: some, after: '' })
    lead = ','
    return [part]
  })
  return Buffer.concat([...parts, Buffer.from(after)])
}

function end(
  response: ServerResponse,
  status: number,
  headers: string[],
  length?: number,
  body?: string | Buffer,
): undefined {
  if (length !== undefined) headers.push('Content-Length', String(length))
  response.writeHead(status, headers).end(body)
  if (length !== undefined) untaken.note(response, length)
}

/** Headers of every answer. */
export function commonHeaders({ requestId, standing, isLast }: Envoy): string[] {
  const headers = [
    'X-Request-Id',
    requestId,
    'X-Content-Type-Options',
    'nosniff',
    'Cache-Control',
    'no-store',
  ]
  if (isLast) headers.push('Connection', 'close')
  if (standing !== undefined) pushLimits(headers, standing)
  return headers
}

function pushLimits(headers: string[], { tightest, windows }: Verdict): void {
  const { seconds, limit, remaining, resetSeconds } = tightest
  const type = nameOf(seconds)
  headers.push('X-Limit-Limit', String(limit), 'X-Limit-Type', type)
  headers.push('X-Limit-Remaining', String(remaining), 'X-Limit-Reset', String(resetSeconds))
  headers.push(
    'RateLimit-Policy',
    policyOf(windows),
    'RateLimit',
    `"${type}";r=${remaining};t=${resetSeconds}`,
  )
}

const policies = new WeakMap<readonly Window[], string>()

function policyOf(windows: readonly Window[]): string {
  let policy = policies.get(windows)
  if (policy === undefined) {
    policy = windows.map(({ seconds, limit }) => `"${nameOf(seconds)}";q=${limit};w=${seconds}`).join(', ')
    policies.set(windows, policy)
  }
  return policy
}

/** A window's length as its name: 10s, 1h, 1d. */
function nameOf(seconds: number): string {
  if (seconds % 86_400 === 0) return `${seconds / 86_400}d`
  if (seconds % 3600 === 0) return `${seconds / 3600}h`
  return `${seconds}s`
}
