/** Who is told when a request for approval has ended, and what was sent. Addresses of this machine may be named. */
import { webhookEvents } from '../../domain/people/webhook.ts'
import { urlFault } from '../../services/outbound.ts'
import { listAttempts } from '../../storage/people/webhook-deliveries.ts'
import { insertWebhook } from '../../storage/people/webhooks.ts'
import { type DoorCall, get, post, Unserved } from '../call.ts'
import { anId, aText, list, object } from '../read.ts'
import { listSites } from '../rows.ts'

const sent = get('/webhooks', async ({ work }) =>
  (await listAttempts(work.db.read)).map(({ id, body, attemptedAt, signature, ...tried }) => ({
    id,
    ...tried,
    body,
    attemptedUtc: new Date(attemptedAt).toISOString(),
    headers: {
      'webhook-id': id,
      'webhook-timestamp': String(Math.floor(attemptedAt / 1000)),
      'webhook-signature': signature,
    },
  })),
)

const Endpoint = object({ siteId: anId, url: aText })

const endpoints = post('/webhooks', list(Endpoint), ({ work, clock, secrets }, wanted) =>
  work.db.transaction(async (tx) => {
    const known = new Set((await listSites(tx)).map(({ id }) => id))
    const answer: { webhookId: number; secret: string }[] = []
    for (const [place, { siteId, url }] of wanted.entries()) {
      if (!known.has(siteId)) throw new Unserved(`[${place}].siteId`, 'There is no such site')
      const fault = urlFault(url, { permitsLocal: true })
      if (fault !== undefined) throw new Unserved(`[${place}].url`, fault)
      const wish = { siteId, url, events: webhookEvents }
      const { id, secret } = await insertWebhook(tx, secrets.keyRing, wish, clock.now())
      answer.push({ webhookId: id, secret })
    }
    return answer
  }),
)

export const webhookCalls: readonly DoorCall[] = [sent, endpoints]
