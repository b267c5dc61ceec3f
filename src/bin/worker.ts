/** The worker process: fills, mirrors, sends and books, and publishes the simulated market if it is the one. */
import { randomBytes } from 'node:crypto'
import { hostname } from 'node:os'
import type { Logger } from 'pino'
import { assembleWork } from '../execution/assembly.ts'
import { simulatedFeed } from '../execution/market/simulated.ts'
import { createWorker } from '../execution/worker.ts'
import { bootstrap } from '../operations/bootstrap.ts'
import { confirmationToken } from '../operations/secrets.ts'
import { createOutbound } from '../services/outbound.ts'
import { endLeasesOf } from '../storage/work/leases.ts'
import { auditHeads } from './audit-heads.ts'
import { connectBrokers } from './brokers.ts'
import { systemClock } from './clock.ts'
import type { Config } from './config.ts'
import { openForWork } from './database.ts'
import { environments } from './environment.ts'
import { mailerOf } from './mail.ts'
import { openMetrics, workFamilies } from './metrics.ts'
import { addressOf } from './pages.ts'
import { paymentProviders } from './payments.ts'
import { beginCopy } from './platform-copies.ts'
import { openSecrets } from './secrets.ts'

/** Names a worker among all that ever were, so that nobody takes over its leases by accident. */
export const workerId = (family = `${hostname()}:${process.pid}`): string =>
  `${family}:${randomBytes(4).toString('hex')}`

/**
 * Works until closed; any number of workers may share a database. The others of its family, if it has one, are dead: their
 * leases need not run out.
 */
export async function runWorker(
  config: Config,
  databaseUrl: string,
  log: Logger,
  family?: string,
): Promise<{ metricsUrl: string | undefined; close(): Promise<void> }> {
  const id = workerId(family)
  const db = await openForWork(databaseUrl, 'lockstep worker', log, { actor: 'worker', who: id })
  if (family !== undefined) await endLeasesOf(db.write, `${family}:`)
  await beginCopy(config, db, log)
  const secrets = await openSecrets(config, db, log)
  await bootstrap(db.write, systemClock.now())
  const { orders: environment } = environments(config)
  const mailer = mailerOf(config)
  const tokenOf = (seed: string) => confirmationToken(secrets, seed)
  const mail = { mailer, tokenOf, publicUrl: () => config.publicUrl ?? addressOf(config) }
  const outbound = createOutbound()
  const webhooks = { outbound, keyRing: secrets.keyRing }
  const live = await connectBrokers(config)
  const { ctx, steps, brokers } = assembleWork({
    db,
    clock: systemClock,
    log,
    workerId: id,
    environment,
    mail,
    webhooks,
    auditHeads: auditHeads(config),
    checksBooks: config.metrics !== undefined,
    brokers: live.brokers,
    paper: config.paper,
    paymentProviders: await paymentProviders(config),
  })
  const worker = createWorker({ ctx, steps, feeds: [simulatedFeed(db, systemClock)] })
  const own = () => workFamilies(ctx.tally, brokers)
  const metrics = await openMetrics({ config, db, clock: systemClock, own })
  await worker.start()
  return {
    metricsUrl: metrics?.url,
    close: async () => {
      await metrics?.close()
      await worker.stop()
      await live.close()
      mailer.close()
      await outbound.close()
      await db.close()
    },
  }
}
