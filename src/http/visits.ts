/**
 * Pages, which are opened without a key. They are closed and counted like every call, for showing one takes work too;
 * what their visitor gets instead is a page as well.
 */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { refuse } from '../operations/context.ts'
import { type Reply, replyTo } from '../operations/reply.ts'
import { passingReply } from '../operations/run.ts'
import { failedPage, laterPage } from './approval-page.ts'
import { type Edge, type Exchange, noteRequest, openExchange, tooMany } from './exchange.ts'
import { pageHeaders } from './pages.ts'
import { commonHeaders, sendBody } from './send.ts'

/** What a visitor gets to see: HTML, where its headers do not say otherwise. */
export interface Shown {
  readonly status: number
  readonly text: string
  /** Its headers, where they are known already. */
  readonly policy?: readonly string[]
}

/** Whose page it is, without the part of the address that is a secret; and how it is found. */
export interface Visit {
  readonly path: string
  find(address: string): Promise<Shown>
}

/** Answers a visit; what fails is told to a person as well: in a page, not in an envelope. */
export async function receive(
  edge: Edge,
  request: FastifyRequest,
  reply: FastifyReply,
  visit: Visit,
): Promise<void> {
  const exchange = openExchange(request.raw)
  const { status, text, headers = {}, policy = pageHeaders(text) } = await found(edge, exchange, visit)
  const { requestId, standing } = exchange
  const isLast = edge.isDraining()
  const all = [...commonHeaders({ requestId, standing, isLast }), ...Object.entries(headers).flat()]
  reply.hijack()
  await sendBody(reply.raw, status, [...all, ...policy], text, exchange.head.acceptEncoding)
  noteRequest(edge, exchange, 'page', status, { path: visit.path })
}

async function found(
  edge: Edge,
  exchange: Exchange,
  { path, find }: Visit,
): Promise<Shown & Pick<Reply, 'headers'>> {
  const { operations, isCounting, addressOf, addressWindows, log } = edge
  const address = addressOf(exchange.request)
  if (operations.isInMaintenance()) return refused(replyTo(refuse('Maintenance')), laterPage())
  try {
    if (isCounting()) {
      exchange.standing = await operations.limiter.take(`address:${address}`, addressWindows)
      if (!exchange.standing.isAllowed)
        return refused(tooMany(edge, 'address', exchange.standing), laterPage())
    }
    return await find(address)
  } catch (error) {
    const passing = passingReply(error)
    if (!passing) log.error({ requestId: exchange.requestId, path, err: error }, 'a request failed')
    return refused(passing ?? replyTo(refuse('Unknown')), failedPage())
  }
}

const refused = ({ status, headers }: Reply, text: string) => ({ status, headers, text })
