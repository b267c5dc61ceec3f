/** The operator's tools for webhooks: where sites want to be told, what they were told, and telling them again. */
import type { Command } from 'commander'
import { isWebhookTaken, type WebhookEvent, webhookEvents } from '../domain/people/webhook.ts'
import { tryWebhook } from '../execution/webhooks.ts'
import { createOutbound, urlFault } from '../services/outbound.ts'
import type { Transaction } from '../storage/database/sql.ts'
import { findSiteByCode } from '../storage/people/sites.ts'
import { type DeliveryRow, listDeliveries, resendDelivery } from '../storage/people/webhook-deliveries.ts'
import {
  disableWebhook,
  enableWebhook,
  findLivingWebhook,
  insertWebhook,
  listWebhooks,
  type NewWebhook,
  operatorsReason,
  rotateWebhook,
} from '../storage/people/webhooks.ts'
import { noteCommand } from './acting.ts'
import { ConfigError } from './config.ts'
import { openSecrets } from './secrets.ts'
import { type Output, readId, say, sayList, tableOf, tool, utcOf, withPlatform } from './tool.ts'

/** Adds webhooks add, list, rotate, try, disable, enable, deliveries and resend. */
export function addWebhookCommands(webhooks: Command): void {
  tool(webhooks, 'add <site> <url>', 'tell a site; the secret is shown once')
    .option('--events <list>', `of ${webhookEvents.join(',')}; all without it`, eventsOf)
    .action((site: string, url: string, options: Output & { events?: WebhookEvent[] }) =>
      add(site, url, options),
    )
  tool(webhooks, 'list', 'who is told').action((output: Output) =>
    withPlatform(async (db) => {
      const rows = await listWebhooks(db.read)
      const lines = tableOf(
        rows.map((row) => ({
          webhook: row.id,
          site: row.siteId,
          url: row.url,
          state: row.disabledReason ?? 'enabled',
        })),
      )
      sayList(output, { webhooks: rows }, lines, 'Nobody is told.')
    }),
  )
  tool(webhooks, 'try <id>', 'send it a sample of an event, and say what it answers')
    .option('--event <event>', `one of ${webhookEvents.join(', ')}`, eventOf, webhookEvents[0])
    .action((id: string, options: Output & { event: WebhookEvent }) => sendSample(readId(id), options))
  addChanges(webhooks)
  tool(webhooks, 'deliveries <id>', 'what it was told, the newest first').action(
    (id: string, output: Output) =>
      withPlatform(async (db) => {
        const deliveries = await listDeliveries(db.read, readId(id))
        if (deliveries.length === 0 && !(await listWebhooks(db.read)).some((row) => row.id === Number(id)))
          throw new ConfigError(`there is no webhook ${id}`)
        const lines = deliveries.map(lineOf)
        const facts = deliveries.map(({ nextTryAt, deliveredAt, ...row }) => ({
          ...row,
          nextTryUtc: utcOf(nextTryAt),
          deliveredUtc: utcOf(deliveredAt),
        }))
        sayList(output, { deliveries: facts }, lines, 'It was told nothing.')
      }),
  )
}

const lineOf = ({ id, eventType, requestId, attempts, nextTryAt, deliveredAt }: DeliveryRow): string => {
  const isOver = nextTryAt === null ? 'is not tried any more' : `is tried next at ${utcOf(nextTryAt)}`
  const state = deliveredAt === null ? isOver : `was taken at ${utcOf(deliveredAt)}`
  return `${id}  ${eventType}  request ${requestId}: ${state}, tries ${attempts}`
}

