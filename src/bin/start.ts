/**
 * `start`: the database, the schema, the demo on first start, then an api process and a worker process that are
 * kept alive, and a banner with everything a newcomer needs. They meet in the database only.
 */
import { writeFileSync } from 'node:fs'
import type { Logger } from 'pino'
import { printBanner } from './banner.ts'
import { keepAlive } from './children.ts'
import { type Config, demoKeysFile } from './config.ts'
import { openMigrated, provideServer } from './database.ts'
import { prepareDemo } from './demo.ts'
import { hostsAnswer } from './probe.ts'
import { loadSecrets } from './secrets.ts'

export interface Platform {
  close(): Promise<void>
}

/** Starts everything and says `ready <url>` when all three hosts answer. */
export async function startAll(config: Config, log: Logger): Promise<Platform> {
  const secrets = loadSecrets(config)
  const server = await provideServer(config, log)
  try {
    const db = await openMigrated(server.url, 'lockstep start', log)
    const demo = await prepareDemo(config, db, secrets, log).finally(() => db.close())
    if (demo) writeFileSync(demoKeysFile(config), `${JSON.stringify(demo.keys, null, 2)}\n`, { mode: 0o600 })
    const env = { ...process.env, DATABASE_URL: server.url }
    const api = keepAlive(['serve'], env, log)
    const worker = keepAlive(['worker'], env, log)
    const [url] = await Promise.all([api.ready, worker.ready])
    await hostsAnswer(config, url)
    printBanner(config, url)
    console.log(`ready ${url}`)
    return {
      close: async () => {
        await Promise.all([api.stop(), worker.stop()])
        await server.stop()
      },
    }
  } catch (error) {
    await server.stop()
    throw error
  }
}
