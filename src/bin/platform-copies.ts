/** What a platform that goes on from a copy of itself has to know: the first one has worked on since. */
import { existsSync, rmSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Logger } from 'pino'
import type { Database } from '../storage/database/database.ts'
import { leapNumbers } from '../storage/work/numbers.ts'
import { noteCommand } from './acting.ts'
import type { Config } from './config.ts'

/** In the data folder of a copy that nobody has started yet. */
const markOf = (dataDir: string): string => join(dataDir, 'copied')

/** Marks a data folder as a copy; the answer is the path of the mark, without which it would give numbers again. */
export async function markCopy(dataDir: string): Promise<string> {
  const mark = markOf(dataDir)
  await writeFile(mark, `${new Date().toISOString()}\n`, { mode: 0o600, flush: true })
  return mark
}

/** Before anything is written to a copy that is started for the first time. Repeated after a crash it does no harm. */
export async function beginCopy({ databaseUrl, dataDir }: Config, db: Database, log: Logger): Promise<void> {
  const mark = markOf(dataDir)
  if (databaseUrl !== undefined || !existsSync(mark)) return
  await goOnFromCopy(db)
  rmSync(mark, { force: true })
  log.warn('this is a copy: what was done since it was made is not here, and its numbers are not given again')
}

/** Lets no number be given again that the first platform may have given since. */
export const goOnFromCopy = (db: Database): Promise<void> =>
  db.transaction(async (tx) => {
    await leapNumbers(tx, Date.now())
    await noteCommand(tx, 'numbers')
  })