function addChanges(webhooks: Command): void {
  tool(
    webhooks,
    'rotate <id>',
    'a new secret, shown once; the one before it signs until the next rotation',
  ).action((id: string, output: Output) =>
    withPlatform(async (db, config) => {
      const { keyRing } = await openSecrets(config, db)
      const secret = await db.transaction((tx) => rotateWebhook(tx, keyRing, readId(id), Date.now()))
      if (secret === undefined) throw new ConfigError(`there is no webhook ${id}`)
      say(output, { webhookId: Number(id), secret }, secret)
    }),
  )
  tool(webhooks, 'disable <id>', 'send nothing any more').action((id: string, output: Output) =>
    withPlatform(async (db) => {
      if (!(await disableWebhook(db.write, readId(id), operatorsReason, Date.now())))
        throw new ConfigError(`there is no enabled webhook ${id}`)
      say(output, { disabled: Number(id) }, `Webhook ${id} is disabled.`)
    }),
  )
  tool(webhooks, 'enable <id>', 'send again, and what it has missed').action((id: string, output: Output) =>
    withPlatform(async (db) => {
      const isEnabled = await db.transaction(async (tx) => {
        const known = (await listWebhooks(tx)).find((row) => row.id === readId(id))
        if (!known || known.disabledReason === null) return false
        await refuseSecond(tx, known)
        return enableWebhook(tx, known.id, Date.now())
      })
      if (!isEnabled) throw new ConfigError(`there is no disabled webhook ${id}`)
      say(output, { enabled: Number(id) }, `Webhook ${id} is enabled.`)
    }),
  )
  tool(webhooks, 'resend <delivery>', 'tell it again, under the same id').action(
    (id: string, output: Output) =>
      withPlatform(async (db) => {
        await db.transaction(async (tx) => {
          if (!(await resendDelivery(tx, id, Date.now())))
            throw new ConfigError(`there is no delivery ${id} of an enabled webhook`)
          await noteCommand(tx, `webhook_delivery ${id}`)
        })
        say(output, { resent: id }, `Delivery ${id} goes out again.`)
      }),
  )
}

/** Each of two at one address would tell all. Throws ConfigError. */
async function refuseSecond(tx: Transaction, wanted: NewWebhook): Promise<void> {
  const present = await findLivingWebhook(tx, wanted)
  if (present !== undefined)
    throw new ConfigError(`webhook ${present} tells this site there already: each would tell all`)
}

async function add(code: string, url: string, options: Output & { events?: WebhookEvent[] }): Promise<void> {
  const fault = urlFault(url)
  // Not repeated: it may hold a password.
  if (fault !== undefined) throw new ConfigError(`that address cannot be called: ${fault}`)
  await withPlatform(async (db, config) => {
    const site = await findSiteByCode(db.read, code)
    if (site === undefined) throw new ConfigError(`there is no site ${code}`)
    const wanted = { siteId: site.id, url, events: options.events ?? webhookEvents }
    const { keyRing } = await openSecrets(config, db)
    const made = await db.transaction(async (tx) => {
      await refuseSecond(tx, wanted)
      return insertWebhook(tx, keyRing, wanted, Date.now())
    })
    say(options, { webhookId: made.id, secret: made.secret }, `Webhook ${made.id}, secret ${made.secret}`)
  })
}

/** What is sent is real but for its ids: the receiver can prove its signature before anybody waits for it. */
async function sendSample(id: number, { event, ...output }: Output & { event: WebhookEvent }): Promise<void> {
  const outbound = createOutbound()
  try {
    await withPlatform(async (db, config) => {
      const { keyRing } = await openSecrets(config, db)
      const tried = await tryWebhook(db.read, { keyRing, outbound }, id, event, Date.now())
      if (tried === undefined) throw new ConfigError(`there is no webhook ${id}`)
      await noteCommand(db.write, `webhook_endpoint ${id}`)
      const { body, status, failure } = tried
      const word = status === undefined ? `It did not answer: ${failure}.` : `It answered ${status}.`
      const isTaken = isWebhookTaken(status)
      if (!isTaken) process.exitCode = 1
      say(output, tried, `${body}\n${word}${isTaken ? '' : ' That counts as not taken.'}`)
    })
  } finally {
    await outbound.close()
  }
}

const eventsOf = (text: string): WebhookEvent[] => [...new Set(text.split(','))].map(eventOf)

function eventOf(wanted: string): WebhookEvent {
  const found = webhookEvents.find((event) => event === wanted)
  if (found === undefined) throw new ConfigError(`${wanted} is none of ${webhookEvents.join(', ')}`)
  return found
}
