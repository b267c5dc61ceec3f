/**
 * Child processes of `start`: kept alive, told to end, never left behind. A child runs in its own process group,
 * so Ctrl-C reaches the parent alone and the order of stopping is ours; when the parent dies, the child notices
 * its closed channel and ends itself.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { join } from 'node:path'
import type { Logger } from 'pino'
import { held, type Word } from './process.ts'

/** First and longest wait before a child that died is started again, in milliseconds. */
const restartMs = { first: 200, longest: 5_000 }
/** A child that dies this often before it was ready once will not start. */
const deathsMax = 3
/** A child that does not end in this time is killed. */
const stopMs = 15_000

/**
 * Of the processes that do the work. The default 16 MiB for young objects is filled many times a second under load, and
 * what is under way just then is moved to the old ones. Without `__proto__` nothing that is sent can reach what all
 * objects inherit, whoever reads it.
 */
export const workingFlags = ['--max-semi-space-size=32', '--disable-proto=delete']

const program = join(import.meta.dirname, '..', '..', 'scripts', 'lockstep.mjs')

export interface Child {
  /** Resolves with what the child says when it is ready the first time; rejects when it does not start. */
  ready: Promise<string>
  stop(): Promise<void>
  /** Process id while it runs. */
  pid(): number | undefined
}

/**
 * Starts `lockstep <args>` and starts it again whenever it dies before `stop`. The child loads its program at once and
 * begins with its work when it is given the word.
 */
export function keepAlive(args: readonly string[], log: Logger, word: () => Promise<Word>): Child {
  let child: ChildProcess | undefined
  let timer: NodeJS.Timeout | undefined
  let isStopping = false
  let pauseMs = restartMs.first
  let announce = (_word: string): void => {}
  let giveUp = (_error: Error): void => {}
  let deaths = 0
  const ready = new Promise<string>((resolve, reject) => {
    announce = resolve
    giveUp = reject
  })
  ready.catch(() => undefined) // thrown where it is awaited, which may be much later

  const launch = (): void => {
    let hasWorked = false
    child = spawnHeld(args, word())
    child.on('message', (message) => {
      announce(String(message))
      hasWorked = true
    })
    child.on('error', (error) => log.error({ error: error.message, args }, 'a process could not be started'))
    child.on('exit', (code, signal) => {
      child = undefined
      if (isStopping) return
      if (!hasWorked && ++deaths >= deathsMax) giveUp(new Error(`lockstep ${args.join(' ')} does not start`))
      // Only a process that dies before it does any work is given more and more time.
      pauseMs = hasWorked ? restartMs.first : Math.min(pauseMs * 2, restartMs.longest)
      log.warn({ args, code, signal, pauseMs }, 'a process died and is started again')
      timer = setTimeout(launch, pauseMs)
    })
  }
  launch()
  return {
    ready,
    pid: () => child?.pid,
    stop: async () => {
      isStopping = true
      clearTimeout(timer)
      if (child) await end(child)
    },
  }
}

/** A process that begins with its work as soon as the word is there. */
function spawnHeld(args: readonly string[], word: Promise<Word>): ChildProcess {
  const child = spawn(process.execPath, [...workingFlags, program, ...args], {
    env: { ...process.env, ...held },
    detached: true,
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  // One that is gone by then is told nothing; without a word there is no platform.
  word.then(
    (said) => child.send(said, () => undefined),
    () => undefined,
  )
  return child
}

async function end(child: ChildProcess): Promise<void> {
  const gone = new Promise((resolve) => child.once('exit', resolve))
  child.kill('SIGTERM')
  const killer = setTimeout(() => child.kill('SIGKILL'), stopMs)
  await gone
  clearTimeout(killer)
}
