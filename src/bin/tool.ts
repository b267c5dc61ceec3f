/** What the operator's tools share: the platform's database, wherever it is, and two ways to speak. */
import type { Command } from 'commander'
import type { Database } from '../storage/database.ts'
import { type Config, ConfigError, readConfig } from './config.ts'
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

/** An id as it is typed. Throws ConfigError. */
export function readId(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new ConfigError(`${text} is no id`)
  return Number(text)
}

/** Dollars and cents as they are typed. Throws ConfigError. */
export function readDollars(name: string, text: string): string {
  if (!/^\d{1,9}(\.\d{1,2})?$/.test(text)) throw new ConfigError(`${name} is dollars and cents, 0 or more`)
  return text
}

/** Runs a tool on the platform's database, wherever that is. */
export async function withDatabase(work: (db: Database, config: Config) => Promise<void>): Promise<void> {
  const config = readConfig(process.env)
  const log = openLog({ ...config, logLevel: 'warn' }, 'cli')
  const server = await reachServer(config, log)
  try {
    const db = await openMigrated(server.url, 'lockstep cli', log)
    try {
      await work(db, config)
    } finally {
      await db.close()
    }
  } finally {
    await server.stop()
  }
}
