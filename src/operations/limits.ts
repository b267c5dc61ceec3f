/**
 * Rate limits in fixed windows per subject (a key, an address), shared by all processes. Each process counts on
 * its own and adds its counts to the shared table in one statement for all subjects, at most every tenth of a
 * second; a subject it has not seen lately is looked up first, so a restart gives nobody a fresh window. Who calls
 * so often that a twentieth of a limit is not shared yet waits until it is: by so much for each process, and no more,
 * a window may be exceeded. Time is monotonic. While the database is away each process counts alone.
 */
import { LRUCache } from 'lru-cache'
import type { Database } from '../storage/database/database.ts'
import { addWindowUse, type WindowState } from '../storage/work/rate-windows.ts'
import { sayingSeldom } from './seldom.ts'

/** At most `limit` calls within `seconds` of the first. */
export interface Window {
  readonly seconds: number
  readonly limit: number
}

/** Where a subject stands in one window. */
interface Standing extends Window {
  readonly remaining: number
  /** Whole seconds until the window ends, at least 1. */
  readonly resetSeconds: number
}

export interface Verdict {
  readonly isAllowed: boolean
  /** The window with the least left. */
  readonly tightest: Standing
  readonly windows: readonly Window[]
}

export interface Limiter {
  /** Counts one call, unless it is over a limit. At once for a subject that is known here and calls now and then. */
  take(subject: string, windows: readonly Window[]): Verdict | Promise<Verdict>
  /** Where the subject stands, as far as it is known here, without counting. */
  peek(subject: string, windows: readonly Window[]): Verdict
  /** Forgets every count of this process, as after the shared table was emptied. */
  forget(): void
  /** Adds all counts to the shared table now. */
  flush(): Promise<void>
  close(): Promise<void>
}

export interface LimiterOptions {
  db: Pick<Database, 'write'>
  log: { warn(fields: object, message: string): void }
  /** Monotonic milliseconds. */
  now?: () => number
}

export const platformWindows: readonly Window[] = [
  { seconds: 10, limit: 100 },
  { seconds: 3600, limit: 3000 },
  { seconds: 86_400, limit: 20_000 },
]

/** Failed sign-ins from one address; beyond it unknown keys are not looked up any more. */
export const failureWindows: readonly Window[] = [{ seconds: 60, limit: 60 }]

/** A key's own windows (seconds to calls), or the platform's. */
export const windowsOf = (limits: Record<string, number> | undefined): readonly Window[] =>
  limits === undefined
    ? platformWindows
    : Object.entries(limits).map(([seconds, limit]) => ({ seconds: Number(seconds), limit }))

/**
 * Windows as they are typed, as in `10:100,3600:3000`: seconds and calls in them, each of its own length. Answers what is
 * wrong with them in words.
 */
export function readWindows(text: string): readonly Window[] | string {
  const windows: Window[] = []
  for (const word of text.split(',')) {
    const [, seconds, calls] = /^([1-9]\d{0,6}):([1-9]\d{0,8})$/.exec(word.trim()) ?? []
    if (seconds === undefined) return `${word} is no limit such as 10:100`
    windows.push({ seconds: Number(seconds), limit: Number(calls) })
  }
  const lengths = new Set(windows.map(({ seconds }) => seconds))
  return lengths.size < windows.length ? 'a length is named once' : windows
}

const subjectsMax = 50_000
const flushMs = 100
/** Of a limit, what a process may let in that others do not know of. */
const aheadShare = 1 / 20
/** A statement that takes longer is not waited for. */
const patienceMs = 250
const rowsPerStatementMax = 1000

interface Counter {
  readonly seconds: number
  startedAt: number
  /** Calls of all processes, as far as known. */
  used: number
  /** Those among them that the shared table does not have yet. */
  pending: number
}

interface Subject {
  readonly name: string
  readonly counters: readonly Counter[]
  /** Settles when the shared counts have arrived (or could not be had); they are waited for before the next call. */
  loading: Promise<void> | undefined
}

/** Limits that all processes of one database share. */
export function createLimiter(options: LimiterOptions): Limiter {
  return new SharedLimiter(options)
}

class SharedLimiter implements Limiter {
  readonly #options: LimiterOptions
  readonly #now: () => number
  readonly #say: (error: unknown) => void
  readonly #subjects = new LRUCache<string, Subject>({ max: subjectsMax })
  readonly #dirty = new Set<Subject>()
  #newcomers: Subject[] = []
  #arrival: Promise<void> | undefined
  #timer: NodeJS.Timeout | undefined
  #flushing: Promise<void> = Promise.resolve()
  #nextFlush: Promise<void> | undefined
  #isAway = false

  constructor(options: LimiterOptions) {
    this.#options = options
    this.#now = options.now ?? (() => performance.now())
    // A full disk fails every addition.
    this.#say = sayingSeldom(options.log, 'rate limits are not shared at the moment', this.#now)
  }

