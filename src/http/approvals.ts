/**
 * Where a customer answers a request. The address is the right to answer; it is counted like every other call, and
 * the form needs no script and no cookie.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { platformWindows } from '../operations/limits.ts'
import { approvalPage, laterPage, missingPage } from './approval-page.ts'
import { type Edge, openExchange } from './exchange.ts'
import { pageHeaders } from './pages.ts'
import { commonHeaders, sendBody } from './send.ts'

type Asked = FastifyRequest<{ Params: { token: string } }>

const formType = 'application/x-www-form-urlencoded'
const formMaxBytes = 1024

/** Adds the pages of requests. */
export function addApprovals(app: FastifyInstance, edge: Edge): void {
  app.register(async (scope) => {
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser(formType, { parseAs: 'string', bodyLimit: formMaxBytes }, (_, body, done) =>
      done(null, body),
    )
    scope.get('/approvals/:token', (request: Asked, reply) => respond(edge, request, reply))
    scope.post('/approvals/:token', (request: Asked, reply) =>
      respond(edge, request, reply, new URLSearchParams(String(request.body ?? '')).get('answer')),
    )
  })
}

async function respond(edge: Edge, request: Asked, reply: FastifyReply, word?: string | null): Promise<void> {
  const { status, html } = await pageFor(edge, request, word)
  const exchange = openExchange(request.raw)
  const headers = [...commonHeaders(exchange), ...pageHeaders(html)]
  reply.hijack()
  await sendBody(reply.raw, status, headers, html, exchange.head.acceptEncoding)
  edge.log.info({ requestId: exchange.requestId, path: '/approvals', status }, 'request')
}

async function pageFor(
  { operations, isCounting, addressOf, afterWrite }: Edge,
  request: Asked,
  word: string | null | undefined,
): Promise<{ status: number; html: string }> {
  const { approvals, limiter } = operations
  const address = addressOf(request.raw)
  if (operations.isInMaintenance()) return { status: 503, html: laterPage() }
  if (isCounting()) {
    const { isAllowed } = await limiter.take(`address:${address}`, platformWindows)
    if (!isAllowed) return { status: 429, html: laterPage() }
  }
  const { token } = request.params
  const isAnswer = word === 'approve' || word === 'decline'
  const view = isAnswer ? await approvals.answer(token, word) : await approvals.open(token, address)
  if (isAnswer && view) await afterWrite?.()
  return view ? { status: 200, html: approvalPage(view) } : { status: 404, html: missingPage() }
}
