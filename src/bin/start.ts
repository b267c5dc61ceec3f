/**
 * `start`: the database, the schema, the demo on first start, then an api process and a worker process that are
 * kept alive. They meet in the database only.
 */
import type { Logger } from 'pino'
import type { DemoFacts } from '../demo/facts.ts'
import { writeWhole } from '../postgres/whole-file.ts'
import { readConnections } from './brokers.ts'
import { keepAlive } from './children.ts'
import { type Config, demoKeysFile } from './config.ts'
import { freeServer, keepServer, openMigrated, type Server } from './database.ts'
import { prepareDemo } from './demo.ts'
import { beginCopy } from './platform-copies.ts'
import { type Port, portOf, tryPorts } from './port.ts'
import { hostsAnswer } from './probe.ts'
import type { Word } from './process.ts'
import { loadSecrets, openSecrets } from './secrets.ts'
import { workerId } from './worker.ts'

export interface Platform {
  /** Where it listens. */
  readonly url: string
  close(): Promise<void>
}

/** Starts everything, until all three hosts answer. Rejects when `ending` cuts it short. */
export async function startAll(config: Config, log: Logger, ending: AbortSignal): Promise<Platform> {
  // What cannot be is said before a database is made.
  loadSecrets(config)
  readConnections(config)
  await tryPorts(portsOf(config))
  let { port } = config
  let prepared = (_databaseUrl: string): void => {}
  const database = new Promise<string>((resolve) => {
    prepared = resolve
  })
  const { metrics } = config
  const word = async (): Promise<Word> => ({ databaseUrl: await database, port })
  // They load while the database is made ready.
  const api = keepAlive(['serve'], log, word)
  const family = workerId()
  // With PORT=0 the api chooses a port: what the worker writes, and an api that comes back, knows the same address.
  const worker = keepAlive(['worker'], log, async () => ({
    ...(await word()),
    family,
    port: port || portOf(await api.ready),
    ...(metrics && { metricsPort: nextPort(metrics.port) }),
  }))
  let server: Server | undefined
  const close = async (): Promise<void> => {
    await Promise.all([api.stop(), worker.stop()])
    await server?.stop()
  }
  try {
    server = await keepServer(config, log, freeServer)
    const demo = await prepare(config, server.url, log, ending)
    if (demo) writeWhole(demoKeysFile(config), `${JSON.stringify(demo.keys, null, 2)}\n`)
    prepared(server.url)
    const url = await api.ready
    port = portOf(url)
    await worker.ready
    await hostsAnswer(url)
    return { url, close }
  } catch (error) {
    await close()
    throw error
  }
}

/** Those that its children will want: the worker's page of measures has the port after the api's. */
const portsOf = ({ port, host, metrics }: Config): Port[] => [
  { port, host, chosenBy: 'PORT' },
  ...(metrics ? [metrics.port, nextPort(metrics.port)] : []).map((each) => ({
    port: each,
    host: metrics?.host ?? host,
    chosenBy: 'METRICS_PORT' as const,
  })),
]

/** 0 leaves the choice to the system, each time anew. */
const nextPort = (port: number): number => (port === 0 ? 0 : port + 1)

/** The schema and, where it is wanted, the demo; answers the demo when its keys are new. */
async function prepare(
  config: Config,
  url: string,
  log: Logger,
  ending: AbortSignal,
): Promise<DemoFacts | undefined> {
  const db = await openMigrated(url, 'lockstep start', log)
  try {
    await beginCopy(config, db, log)
    return await prepareDemo(config, db, await openSecrets(config, db, log), log, ending)
  } finally {
    await db.close()
  }
}
