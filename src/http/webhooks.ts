/**
 * What others tell the platform by themselves. The body is taken as it came, because its signature covers every
 * byte; who cannot prove where it comes from is told nothing else.
 */
import type { FastifyInstance } from 'fastify'

/** Takes a call in; answers false when its signature is wrong. */
export type TakeWebhook = (call: { readonly body: string; readonly signature: string }) => Promise<boolean>

const bodyMaxBytes = 256 * 1024

/** Adds the address at which a provider calls; its signature is in the header of that name. */
export function addWebhook(
  app: FastifyInstance,
  { path, header, take }: { path: string; header: string; take: TakeWebhook },
): void {
  app.register(async (scope) => {
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
