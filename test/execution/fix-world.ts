import { createRequire } from 'node:module'
const require = createRequire(import.meta.url)
/** The account side of a worker over a FIX session with the exchange of the tests. */
import { vi } from 'vitest'
import { accountSteps } from '../../src/execution/account-side.ts'
import type { LiveBroker } from '../../src/execution/brokers/broker.ts'
import { loadEngine } from '../../src/execution/brokers/fix/engine.ts'
import { createFixBroker } from '../../src/execution/brokers/fix/fix.ts'
import { readFixSettings } from '../../src/execution/brokers/fix/settings.ts'
import { createWorker } from '../../src/execution/worker.ts'
import type { Database } from '../../src/storage/database.ts'
import { makeWorld, steps as strategySteps, type World } from './world.ts'

export interface FixWorld extends World {
  /** The broker as this worker has it; another after `restart`. */
  broker(): LiveBroker
  /** Works until nothing is left to do. */
  drain(): Promise<number>
  /** Waits until the session is up. */
  up(): Promise<void>
  close(): Promise<void>
}

export async function makeFixWorld(db: Database, port: number): Promise<FixWorld> {
  const world = makeWorld(db)
  if (process.env.LOUD) world.ctx.log = Object.fromEntries(['info','warn','error'].map((l) => [l, (f: any, m: string) => require('node:fs').appendFileSync('/tmp/fix.log', l + ' ' + m + ' ' + String(f.error?.stack ?? JSON.stringify(f)) + '\n')])) as any
  const settings = readFixSettings({
    ...{ host: '127.0.0.1', port, senderCompId: 'LOCKSTEP', targetCompId: 'EXCHANGE' },
    ...{ heartbeatSeconds: 5, tellsPositions: true, listsWorking: true },
  })
  const engine = await loadEngine()
  const broker = createFixBroker({ name: 'exchange', settings, engine, patienceMs: 1_500 })
  const worker = createWorker({
    ctx: world.ctx,
    steps: [...strategySteps, ...accountSteps({ exchange: broker })],
  })
  return {
    ...world,
    broker: () => broker,
    drain: () => worker.drain(),
    up: async () => {
      await worker.drain()
      await vi.waitFor(() => broker.isUp() || Promise.reject(new Error('the session is down')), 10_000)
    },
    close: () => broker.close(),
  }
}
