/**
 * What others tell the platform by themselves. The body is taken as it came, because its signature covers every
 * byte; who cannot prove where it comes from is told nothing else.
 */
import type { FastifyInstance } from 'fastify'
import { closed } from './exchange.ts'

/** Takes a call in; answers false when its signature is wrong. */
export type TakeWebhook = (call: { readonly body: string; readonly signature: string }) => Promise<boolean>

const bodyMaxBytes = 256 * 1024

interface Webhook {
  readonly path: string
  /** Where the signature is. */
  readonly header: string
  readonly isInMaintenance: () => boolean
  readonly take: TakeWebhook
}

/** Adds the address at which a provider calls. What is told during maintenance is told again later. */
export function addWebhook(app: FastifyInstance, { path, header, isInMaintenance, take }: Webhook): void {
  app.register(async (scope) => {
    scope.addHook('onRequest', async (_, reply) => {
      if (!isInMaintenance()) return
      const { status, headers = {}, body } = closed
      return reply.status(status).headers(headers).type('application/json').send(body)
    })
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('*', { parseAs: 'string', bodyLimit: bodyMaxBytes }, (_, body, done) =>
      done(null, body),
    )
    scope.post(path, async (request, reply) => {
      const signature = request.headers[header]
      const body = typeof request.body === 'string' ? request.body : ''
      const isTaken = await take({ body, signature: typeof signature === 'string' ? signature : '' })
      return reply.status(isTaken ? 200 : 400).send({ received: isTaken })
    })
  })
}
