/**
 * Runs the embedded PostgreSQL: one server for one data folder, durable, reachable by a unix socket only.
 * It is restarted when it dies and stopped when we ask; what a killed predecessor left running is ended first.
 * Callers keep one `url` for the whole lifetime: their pools reconnect after a restart.
 */
import type { ChildProcess } from 'node:child_process'
import { closeSync, statSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { isShut } from './admission.ts'
import { findBinaries } from './binaries.ts'
import {
  assertChecksums,
  clearOrphans,
  databaseName,
  type Installation,
  prepareCluster,
  readStatus,
  superuser,
} from './cluster.ts'
import { checkContents } from './contents.ts'
import { makeRunFolder, prepareFolder } from './folder.ts'
import { chooseIdentity, giveTo, spawnAs } from './identity.ts'
import { FolderInUse, type Lock, takeLock } from './lock.ts'
import { logTail, openLog } from './server-log.ts'
import { serverArguments, serverSettings, socketIn } from './settings.ts'

/** A start that does not become ready is killed and tried again; a long crash recovery gets more time. */
const startLimitsMs = [10_000, 30_000, 60_000, 180_000]
const stopSteps: readonly StopStep[] = [
  ['SIGINT', 15_000],
  ['SIGQUIT', 5_000],
  ['SIGKILL', 5_000],
]
const backoffMs = { first: 100, largest: 5_000, stableAfter: 30_000 }
const pollMs = 10
const lockPollMs = 200
const socketPollMs = 1_000
const shutPollMs = 5_000
/** As long as the longest start may take: so long it may go over what a crash has left. */
const shutLimitMs = Math.max(...startLimitsMs)

export interface SupervisorLog {
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
}

export interface Postgres {
  /** Connection string for any client; valid across restarts. */
  readonly url: string
  /** Process id of the running server; changes with a restart, nothing while it is down. */
  pid(): number | undefined
  /** Stops the server (`fast`: open transactions are rolled back) and gives the folder free. */
  stop(): Promise<void>
}

interface Options {
  readonly dataDir: string
  readonly log: SupervisorLog
  /** How long another supervisor may take to give the folder free, in milliseconds (0). */
  readonly patienceMs?: number
  /** How long a server that was ready may let nobody in, in milliseconds; absent: as long as a start may take. */
  readonly shutLimitMs?: number
}

/**
 * Starts the server of `dataDir`, making the folder at the first start. Throws when another supervisor drives the
 * folder, when it is a copy that is not whole, when no allowed user can run the server, or when it does not become
 * ready (with its last words).
 */
export async function startPostgres(options: Options): Promise<Postgres> {
  const folder = prepareFolder(options.dataDir)
  const lock = await takeFreed(folder.run, options)
  try {
    await checkContents(options.dataDir)
    const identity = chooseIdentity(folder)
    const binaries = await findBinaries(folder, identity)
    const installation = await prepareCluster(folder, identity, binaries)
    await clearOrphans(installation)
    await assertChecksums(installation)
    const supervisor = new Supervisor(installation, lock, options)
    await supervisor.start()
    return supervisor
  } catch (error) {
    lock.release()
    throw error
  }
}

/** Takes the lock as soon as whoever holds it lets go: a platform that was told to end needs a moment for it. */
async function takeFreed(run: string, { log, patienceMs = 0 }: Options): Promise<Lock> {
  const until = performance.now() + patienceMs
  for (let isSaid = false; ; isSaid = true) {
    try {
      return await takeLock(run)
    } catch (error) {
      if (!(error instanceof FolderInUse) || performance.now() > until) throw error
      if (!isSaid) log.warn({ pid: error.pid }, 'another process uses the data folder: waiting for its end')
      await pause(lockPollMs)
    }
  }
}

/** What a client would take from its caller's environment instead (PGSSLMODE, PGOPTIONS), where it is said of other servers. */
const clientDefaults = `sslmode=disable&sslnegotiation=postgres&options=${encodeURIComponent('-c timezone=UTC')}`

class Supervisor implements Postgres {
  readonly url: string
  readonly #installation: Installation
  #lock: Lock
  readonly #log: SupervisorLog
  readonly #shutLimitMs: number
  readonly #stopping = new AbortController()
  readonly #killAtExit = () => this.#running?.child.kill('SIGINT')
  #running: Running | undefined
  #watching: Promise<void> = Promise.resolve()

  constructor(installation: Installation, lock: Lock, options: Options) {
    const { folder, password } = installation
    const query = `host=${encodeURIComponent(folder.run)}&port=${serverSettings.port}&${clientDefaults}`
    this.url = `postgres://${superuser}:${password}@/${databaseName}?${query}`
    this.#installation = installation
    this.#lock = lock
    this.#log = options.log
    this.#shutLimitMs = options.shutLimitMs ?? shutLimitMs
  }

  pid(): number | undefined {
    return this.#running?.child.pid
  }

  async start(): Promise<void> {
    process.once('exit', this.#killAtExit)
    this.#watching = this.#watch(await this.#launch())
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    if (this.#running) await end(this.#running, stopSteps)
    await this.#watching
    process.removeListener('exit', this.#killAtExit)
    this.#lock.release()
  }

  /** Restarts the server whenever it dies, ever more slowly while it keeps dying. */
  async #watch(first: Running): Promise<void> {
    let exited = this.#reachable(first)
    let wait = backoffMs.first
    while (!this.#stopping.signal.aborted) {
      const since = performance.now()
      const how = await exited
      this.#running = undefined
      if (this.#stopping.signal.aborted) return
      if (performance.now() - since > backoffMs.stableAfter) wait = backoffMs.first
      this.#log.error({ how, restartInMs: wait }, 'postgres died')
      await pause(wait, undefined, { signal: this.#stopping.signal }).catch(() => undefined)
      wait = Math.min(wait * 2, backoffMs.largest)
      exited = this.#launch().then((running) => this.#reachable(running), String)
    }
  }

  /** Resolves with how it ended. One that lets nobody in any more is ended, to begin again. */
  async #reachable(running: Running): Promise<string> {
    const done = new AbortController()
    const restart = (fields: object, why: string): void => {
      if (this.#stopping.signal.aborted || done.signal.aborted) return
      done.abort()
      this.#log.error(fields, `${why}: it is started again`)
      void end(running, stopSteps)
    }
    const socket = socketIn(this.#installation.folder.run)
    void lasts(
      () => isGone(socket),
      { everyMs: socketPollMs, limitMs: 0 },
      done.signal,
      () => restart({ socket }, 'the socket of postgres was taken away'),
    )
    // As after a disk that was full while it went over what a crash had left: it tries no more by itself.
    void lasts(
      () => isShut(this.url),
      { everyMs: shutPollMs, limitMs: this.#shutLimitMs },
      done.signal,
      () => restart({ limitMs: this.#shutLimitMs }, 'postgres lets nobody in'),
    )
    return running.exited.finally(() => done.abort())
  }

  /** The lock is taken again where it was taken away with its folder. Throws `FolderInUse` when another has it. */
  async #keepLock(): Promise<void> {
    if (await this.#lock.held()) return
    const { folder, identity } = this.#installation
    this.#lock.release()
    makeRunFolder(folder)
    giveTo(identity, folder.run)
    this.#lock = await takeLock(folder.run)
  }

  /** Starts the server and waits until it accepts connections; a start that hangs or fails is repeated. */
  async #launch(): Promise<Running> {
    const { cluster, logFile } = this.#installation.folder
    const beginning = performance.now()
    for (const limit of startLimitsMs) {
      await this.#keepLock()
      await clearOrphans(this.#installation)
      if (this.#stopping.signal.aborted) throw new Error('stopped while starting')
      const running = spawnServer(this.#installation)
      this.#running = running
      if (await isReady(cluster, running, limit)) {
        const ms = Math.round(performance.now() - beginning)
        this.#log.info({ pid: running.child.pid, ms }, 'postgres is ready')
        return running
      }
      await end(running, stopSteps.slice(1))
      this.#log.warn({ limitMs: limit, lastWords: logTail(logFile) }, 'postgres did not become ready')
    }
    throw new Error(`postgres did not start, see ${logFile}:\n${logTail(logFile)}`)
  }
}

/** Looks again and again; tells once when it has found the same twice, and for longer than the limit. */
async function lasts(
  isSo: () => boolean | Promise<boolean>,
  { everyMs, limitMs }: { readonly everyMs: number; readonly limitMs: number },
  done: AbortSignal,
  tell: () => void,
): Promise<void> {
  let since: number | undefined
  while (await pause(everyMs, true, { signal: done, ref: false }).catch(() => false)) {
    if (!(await isSo())) since = undefined
    else if (since === undefined) since = performance.now()
    else if (performance.now() - since > limitMs) return tell()
  }
}

/** One that cannot be looked at is not gone. */
function isGone(path: string): boolean {
  try {
    statSync(path)
    return false
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT'
  }
}

interface Running {
  readonly child: ChildProcess
  /** Resolves with how it ended. Never rejects. */
  readonly exited: Promise<string>
}

function spawnServer(installation: Installation): Running {
  const { folder, identity, binaries } = installation
  const output = openLog(folder, identity)
  try {
    const child = spawnAs(
      identity,
      [binaries.postgres, ...serverArguments(folder.cluster, folder.run)],
      output,
    )
    const exited = new Promise<string>((resolve) => {
      child.once('error', (error) => resolve(error.message))
      child.once('exit', (code, signal) => resolve(signal ?? `exit code ${code}`))
    })
    return { child, exited }
  } finally {
    closeSync(output)
  }
}

/** Waits until the status file of this very process says ready; false when it ended or took too long. */
async function isReady(cluster: string, { child, exited }: Running, limit: number): Promise<boolean> {
  const until = performance.now() + limit
  const ended = exited.then(() => true)
  while (performance.now() < until) {
    const status = readStatus(cluster)
    if (status?.ready && status.pid === child.pid) return true
    if (await Promise.race([ended, pause(pollMs, false)])) return false
  }
  return false
}

type StopStep = readonly [signal: NodeJS.Signals, patienceMs: number]

/** Ends a server, asking ever less politely. */
async function end({ child, exited }: Running, steps: readonly StopStep[]): Promise<void> {
  for (const [signal, patience] of steps) {
    child.kill(signal)
    const limit = new AbortController()
    const late = pause(patience, 'late', { signal: limit.signal }).catch(() => 'ended')
    const outcome = await Promise.race([exited, late])
    limit.abort()
    if (outcome !== 'late') return
  }
}
