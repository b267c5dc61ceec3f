/** The life of one process: ends once, in order, on the first of a signal, a lost parent or a fatal error. */
import { constants } from 'node:os'
import { isatty } from 'node:tty'
import closeWithGrace from 'close-with-grace'
import type { Logger } from 'pino'
import { ConfigError } from './config.ts'
import { faultOf } from './faults.ts'
import { fileWords } from './file-words.ts'

/** Longest a clean end may take before the process is ended anyway, in milliseconds. */
const endWithinMs = 20_000
/** How often the parent is looked for, in milliseconds. */
const parentEveryMs = 250

/** By these a process is told to end. */
const signals = ['SIGHUP', 'SIGINT', 'SIGTERM'] as const

/**
 * By these the system says that the process itself is broken. None of ours is ever called for one that comes from within:
 * the broken step would be made again and again, and the process never end.
 */
const faults = ['SIGILL', 'SIGTRAP', 'SIGABRT', 'SIGBUS', 'SIGFPE', 'SIGSEGV'] as const

/**
 * Until `endsWith` takes over, a signal ends the process at once, as it would by itself, but by way of its exit: there a
 * server that was started beside it is told to stop, and is not left behind with nobody to stop it.
 */
export function endsAtOnce(): void {
  for (const signal of signals) process.once(signal, quit)
}

const quit = (signal: NodeJS.Signals): never => process.exit(128 + constants.signals[signal])

/** Whoever reads our output may have seen enough: what was begun is done to its end. */
export function outlivesReaders(): void {
  const { stdout, stderr } = process
  stdout.on('error', (error: NodeJS.ErrnoException) => unheard('standard output', stdout, error))
  stderr.on('error', (error: NodeJS.ErrnoException) => unheard('standard error', stderr, error))
}

function unheard(name: string, { isTTY }: NodeJS.WriteStream, error: NodeJS.ErrnoException): void {
  if (error.code === 'EPIPE' || (isTTY && error.code === 'EIO')) return
  const fault = new ConfigError(`${name} cannot be written: ${fileWords(error)}`)
  // A process that runs on closes what it holds before it ends.
  if (process.listenerCount('uncaughtException') > 0) throw fault
  console.error(faultOf(fault))
  process.exit(1)
}

/**
 * Runs `close` when the process is told to end. A second signal ends it at once, where it is impatience. It is none in a
 * child of `start`: whoever signals all processes of a service reaches the child too, and then its parent tells it again;
 * nor when a terminal is closed, of which both the system and the shell in it tell.
 */
export function endsWith(log: Logger, close: () => Promise<void>): void {
  for (const signal of signals) process.removeListener(signal, quit)
  const patient = isHeld() ? signals : (['SIGHUP'] as const)
  const terminals = openTerminals()
  let isEnding = false
  const grace = closeWithGrace(
    {
      delay: endWithinMs,
      logger: { error: (text) => log.error(text) },
      skip: [...faults, ...patient],
    },
    async ({ err }) => {
      isEnding = true
      // What somebody outside can mend is said as it would be at the start.
      if (err instanceof ConfigError) console.error(faultOf(err))
      else if (err) log.fatal({ err }, 'the process ends after an error')
      await close()
      if (openTerminals().length < terminals.length) process.once('exit', vanish)
    },
  )
  const closeOnce = (): void => {
    if (!isEnding) grace.close()
  }
  for (const signal of patient) process.on(signal, closeOnce)
  // A child whose parent is gone has nobody left to stop it.
  process.once('disconnect', closeOnce)
  if (process.env.npm_lifecycle_event !== undefined) watchParent(closeOnce)
}

/** Which of input, output and errors are a terminal that is there. */
const openTerminals = (): number[] => [0, 1, 2].filter((each) => isatty(each))

/**
 * At its exit Node gives a terminal back as it was, and where that was closed meanwhile it breaks, with all that it holds
 * in a file for whoever looks into crashes.
 */
const vanish = (): void => void process.kill(process.pid, 'SIGKILL')

/**
 * Calls when the parent is gone. A script of npm runs in a shell, which dies of the signal that npm was told to hand on
 * and hands it on no further: without this the platform would go on, with nobody to stop it.
 */
function watchParent(gone: () => void): void {
  const parent = process.ppid
  const timer = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(timer)
    gone()
  }, parentEveryMs)
  timer.unref()
}

/** What a child of `start` waits for. */
export interface Word {
  readonly databaseUrl: string
  /** Of the api. */
  readonly port: number
  /** Of the page of measures of this child; absent: it has none. */
  readonly metricsPort?: number
  /** Of a worker: its name begins with it, and so do those of all that its parent had before, which are dead. */
  readonly family?: string
}

/** In the environment of such a child. */
export const held = { LOCKSTEP_HELD: '1' }

const isHeld = (): boolean => process.env.LOCKSTEP_HELD === held.LOCKSTEP_HELD

/**
 * The parent's word; undefined in a process that has no such parent. One whose parent goes before ends by itself: nothing
 * else keeps it.
 */
export const wordOfParent = async (): Promise<Word | undefined> =>
  isHeld() ? new Promise((resolve) => process.once('message', (word) => resolve(word as Word))) : undefined

/** Tells the parent, if there is one, that this process does its work now. */
export const announceReady = (word: string): void => {
  process.send?.(word)
}
