/** What the operator's tools share: the platform's database, wherever it is, and two ways to speak. */
import { userInfo } from 'node:os'
import type { Command } from 'commander'
import { type Acting, insertAuditNotes } from '../storage/audit-log.ts'
import type { Database } from '../storage/database.ts'
import type { Sql } from '../storage/sql.ts'
import { type Config, readConfig } from './config.ts'
import { openMigrated, reachServer } from './database.ts'
import { openLog } from './log.ts'

export interface Output {
  json?: boolean
}

/** Adds a command that knows --json. */
export type Tool = (parent: Command, name: string, says: string) => Command

/** Prints for people, or the same facts as JSON. */
export function say(output: Output, facts: object, text: string): void {
  console.log(output.json ? JSON.stringify(facts) : text)
}

/** Enters a command that changes no row of settings. */
export const noteCommand = (sql: Sql, object: string): Promise<void> =>
  insertAuditNotes(sql, [{ ...operator(), object }])

/** Who types, and the words of the command; what follows them may be a secret. */
function operator(): Acting & { readonly operation: string } {
  const words = process.argv.slice(2, 4).filter((word) => /^[a-z]+$/.test(word))
  return { actor: 'operator', who: userInfo().username, operation: words.join(' ') }
}

/** Runs a tool on the platform's database, wherever that is. */
export async function withDatabase(work: (db: Database, config: Config) => Promise<void>): Promise<void> {
  const config = readConfig(process.env)
  const log = openLog({ ...config, logLevel: 'warn' }, 'cli')
  const server = await reachServer(config, log)
  try {
    const db = await openMigrated(server.url, 'lockstep cli', log, operator())
    try {
      await work(db, config)
    } finally {
      await db.close()
    }
  } finally {
    await server.stop()
  }
}
