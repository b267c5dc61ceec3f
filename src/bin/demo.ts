/** The demo at the first start: seeded through the product's own engine, with a bar that shows how far it is. */
import { existsSync } from 'node:fs'
import type { Logger } from 'pino'
import type { DemoFacts } from '../demo/facts.ts'
import { renewDemoKeys, seedDemo } from '../demo/seed.ts'
import { bootstrap } from '../operations/bootstrap.ts'
import type { Secrets } from '../operations/secrets.ts'
import type { Database } from '../storage/database/database.ts'
import { type Config, demoKeysFile } from './config.ts'
import { environments } from './environment.ts'

const barWidth = 40

/** Adds what every platform has and, where it is wanted and not there yet, the demo; answers it when keys are new. */
export async function prepareDemo(
  config: Config,
  db: Database,
  secrets: Secrets,
  log: Logger,
  signal: AbortSignal,
): Promise<DemoFacts | undefined> {
  const now = Date.now()
  await bootstrap(db.write, now)
  if (!config.demo) return undefined
  const options = { db, secrets, environments: environments(config), log, now }
  const seeded = await seedDemo({ ...options, signal, onProgress: showProgress })
  // A keys file that was lost is written anew: keys are stored hashed and cannot be shown again.
  return seeded ?? (existsSync(demoKeysFile(config)) ? undefined : renewDemoKeys(options))
}

/** One line that moves on a terminal; a line per tenth elsewhere. Standard output stays for what is said at the end. */
function showProgress(done: number, total: number): void {
  const share = total === 0 ? 1 : done / total
  const bar = '#'.repeat(Math.round(share * barWidth)).padEnd(barWidth, '.')
  const text = `Seeding the demo with 20 years of prices [${bar}] ${Math.floor(share * 100)} %`
  if (process.stderr.isTTY) process.stderr.write(`\r${text}${done >= total ? '\n' : ''}`)
  else if (Math.floor(share * 10) !== Math.floor(((done - 1) / Math.max(1, total)) * 10)) console.error(text)
}
