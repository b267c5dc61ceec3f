/** What must hold beside an answering database before an api process is ready. */
import { statfs } from 'node:fs/promises'
import { setTimeout as pause } from 'node:timers/promises'
import type { Database } from '../storage/database/database.ts'
import { DatabaseUnavailable } from '../storage/database/failure.ts'
import { isMigrated, migrationNumbers } from '../storage/database/migrate.ts'
import { listForeignSecrets } from '../storage/operating/secret-marks.ts'
import { sinceAnyWorker } from '../storage/work/leases.ts'
import type { Config } from './config.ts'
import { hasItsOwn, marksOf } from './secrets.ts'

/** By name, whether it holds. */
type Conditions = Readonly<Record<'schema' | 'keys' | 'disk', boolean>>

/** A disk with less of itself left than this counts as full. */
export const roomMin = 0.05
const patienceMs = 500

/** Each condition says only what is its own: while the database is away, schema and keys are as they were last. */
export function conditionsOf(config: Config, db: Database): () => Promise<Conditions> {
  const marks = marksOf(config)
  const numbers = migrationNumbers()
  let last = { schema: true, keys: true }
  const look = async (): Promise<typeof last> => {
    const [schema, foreign] = await Promise.all([
      isMigrated(db.read, numbers),
      listForeignSecrets(db.read, marks),
    ])
    return { schema, keys: foreign.length === 0 || hasItsOwn(config) }
  }
  return async () => {
    const seen = look().catch((error: unknown) =>
      error instanceof DatabaseUnavailable ? last : { ...last, schema: false },
    )
    const disk = hasRoom(config.dataDir)
    last = await Promise.race([seen, pause(patienceMs, last, { ref: false })])
    return { ...last, disk: await disk }
  }
}

/**
 * Whether a worker is at work, as it was last while the database is away. It has no bearing on whether the api is ready:
 * orders are taken without one, and wait.
 */
export function signsOf(db: Database): () => Promise<Readonly<Record<'worker', boolean>>> {
  let worker = false
  return async () => {
    const seen = sinceAnyWorker(db.read).then(
      (seconds) => seconds === 0,
      () => worker,
    )
    worker = await Promise.race([seen, pause(patienceMs, worker, { ref: false })])
    return { worker }
  }
}

/** Whether the disk of the data folder has room. There is none to fill where no such folder is needed. */
const hasRoom = (folder: string): Promise<boolean> =>
  roomOf(folder).then(
    (room) => room === undefined || room > roomMin,
    () => false,
  )

/** Which part of the disk of a folder is left; undefined where there is no such folder. */
export const roomOf = (folder: string): Promise<number | undefined> =>
  statfs(folder).then(
    ({ bavail, blocks }) => bavail / blocks,
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return undefined
      throw error
    },
  )
