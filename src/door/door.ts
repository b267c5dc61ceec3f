/**
 * The door under /test: what a check may do to a platform that no user can. Every call, and every public write,
 * answers after all work that it causes has come to rest. The door is served to callers on this machine alone;
 * for others there is nothing here.
 */
import type { FastifyInstance } from 'fastify'
import { refusalAnswer } from '../contract/index.ts'
import type { DoorCall, DoorReply, DoorState } from './call.ts'
import { brokerCalls } from './calls/broker.ts'
import { corporateCalls } from './calls/corporate.ts'
import { marketCalls } from './calls/market.ts'
import { peopleCalls } from './calls/people.ts'
import { platformCalls } from './calls/platform.ts'
import { subscriptionCalls } from './calls/subscriptions.ts'
import { webhookCalls } from './calls/webhooks.ts'

export interface Door {
  routes(app: FastifyInstance): void
  /** Resolves when nothing is left to do. */
  settle(): Promise<void>
}

const calls: readonly DoorCall[] = [
  ...platformCalls,
  ...peopleCalls,
  ...marketCalls,
  ...brokerCalls,
  ...corporateCalls,
  ...subscriptionCalls,
  ...webhookCalls,
]

/** Opens the door to a platform. Calls that come together are served one after the other. */
export function createDoor(state: DoorState): Door {
  const inTurn = createTurns()
  let waiting: Promise<void> | undefined
  /** Who asks before the work begins shares it: it then also covers what he has just written. */
  const settle = (): Promise<void> => {
    waiting ??= inTurn(async () => {
      waiting = undefined
      await state.drain()
    })
    return waiting
  }
  const serve = (call: DoorCall, raw: unknown) =>
    inTurn(async () => {
      const reply = await call.handle(state, raw)
      if (reply.status === 200) await state.drain()
      return reply
    })
  return { settle, routes: (app) => addRoutes(app, serve) }
}

function addRoutes(app: FastifyInstance, serve: (call: DoorCall, raw: unknown) => Promise<DoorReply>): void {
  const nothingHere = refusalAnswer('RouteUnknown')
  app.register(
    async (scope) => {
      scope.addHook('onRequest', async (request, reply) => {
        if (!isLoopback(request.socket.remoteAddress ?? ''))
          await reply.status(nothingHere.status).type('application/json').send(nothingHere.body)
      })
      for (const call of calls) {
        scope.route({
          method: call.method,
          url: call.path,
          handler: async (request, reply) => {
            const { status, body } = await serve(call, request.body)
            return reply
              .status(status)
              .headers({ 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' })
              .send(body)
          },
        })
      }
    },
    { prefix: '/test' },
  )
}

const isLoopback = (address: string): boolean =>
  address === '::1' || /^(?:::ffff:)?127\.\d+\.\d+\.\d+$/.test(address)

/** Runs pieces of work strictly one after the other, whether the one before succeeded or not. */
function createTurns(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve()
  return (work) => {
    const turn = last.then(work, work)
    last = turn.catch(() => undefined)
    return turn
  }
}
