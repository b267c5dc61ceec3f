/** The api process: the three hosts, the reference pages and the probes on one port. */
import type { Logger } from 'pino'
import { newRequestCounts, requestFamilies } from '../http/request-counts.ts'
import { createServer } from '../http/server.ts'
import { addWebhook } from '../http/webhooks.ts'
import { handlers } from '../operations/index.ts'
import { createOperations } from '../operations/operations.ts'
import { systemClock } from './clock.ts'
import type { Config } from './config.ts'
import { openForWork } from './database.ts'
import { environments } from './environment.ts'
import { textsOf } from './guides.ts'
import { loadFamilies, openMetrics } from './metrics.ts'
import { pagesOf } from './pages.ts'
import { stripeWebhook } from './payments.ts'
import { beginCopy } from './platform-copies.ts'
import { portFault } from './port.ts'
import { conditionsOf, signsOf } from './readiness.ts'
import { openSecrets } from './secrets.ts'

/** Balancers look at the probe every second or two; meanwhile open connections end with their next answer. */
const noticeMs = 2_000

/** Where Stripe calls, and the header that its signature comes in. */
const stripeCalls = { path: '/webhooks/stripe', header: 'stripe-signature' }

export interface Api {
  /** Where it listens. */
  url: string
  /** Where its measures are. */
  metricsUrl: string | undefined
  close(): Promise<void>
}

/** Serves until closed. The database's address comes from outside, so any number may run beside each other. */
export async function serveApi(config: Config, databaseUrl: string, log: Logger): Promise<Api> {
  const db = await openForWork(databaseUrl, 'lockstep api', log)
  await beginCopy(config, db, log)
  const operations = await createOperations({
    db,
    clock: systemClock,
    handlers,
    secrets: await openSecrets(config, db, log),
    keyEnvironment: environments(config).keys,
    environment: environments(config).orders,
    log,
  })
  const { publicUrl, trustedProxies, addressWindows } = config
  const counts = newRequestCounts()
  const take = await stripeWebhook(config, db)
  const { isInMaintenance } = operations
  const server = createServer({
    operations,
    hosts: config.hosts,
    isCounting: () => true,
    log,
    counts,
    pages: pagesOf(config),
    documents: textsOf(config),
    conditions: conditionsOf(config, db),
    signs: signsOf(db),
    publicUrl,
    trustedProxies,
    addressWindows,
    ...(take && { extra: (app) => addWebhook(app, { ...stripeCalls, take, isInMaintenance }) }),
  })
  const url = await server.listen(config.port, config.host).catch((error: NodeJS.ErrnoException) => {
    throw portFault({ ...config, chosenBy: 'PORT' }, error)
  })
  const own = () => [...requestFamilies(counts), ...loadFamilies(operations.load)]
  const metrics = await openMetrics({ config, db, clock: systemClock, own })
  return {
    url,
    metricsUrl: metrics?.url,
    close: async () => {
      await metrics?.close()
      await server.close(noticeMs)
      await operations.close()
      await db.close()
    },
  }
}
