/** Pages with a form on them: the address is the right to use it, and it needs no script and no cookie. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Edge } from './exchange.ts'
import { receive, type Shown } from './visits.ts'

/** Finds the page of an address; `form`: what was sent with it, absent where it was only opened. */
export type FindPage = (token: string, address: string, form?: URLSearchParams) => Promise<Shown>

type Asked = FastifyRequest<{ Params: { token: string } }>

const formType = 'application/x-www-form-urlencoded'
const formMaxBytes = 1024

/** Adds the pages below a path, each under the token that opens it. Opening one changes nothing: programs look at links in mail. */
export function addForms(app: FastifyInstance, edge: Edge, path: string, find: FindPage): void {
  const respond = (request: Asked, reply: FastifyReply, form?: URLSearchParams): Promise<void> =>
    receive(edge, request, reply, { path, find: (address) => find(request.params.token, address, form) })
  app.register(async (scope) => {
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser(formType, { parseAs: 'string', bodyLimit: formMaxBytes }, (_, body, done) =>
      done(null, body),
    )
    scope.get(`${path}/:token`, (request: Asked, reply) => respond(request, reply))
    scope.post(`${path}/:token`, (request: Asked, reply) =>
      respond(request, reply, new URLSearchParams(String(request.body ?? ''))),
    )
  })
}