  take(name: string, windows: readonly Window[]): Verdict | Promise<Verdict> {
    const subject = this.#find(name, windows) ?? this.#admit(name, windows)
    if (subject.loading === undefined && this.#isAhead(subject, windows))
      subject.loading = this.#share(subject)
    return subject.loading === undefined
      ? this.#count(subject, windows)
      : subject.loading.then(() => this.take(name, windows))
  }

  peek(name: string, windows: readonly Window[]): Verdict {
    const subject = this.#find(name, windows)
    const counters = subject?.counters ?? windows.map(({ seconds }) => newCounter(seconds, this.#now()))
    return this.#judge(counters, windows)
  }

  forget(): void {
    this.#subjects.clear()
    this.#dirty.clear()
  }

  /** One after another: who asks while one is under way waits for the next, which has all that came before it. */
  flush(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#nextFlush ??= this.#flushing.then(() => {
      this.#nextFlush = undefined
      const dirty = [...this.#dirty]
      this.#dirty.clear()
      this.#flushing = this.#synchronize(dirty)
      return this.#flushing
    })
    return this.#nextFlush
  }

  async close(): Promise<void> {
    await this.#arrival
    await this.flush()
    clearTimeout(this.#timer)
  }

  #find(name: string, windows: readonly Window[]): Subject | undefined {
    const subject = this.#subjects.get(name)
    if (subject?.counters.length !== windows.length) return undefined
    return subject.counters.every(({ seconds }, at) => seconds === windows[at]?.seconds) ? subject : undefined
  }

  #admit(name: string, windows: readonly Window[]): Subject {
    const now = this.#now()
    const counters = windows.map(({ seconds }) => newCounter(seconds, now))
    this.#arrival ??= new Promise((resolve) => setImmediate(resolve)).then(() => this.#welcome())
    const subject: Subject = { name, counters, loading: this.#arrival }
    this.#newcomers.push(subject)
    this.#subjects.set(name, subject)
    return subject
  }

  /** All newcomers of one turn of the event loop in one statement. */
  async #welcome(): Promise<void> {
    const newcomers = this.#newcomers
    this.#newcomers = []
    this.#arrival = undefined
    await this.#synchronize(newcomers)
    for (const subject of newcomers) subject.loading = undefined
  }

  #isAhead({ counters }: Subject, windows: readonly Window[]): boolean {
    if (this.#isAway) return false
    return counters.some(({ pending }, at) => pending >= Math.max(1, (windows[at]?.limit ?? 0) * aheadShare))
  }

  /** Waits until the shared table has what was counted, but not for long. */
  async #share(subject: Subject): Promise<void> {
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(() => {
        this.#isAway = true
        resolve()
      }, patienceMs)
    })
    await Promise.race([this.flush(), late])
    clearTimeout(timer)
    subject.loading = undefined
  }

  #count(subject: Subject, windows: readonly Window[]): Verdict {
    const before = this.#judge(subject.counters, windows)
    if (!before.isAllowed) return before
    for (const counter of subject.counters) {
      counter.used++
      counter.pending++
    }
    this.#dirty.add(subject)
    this.#timer ??= setTimeout(() => void this.flush(), flushMs).unref()
    return { ...this.#judge(subject.counters, windows), isAllowed: true }
  }

  #judge(counters: readonly Counter[], windows: readonly Window[]): Verdict {
    const now = this.#now()
    let tightest: Standing | undefined
    for (const [at, counter] of counters.entries()) {
      const limit = windows[at]?.limit ?? 0
      roll(counter, now)
      const remaining = Math.max(0, limit - counter.used)
      const resetSeconds = Math.max(1, Math.ceil((counter.startedAt - now) / 1000 + counter.seconds))
      if (
        tightest === undefined ||
        remaining < tightest.remaining ||
        (remaining === 0 && tightest.remaining === 0)
      )
        tightest = { seconds: counter.seconds, limit, remaining, resetSeconds }
    }
    if (tightest === undefined) throw new RangeError('a subject needs at least one window')
    return { isAllowed: tightest.remaining > 0, tightest, windows }
  }

  /** Adds what is pending and adopts the totals. What could not be added stays pending. */
  async #synchronize(subjects: readonly Subject[]): Promise<void> {
    for (let from = 0; from < subjects.length; from += rowsPerStatementMax) {
      const counters = new Map<string, Counter>()
      const uses = subjects.slice(from, from + rowsPerStatementMax).flatMap(({ name, counters: own }) =>
        own.flatMap((counter) => {
          const key = `${name} ${counter.seconds}`
          if (counters.has(key)) return []
          counters.set(key, counter)
          const used = counter.pending
          counter.pending = 0
          return [{ subject: name, seconds: counter.seconds, used }]
        }),
      )
      try {
        const states = await addWindowUse(this.#options.db.write, uses)
        for (const state of states)
          adopt(counters.get(`${state.subject} ${state.seconds}`), state, this.#now())
        this.#isAway = false
      } catch (error) {
        for (const use of uses) {
          const counter = counters.get(`${use.subject} ${use.seconds}`)
          if (counter) counter.pending += use.used
        }
        this.#isAway = true
        this.#say(error)
      }
    }
  }
}

const newCounter = (seconds: number, now: number): Counter => ({
  seconds,
  startedAt: now,
  used: 0,
  pending: 0,
})

function roll(counter: Counter, now: number): void {
  if (now - counter.startedAt < counter.seconds * 1000) return
  counter.startedAt = now
  counter.used = 0
  counter.pending = 0
}

function adopt(counter: Counter | undefined, state: WindowState, now: number): void {
  if (counter === undefined) return
  counter.used = state.used + counter.pending
  counter.startedAt = now - Math.max(0, state.elapsedSeconds) * 1000
}
