/**
 * Where the database comes from: DATABASE_URL, a server that another Lockstep process of the same data folder
 * runs already, or the embedded one, started here and stopped with us.
 */
import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { Logger } from 'pino'
import { startPostgres } from '../postgres/supervisor.ts'
import type { Acting } from '../storage/database/audit-log.ts'
import { type Database, openDatabase } from '../storage/database/database.ts'
import { isBegun, migrate, whenOutgrown } from '../storage/database/migrate.ts'
import { type Config, ConfigError, makeDataDir, unusable, withHost } from './config.ts'

export interface Server {
  url: string
  /** The embedded one, started here. */
  isOurs: boolean
  /** Stops the embedded server if it was started here. */
  stop(): Promise<void>
}

/** A server that somebody else runs, and stops. */
export const runElsewhere = (url: string): Server => ({ url, isOurs: false, stop: async () => {} })

/** A platform that was told to end is given so long to leave the data folder. */
const patienceMs = 10_000
/** How often a process that uses the server of another one looks whether it is still there. */
const lookEveryMs = 1_000

/** Parts of the data folder: the embedded server's own, and the address of one that runs. */
export const serverName = 'postgres'
export const addressName = 'database-url'
const addressFile = (config: Config): string => join(config.dataDir, addressName)

/** Where the embedded server has its files. */
export const serverOf = (dataDir: string): string => join(dataDir, serverName)

/** Throws ConfigError where no platform was ever started: to make one there would answer another question. */
export function checkPlatform(dataDir: string): void {
  try {
    statSync(join(serverOf(dataDir), 'cluster'))
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    // Of a folder that is closed to this user nobody can say that it holds none.
    throw ['ENOENT', 'ENOTDIR'].includes(code)
      ? new ConfigError(`there is no platform in ${dataDir}`)
      : unusable(dataDir, error)
  }
}

/** The same of a database that somebody else runs. */
export async function checkBegun({ read }: Database): Promise<void> {
  if (!(await isBegun(read))) throw new ConfigError('there is no platform in the database of DATABASE_URL')
}

/** The server of this configuration, started when it is ours to start. */
export async function provideServer(config: Config, log: Logger): Promise<Server> {
  if (config.databaseUrl) return runElsewhere(config.databaseUrl)
  makeDataDir(config)
  const postgres = await startPostgres({ dataDir: serverOf(config.dataDir), log, patienceMs })
  // One that was left behind may be another user's: only its folder is sure to be ours.
  rmSync(addressFile(config), { force: true })
  writeFileSync(addressFile(config), postgres.url, { mode: 0o600, flag: 'wx' })
  return {
    url: postgres.url,
    isOurs: true,
    stop: async () => {
      rmSync(addressFile(config), { force: true })
      await postgres.stop()
    },
  }
}

/** For commands beside a running platform: its server where one runs, otherwise one of our own. */
export async function reachServer(config: Config, log: Logger): Promise<Server> {
  const running = await addressAtWork(config)
  return running === undefined ? freeServer(config, log) : runElsewhere(running)
}

/**
 * For a platform that starts: one of our own where the data folder is free or becomes so in time, otherwise that of the
 * process that keeps it.
 */
export const freeServer = (config: Config, log: Logger): Promise<Server> =>
  provideServer(config, log).catch(async (error: unknown) => {
    const begun = await addressAtWork(config)
    if (begun === undefined) throw error
    return runElsewhere(begun)
  })

/**
 * The same for a process that stays. Whoever started the server stops it with himself, and may be a command that ends
 * soon: then it is started here, under the same address.
 */
export async function keepServer(config: Config, log: Logger, reach = reachServer): Promise<Server> {
  const server = await reach(config, log)
  if (server.isOurs || config.databaseUrl) return server
  const ending = new AbortController()
  const taken = takeOver(config, log, server.url, ending.signal)
  return {
    ...server,
    stop: async () => {
      ending.abort()
      await (await taken)?.stop()
    },
  }
}

/** Waits until nobody runs the server any more, and starts it; undefined when `ending` comes before. */
async function takeOver(
  config: Config,
  log: Logger,
  url: string,
  ending: AbortSignal,
): Promise<Server | undefined> {
  while (!ending.aborted) {
    await pause(lookEveryMs, undefined, { signal: ending }).catch(() => undefined)
    if (ending.aborted || (await listens(url))) continue
    try {
      return await provideServer(config, log)
    } catch (error) {
      // Mostly that whoever runs it starts it again just now, or that another process was first.
      log.warn({ error: String(error) }, 'the database is away and was not started here')
    }
  }
  return undefined
}

/** Where another process of this data folder runs the server, if one does. */
async function addressAtWork(config: Config): Promise<string | undefined> {
  const running = config.databaseUrl ? undefined : runningAddress(config)
  return running && (await listens(running)) ? running : undefined
}

function runningAddress(config: Config): string | undefined {
  try {
    return readFileSync(addressFile(config), 'utf8').trim()
  } catch {
    return undefined
  }
}

/** Whether somebody listens on the server's socket: the file may be left over from a process that was killed. */
function listens(url: string): Promise<boolean> {
  const { searchParams } = new URL(withHost(url))
  const socket = connect(
    join(searchParams.get('host') ?? '', `.s.PGSQL.${searchParams.get('port') ?? '5432'}`),
  )
  return new Promise((resolve) => {
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
  }).then((isThere) => {
    socket.destroy()
    return isThere as boolean
  })
}

/** Connects and brings the schema forward. */
export async function openMigrated(
  url: string,
  applicationName: string,
  log: Logger,
  acting?: Acting,
  check?: (db: Database) => Promise<void>,
): Promise<Database> {
  const db = await openDatabase({ url, applicationName, log, ...(acting && { acting }) })
  try {
    await check?.(db)
    const applied = await migrate(db)
    if (applied.length > 0) log.info({ applied }, 'the schema was brought forward')
    return db
  } catch (error) {
    await db.close()
    throw error
  }
}

/**
 * The same for a process that stays at work. When a newer program brings the schema forward it ends by that error, in
 * order, as it would not have started: what it wrote from then on could be wrong.
 */
export async function openForWork(
  url: string,
  applicationName: string,
  log: Logger,
  acting?: Acting,
): Promise<Database> {
  const db = await openMigrated(url, applicationName, log, acting)
  await whenOutgrown(db, log, (why) =>
    setImmediate(() => {
      throw why
    }),
  )
  return db
}
