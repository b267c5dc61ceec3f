/** A real platform for a benchmark: its own embedded PostgreSQL, an owner with a key, strategies, an instrument. */
import { chownSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { completeInstrument } from '../../src/domain/market/derive-instrument.ts'
import type { WorkContext } from '../../src/execution/context.ts'
import { newTally } from '../../src/execution/tally.ts'
import { isRefused } from '../../src/operations/context.ts'
import { issueKey } from '../../src/operations/keys.ts'
import type { Secrets } from '../../src/operations/secrets.ts'
import { startPostgres } from '../../src/postgres/supervisor.ts'
import { type Database, openDatabase } from '../../src/storage/database/database.ts'
import { migrate } from '../../src/storage/database/migrate.ts'
import { instant } from '../../src/storage/database/wire.ts'
import { insertInstruments } from '../../src/storage/market/instruments.ts'
import { findPlatformSite, insertPersons } from '../../src/storage/operating/provision.ts'
import { insertStrategy } from '../../src/storage/strategies/strategies.ts'

export const quiet = { info: () => {}, warn: () => {}, error: () => {} }
export const secrets: Secrets = {
  pepper: Buffer.alloc(32, 1),
  cursor: Buffer.alloc(32, 2),
  keyRing: { current: '', keys: new Map() },
  passwords: Buffer.alloc(32, 3),
  personalData: Buffer.alloc(32, 4),
}
export const symbol = 'BENCH'

/** What a step of the worker works with: no market, no broker, no commission. */
export const workContext = (db: Database, now = (): number => Date.now()): WorkContext => ({
  db,
  clock: { now },
  log: quiet,
  workerId: 'bench',
  settings: { commissionPlan: 'none', environment: 'B', quoteSinks: [], barSinks: [], dueSources: [] },
  tally: newTally(),
})

export interface Platform {
  url: string
  db: Database
  ownerId: number
  key: string
  accessKeyId: number
  strategyIds: number[]
  close(): Promise<void>
}

/** Starts the database in a temporary folder and fills in what an order needs. */
export async function startPlatform(strategies: number): Promise<Platform> {
  const dataDir = mkdtempSync(join(tmpdir(), 'lockstep-bench-'))
  if (process.getuid?.() === 0) chownSync(dataDir, 0, 0)
  const postgres = await startPostgres({ dataDir: join(dataDir, 'postgres'), log: quiet })
  const db = await openDatabase({ url: postgres.url, applicationName: 'bench', log: quiet })
  await migrate(db)
  const made = await db.transaction(async (tx) => {
    const now = Date.now()
    const siteId = await findPlatformSite(tx)
    const [ownerId = 0] = await insertPersons(tx, [
      {
        siteId,
        role: 'user',
        firstName: 'Bench',
        lastName: 'Owner',
        email: 'owner@bench.test',
        createdAt: now,
      },
    ])
    await insertInstruments(tx, [
      completeInstrument({ symbol, securityType: 'CS', calendar: 'CONTINUOUS' }, 20_000),
    ])
    const issued = await issueKey(tx, secrets, {
      personId: ownerId,
      keyEnvironment: 'bench',
      expiresAt: now + 86_400_000,
      now,
    })
    if (isRefused(issued)) throw new Error('the benchmark got no key')
    const strategyIds: number[] = []
    for (let index = 0; index < strategies; index++) {
      const strategy = {
        siteId,
        ownerPersonId: ownerId,
        name: `S${index}`,
        startedAt: instant(now),
        startingCash: '100000',
      }
      strategyIds.push(await insertStrategy(tx, strategy))
    }
    return { ownerId, key: issued.key, accessKeyId: issued.id, strategyIds }
  })
  return {
    url: postgres.url,
    db,
    ...made,
    close: async () => {
      await db.close()
      await postgres.stop()
      rmSync(dataDir, { recursive: true, force: true })
    },
  }
}

export const orderOf = (strategyId: number) => ({
  Order: {
    StrategyId: strategyId,
    OrderType: '2',
    Side: '1',
    OrderQuantity: 10,
    Limit: 100.25,
    TIF: '1',
    PlatformSymbol: { FullSymbol: symbol, SymbolType: 'stock' },
  },
})
