/**
 * Rate limits in fixed windows per subject (a key, an address), shared by all processes. Calls that come while a
 * statement is under way are added to the shared table together by the next one, and let in by the totals that it
 * answers, so that any number of processes lets in no more than a limit; a restart gives nobody a fresh window. Calls
 * of a subject that is known to be over a limit cost no statement. Time is monotonic. While the database is away, or
 * takes too long, each process counts alone and adds its counts later.
 */
import { LRUCache } from 'lru-cache'
import type { Database } from '../storage/database.ts'
import { addWindowUse, type WindowState } from '../storage/rate-windows.ts'

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
  /** Counts one call, unless it is over a limit. At once for a subject that is known to be over one. */
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

/** Wrong keys from one address; beyond it they are refused as too many. */
export const failureWindows: readonly Window[] = [{ seconds: 60, limit: 60 }]

/** A key's own windows (seconds to calls), or the platform's. */
export const windowsOf = (limits: Record<string, number> | undefined): readonly Window[] =>
  limits === undefined
    ? platformWindows
    : Object.entries(limits).map(([seconds, limit]) => ({ seconds: Number(seconds), limit }))

const subjectsMax = 50_000
const flushMs = 100
/** A statement that takes longer is not waited for. */
const patienceMs = 250
const subjectsPerStatementMax = 1000
/** A full disk fails every addition: it is said at once, and then how often since. */
const saidEveryMs = 60_000

interface Counter {
  readonly seconds: number
  startedAt: number
  /** Calls of all processes, as far as known. */
  used: number
  /** Those among them that the shared table does not have yet; below zero: it has calls that were not let in. */
  pending: number
}

interface Subject {
  readonly name: string
  readonly counters: readonly Counter[]
}

/** A call that waits for the shared counts. */
interface Asking {
  readonly subject: Subject
  readonly windows: readonly Window[]
  readonly answer: (verdict: Verdict) => void
}

export function createLimiter(options: LimiterOptions): Limiter {
  return new SharedLimiter(options)
}

class SharedLimiter implements Limiter {
  readonly #options: LimiterOptions
  readonly #now: () => number
  readonly #subjects = new LRUCache<string, Subject>({ max: subjectsMax })
  readonly #dirty = new Set<Subject>()
  #asking: Asking[] = []
  #asked: Promise<void> | undefined
  #isAway = false
  #timer: NodeJS.Timeout | undefined
  #flushing: Promise<void> | undefined
  #turn: Promise<void> = Promise.resolve()
  #failures = 0
  #silentUntil = Number.NEGATIVE_INFINITY

  constructor(options: LimiterOptions) {
    this.#options = options
    this.#now = options.now ?? (() => performance.now())
  }

  take(name: string, windows: readonly Window[]): Verdict | Promise<Verdict> {
    const subject = this.#find(name, windows) ?? this.#admit(name, windows)
    const known = this.#judge(subject.counters, windows)
    if (!known.isAllowed) return known
    if (this.#isAway) return this.#count(subject, windows)
    return new Promise((answer) => {
      this.#asking.push({ subject, windows, answer })
      this.#asked ??= new Promise((resolve) => setImmediate(resolve)).then(() => this.#askAll())
    })
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

  flush(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#flushing ??= this.#inTurn(() => {
      this.#flushing = undefined
      const dirty = [...this.#dirty]
      this.#dirty.clear()
      return this.#synchronize(dirty.map((subject) => ({ subject, calls: 0 })))
    })
    return this.#flushing
  }

  async close(): Promise<void> {
    await this.#asked
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
    const subject: Subject = { name, counters: windows.map(({ seconds }) => newCounter(seconds, now)) }
    this.#subjects.set(name, subject)
    return subject
  }

  /** One after another: what a statement brought is counted before the next is made up. */
  #inTurn(work: () => Promise<void>): Promise<void> {
    this.#turn = this.#turn.then(work)
    return this.#turn
  }

  /** Those who wait, all at once, and then those who came meanwhile, until nobody waits. */
  async #askAll(): Promise<void> {
    while (this.#asking.length > 0) await this.#inTurn(() => this.#serve())
    this.#asked = undefined
  }

  async #serve(): Promise<void> {
    const asking = this.#asking
    this.#asking = []
    const calls = new Map<Subject, number>()
    for (const { subject } of asking) calls.set(subject, (calls.get(subject) ?? 0) + 1)
    const work = this.#synchronize([...calls].map(([subject, many]) => ({ subject, calls: many })))
    await this.#patiently(work)
    for (const { subject, windows, answer } of asking) answer(this.#count(subject, windows))
    await work
  }

  /** Waits, but not for long. */
  async #patiently(work: Promise<void>): Promise<void> {
    let timer: NodeJS.Timeout | undefined
    const enough = new Promise<void>((resolve) => {
      timer = setTimeout(() => {
        this.#isAway = true
        resolve()
      }, patienceMs)
    })
    await Promise.race([work, enough])
    clearTimeout(timer)
  }

  #count(subject: Subject, windows: readonly Window[]): Verdict {
    const before = this.#judge(subject.counters, windows)
    if (before.isAllowed) {
      for (const counter of subject.counters) {
        counter.used++
        counter.pending++
      }
    }
    if (subject.counters.some(({ pending }) => pending !== 0)) {
      this.#dirty.add(subject)
      this.#timer ??= setTimeout(() => void this.flush(), flushMs).unref()
    }
    return before.isAllowed ? { ...this.#judge(subject.counters, windows), isAllowed: true } : before
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

  /**
   * Adds what is pending, and calls that are counted afterwards, and adopts the totals. What could not be added stays
   * pending.
   */
  async #synchronize(
    wanted: readonly { readonly subject: Subject; readonly calls: number }[],
  ): Promise<void> {
    for (let from = 0; from < wanted.length; from += subjectsPerStatementMax) {
      const counters = new Map<string, Counter>()
      const uses = wanted.slice(from, from + subjectsPerStatementMax).flatMap(({ subject, calls }) =>
        subject.counters.map((counter) => {
          counters.set(`${subject.name} ${counter.seconds}`, counter)
          const used = counter.pending + calls
          counter.pending = -calls
          return { subject: subject.name, seconds: counter.seconds, used }
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

  #say(error: unknown): void {
    this.#failures++
    const now = this.#now()
    if (now < this.#silentUntil) return
    const said = { error: String(error), failures: this.#failures }
    this.#options.log.warn(said, 'rate limits are not shared at the moment')
    this.#failures = 0
    this.#silentUntil = now + saidEveryMs
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
