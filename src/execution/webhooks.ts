/**
 * Tells sites how requests for approval have ended. A request is announced once; what is announced is sent at least
 * once under one id, each try signed anew by the endpoint's living secrets. A slow receiver holds up nobody else:
 * the step does not wait for it longer than its patience.
 */
import { randomUUID } from 'node:crypto'
import { Webhook } from 'standardwebhooks'
import type { ApprovalStatus } from '../domain/people/approval.ts'
import { afterWebhookTry, type WebhookEvent, webhookRest } from '../domain/people/webhook.ts'
import type { Instant } from '../domain/time.ts'
import { failureWords } from '../services/failure-words.ts'
import type { Outbound } from '../services/outbound.ts'
import type { Sql } from '../storage/database/sql.ts'
import type { KeyRing } from '../storage/database/vault.ts'
import {
  areDeliveriesOld,
  type ClaimedDelivery,
  claimDeliveries,
  type EndedApproval,
  findNextDelivery,
  insertAttempt,
  insertDeliveries,
  isAnnouncementDue,
  isDeliveryDue,
  saveDelivered,
  saveFailed,
  sweepDeliveries,
  takeEndedApprovals,
  type WebhookTry,
} from '../storage/people/webhook-deliveries.ts'
import { listWebhooks, openWebhookSecrets } from '../storage/people/webhooks.ts'
import type { Step, WorkContext } from './context.ts'
import { atMost } from './leases.ts'

export interface WebhookOptions {
  readonly keyRing: KeyRing
  readonly outbound: Outbound
  /** How long a run of the step waits for what it has sent, in milliseconds (250). */
  readonly patienceMs?: number
}

const eventOf: Partial<Record<ApprovalStatus, WebhookEvent>> = {
  Completed: 'approval.completed',
  Failed: 'approval.failed',
  Expired: 'approval.expired',
  Superseded: 'approval.superseded',
}

const announcedAtOnce = 500
const sentAtOnce = 100
const perEndpoint = 2
const sweptAtOnce = 1_000

/** Requests that have ended wait to be written down for whoever is told. */
export const announceStep: Step = {
  name: 'announceApprovals',
  due: isAnnouncementDue,
  run: ({ db, clock }) =>
    db.transaction(async (tx) => {
      const ended = await takeEndedApprovals(tx, clock.now(), announcedAtOnce)
      await insertDeliveries(tx, ended.map(announced), clock.now())
      return ended.length
    }),
}

/** Ids and the status alone: whoever is told asks for the rest, and whoever listens in learns nothing. */
function announced({ id, status, siteId, personId, strategyId, endedAt }: EndedApproval) {
  const eventType = eventOf[status]
  if (eventType === undefined) throw new Error(`a request in ${status} has ended`)
  const data = { RequestId: id, PersonId: personId, StrategyId: strategyId, Status: status }
  return { requestId: id, siteId, eventType, body: bodyOf(eventType, endedAt, data) }
}

const bodyOf = (type: WebhookEvent, at: Instant, data: object): string =>
  JSON.stringify({ type, timestamp: new Date(at).toISOString(), data })

/** Deliveries wait for their next try. */
export const webhookStep = (options: WebhookOptions): Step => ({
  name: 'sendWebhooks',
  due: isDeliveryDue,
  moments: [findNextDelivery],
  run: async (ctx) => {
    const limits = { count: sentAtOnce, perEndpoint }
    const claimed = await claimDeliveries(ctx.db.write, ctx.clock.now(), limits)
    const sending = claimed.map((row) =>
      deliver(ctx, options, row).catch((error) =>
        // The claim ends by itself, and the delivery goes out again.
        ctx.log.warn({ error, delivery: row.id }, 'a webhook was not settled'),
      ),
    )
    await atMost(options.patienceMs ?? 250, Promise.all(sending))
    return claimed.length
  },
})

/** Deliveries have been settled for so long that nobody asks for them any more. */
export const webhookSweepStep: Step = {
  name: 'sweepWebhooks',
  due: areDeliveriesOld,
  run: ({ db, clock }) => db.transaction((tx) => sweepDeliveries(tx, clock.now(), sweptAtOnce)),
}

async function deliver(ctx: WorkContext, options: WebhookOptions, row: ClaimedDelivery): Promise<void> {
  const attemptedAt = ctx.clock.now()
  const secrets = await openWebhookSecrets(ctx.db.read, options.keyRing, row.endpointId)
  const signature = signatureOf(secrets, row, attemptedAt)
  const { status, failure } = await send(options.outbound, row, attemptedAt, signature)
  const now = ctx.clock.now()
  const tried = { status, attempts: row.attempts + 1, hasTakenSince: row.hasTakenSince }
  const next = afterWebhookTry(tried, now, chanceOf(row))
  await ctx.db.transaction(async (tx) => {
    await insertAttempt(tx, row.id, { attemptedAt, signature, status, failure })
    if (next === 'delivered') await saveDelivered(tx, row, now)
    else await saveFailed(tx, row, { ...next, restsUntil: webhookRest(row.failures + 1, now) }, now)
  })
  if (next !== 'delivered' && next.disables !== null)
    ctx.log.warn({ endpoint: row.endpointId, reason: next.disables }, 'a webhook endpoint was disabled')
}

/** What goes out, under an id of its own. */
type Message = Pick<ClaimedDelivery, 'id' | 'url' | 'body'>

/** What one try came to: the status that was answered, or why there was none. */
type Outcome = Pick<WebhookTry, 'status' | 'failure'>

const signatureOf = (secrets: readonly string[], { id, body }: Message, at: Instant): string =>
  secrets.map((secret) => new Webhook(secret).sign(id, new Date(at), body)).join(' ')

async function send(
  outbound: Outbound,
  { id, url, body }: Message,
  at: Instant,
  signature: string,
): Promise<Outcome> {
  const headers = {
    'content-type': 'application/json',
    'user-agent': 'Lockstep',
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(at / 1000)),
    'webhook-signature': signature,
  }
  try {
    return { status: await outbound.post(url, headers, body), failure: undefined }
  } catch (error) {
    return { status: undefined, failure: failureWords(error) ?? 'no answer' }
  }
}

/** Of no request, person or strategy: who asks for its status finds none. */
const nobody = { RequestId: '00000000-0000-0000-0000-000000000000', PersonId: 0, StrategyId: 0 }

/**
 * Sends a sample of an event to an endpoint, enabled or not, as the real ones are sent; once, and nothing is kept of it.
 * Undefined when there is no such endpoint.
 */
export async function tryWebhook(
  sql: Sql,
  { keyRing, outbound }: WebhookOptions,
  endpointId: number,
  event: WebhookEvent,
  now: Instant,
): Promise<(Outcome & Message) | undefined> {
  const endpoint = (await listWebhooks(sql)).find((row) => row.id === endpointId)
  if (endpoint === undefined) return undefined
  const [Status] = Object.entries(eventOf).find(([, type]) => type === event) ?? []
  const body = bodyOf(event, now, { ...nobody, Status })
  const message = { id: randomUUID(), url: endpoint.url, body }
  const secrets = await openWebhookSecrets(sql, keyRing, endpointId)
  return { ...message, ...(await send(outbound, message, now, signatureOf(secrets, message, now))) }
}

/** Spreads tries of different deliveries, and those of one over its tries; the same again when repeated. */
const chanceOf = ({ id, attempts }: ClaimedDelivery): number =>
  ((Number.parseInt(id.slice(0, 8), 16) + attempts * 0x9e3779b9) % 2 ** 32) / 2 ** 32
