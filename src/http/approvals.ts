/**
 * Where a customer answers a request. The address is the right to answer; the form needs no script and no cookie.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { approvalPage, missingPage } from './approval-page.ts'
import type { Edge } from './exchange.ts'
import { receive, type Shown } from './visits.ts'

type Asked = FastifyRequest<{ Params: { token: string } }>

const formType = 'application/x-www-form-urlencoded'
const formMaxBytes = 1024

/** Adds the pages of requests. */
export function addApprovals(app: FastifyInstance, edge: Edge): void {
  const respond = (request: Asked, reply: FastifyReply, form?: URLSearchParams): Promise<void> =>
    receive(edge, request, reply, {
      path: '/approvals',
      find: (address) => pageFor(edge, request.params.token, address, form),
    })
  app.register(async (scope) => {
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser(formType, { parseAs: 'string', bodyLimit: formMaxBytes }, (_, body, done) =>
      done(null, body),
    )
    scope.get('/approvals/:token', (request: Asked, reply) => respond(request, reply))
    scope.post('/approvals/:token', (request: Asked, reply) =>
      respond(request, reply, new URLSearchParams(String(request.body ?? ''))),
    )
  })
}

async function pageFor(
  { operations: { approvals }, afterWrite }: Edge,
  token: string,
  address: string,
  form: URLSearchParams | undefined,
): Promise<Shown> {
  const word = form?.get('answer')
  const isAnswer = word === 'approve' || word === 'decline'
  const view = isAnswer
    ? await approvals.answer(token, word, form?.get('costs') ?? undefined)
    : await approvals.open(token, address)
  if (isAnswer && view) await afterWrite?.()
  return view ? { status: 200, text: approvalPage(view, isAnswer) } : { status: 404, text: missingPage() }
}
