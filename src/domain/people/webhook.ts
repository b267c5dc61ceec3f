/**
 * When a site is told again of what it has not taken: ten tries within three days, the last at their end, each a
 * little early by chance so that what failed together does not come back together.
 */
import { hour, type Instant, minute } from '../time.ts'

/** What a site can be told of: how a request for approval has ended. */
export const webhookEvents = [
  'approval.completed',
  'approval.failed',
  'approval.expired',
  'approval.superseded',
] as const
export type WebhookEvent = (typeof webhookEvents)[number]

/** Moments of the second and later tries, in milliseconds after the first was due. */
const laterTries = [
  5_000,
  5 * minute,
  35 * minute,
  2.5 * hour,
  7.5 * hour,
  17.5 * hour,
  31.5 * hour,
  51.5 * hour,
  72 * hour,
]

/** The largest part of a wait that is left out. */
const jitter = 0.1

/**
 * The next try after `attempts` failed ones, the last of them at `now`; undefined when there is none any more.
 * `chance` is a number from 0 to 1. The waits are those that the Standard Webhooks specification recommends.
 */
export function nextWebhookTry(attempts: number, now: Instant, chance: number): Instant | undefined {
  const due = laterTries[attempts - 1]
  if (due === undefined) return undefined
  const wait = due - (laterTries[attempts - 2] ?? 0)
  return now + Math.round(wait * (1 - jitter * chance))
}

/** Failed tries one after the other from which on an endpoint is left alone for a while. */
const failuresBeforeRest = 5
const rest = minute

/** Until when nothing is sent to an endpoint that has failed so often; null: it is tried as usual. */
export const webhookRest = (failures: number, now: Instant): Instant | null =>
  failures >= failuresBeforeRest ? now + rest : null

/** Whether a receiver has taken what it was told; undefined: it answered nothing. */
export const isWebhookTaken = (status: number | undefined): boolean =>
  status !== undefined && status >= 200 && status < 300

/**
 * What one try ends in. Only a status from 200 to 299 is success, a redirect is none; 410 ends the endpoint, and so
 * does the last try when the endpoint has taken nothing since the event.
 */
export function afterWebhookTry(
  tried: { readonly status: number | undefined; readonly attempts: number; readonly hasTakenSince: boolean },
  now: Instant,
  chance: number,
): 'delivered' | { readonly nextTryAt: Instant | null; readonly disables: string | null } {
  const { status, attempts, hasTakenSince } = tried
  if (isWebhookTaken(status)) return 'delivered'
  const nextTryAt = nextWebhookTry(attempts, now, chance) ?? null
  if (status === 410) return { nextTryAt, disables: 'it answered 410' }
  const isOver = nextTryAt === null && !hasTakenSince
  return { nextTryAt, disables: isOver ? 'it took nothing for three days' : null }
}
