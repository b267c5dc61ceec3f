/**
 * The link of a FIX session: of all workers the one that holds its lease connects, and connects again when the
 * connection is lost. What arrives is booked in order, and the number up to which it was booked moves with it; what
 * a crash leaves unbooked is asked for at the next log-on. Numbers to send are set aside ahead of their use, so none
 * is ever used twice.
 */

import type { Instant } from '../../../domain/time.ts'
import {
  type FixSessionRow,
  openFixSession,
  setFixOutbound,
  startFixSession,
} from '../../../storage/brokers/fix-sessions.ts'
import { DatabaseUnavailable } from '../../../storage/database/failure.ts'
import { insertIncidents, type NewIncident } from '../../../storage/work/incidents.ts'
import type { Lease } from '../../../storage/work/leases.ts'
import { backoff } from '../../backoff.ts'
import type { WorkContext } from '../../context.ts'
import { pause, underLease } from '../../leases.ts'
import type { Listener } from './conversation.ts'
import { type FixConnection, type FixEngine, openConnection } from './engine.ts'
import { Intake, type IntakeParts } from './intake.ts'
import type { FixRequest } from './message.ts'
import { dailyStart, type FixSettings } from './settings.ts'

/** Numbers set aside at once, those of them that only the engine's own messages may use, and when more are fetched. */
const setAside = 10_000
const ownNumbers = 50
const fewNumbers = 5_000
const logOnMs = 10_000
const shortestPause = 1_000
const longestPause = 30_000
const tendMs = 2_000
const tellAgainMs = 1_000

export interface LinkParts extends IntakeParts {
  readonly engine: FixEngine
  readonly settings: FixSettings
  /** What was asked and not answered will not be. */
  lost(): void
}

/** A connection with the numbers that may be used on it. */
interface Open {
  readonly connection: FixConnection
  readonly lease: Lease
  readonly held: AbortSignal
  limit: number
  /** Given to the engine and not numbered yet. */
  queued: number
  isSettingAside: boolean
}

/** One counterparty: holds its lease, connects, and connects again when the connection ends. */
export class FixLink {
  readonly #parts: LinkParts
  readonly #ending = new AbortController()
  #life: Promise<void> | undefined
  #open: Open | undefined
  #isHeld = false
  /** A number was used twice: each further log-on would bring the counterparty's numbers nearer to ours, and at last fit. */
  #isBroken = false

  constructor(parts: LinkParts) {
    this.#parts = parts
  }

  get isStarted(): boolean {
    return this.#life !== undefined
  }

  /** This worker is the one that speaks to the counterparty, or tries to. */
  get isHeld(): boolean {
    return this.#isHeld
  }

  get isUp(): boolean {
    return this.#open?.connection.conversation.isReady === true && !this.#open.held.aborted
  }

  /** Keeps the session up from now on, whenever this worker holds its lease. */
  start(ctx: WorkContext): void {
    const { name } = this.#parts
    this.#life ??= underLease(ctx, `fix:${name}`, this.#ending.signal, async (lease, held) => {
      this.#isHeld = true
      // Who held the session meanwhile may have begun anew.
      this.#isBroken = false
      try {
        await this.#keep(ctx, lease, held)
      } finally {
        this.#isHeld = false
      }
    })
  }

  /** Logs out and lets go of the session. */
  async close(): Promise<void> {
    this.#ending.abort()
    await this.#life
  }

  /**
   * Sends a message; `sent` hears its number, or undefined where it did not go out and never will. Not before the
   * numbers for it are set aside, and not after the lease may be lost.
   */
  send(request: FixRequest, sent: (seqNum: number | undefined) => void): void {
    const open = this.#open
    if (!open || !this.isUp || open.connection.nextOutbound() + open.queued >= open.limit - ownNumbers) {
      sent(undefined)
      return
    }
    open.queued += 1
    open.connection.send(request, (seqNum) => {
      open.queued -= 1
      sent(seqNum)
    })
  }

  /** Connects again and again, more patiently each time that it does not come to a log-on. */
  async #keep(ctx: WorkContext, lease: Lease, held: AbortSignal): Promise<void> {
    let failures = 0
    while (!held.aborted) {
      const wasUp = await this.#connect(ctx, lease, held).catch((error: unknown) => {
        ctx.log.warn({ error, connection: this.#parts.name }, 'a FIX session could not be opened')
        return false
      })
      failures = wasUp ? 0 : failures + 1
      await pause(backoff(Math.max(0, failures - 1), shortestPause, longestPause), held)
    }
  }

  /** One connection from log-on to its end; answers whether it was up and all that it brought is booked. */
  async #connect(ctx: WorkContext, lease: Lease, held: AbortSignal): Promise<boolean> {
    const { name, engine, settings } = this.#parts
    const since = dailyStart(settings, ctx.clock.now())
    const row = await this.#takeUp(ctx, lease, since)
    if (!row) return false
    const intake = new Intake({ ctx, lease, held, parts: this.#parts })
    const numbers = { inbound: row.nextInbound, outbound: row.nextOutbound, isReset: row.isResetDue }
    let wasUp = false
    const loggedOn = (): void => {
      wasUp = true
      ctx.log.info({ connection: name }, 'a FIX session is up')
      if (row.isResetDue)
        void startFixSession(ctx.db, lease, name, ctx.clock.now()).catch(() => connection.cut())
    }
    const listener: Listener = {
      take: intake.take,
      moved: intake.moved,
      loggedOn,
      alarm: this.#alarmOf(ctx, name, held),
    }
    const connection = await openConnection(engine, settings, numbers, listener).catch(async (error) => {
      await setFixOutbound(ctx.db, lease, name, row.nextOutbound)
      throw error
    })
    const limit = row.nextOutbound + setAside
    const open: Open = { connection, lease, held, limit, queued: 0, isSettingAside: false }
    this.#open = open
    intake.follow(connection)
    const tending = setInterval(() => {
      this.#setMoreAside(ctx, open)
      if (dailyStart(settings, ctx.clock.now()) !== since) void connection.logOut()
    }, tendMs)
    const silent = setTimeout(() => !wasUp && connection.cut(), logOnMs)
    const leave = (): void => void this.#leave(ctx, connection)
    held.addEventListener('abort', leave, { once: true })
    if (held.aborted) leave()
    const reason = await connection.ended
    ctx.log.info({ connection: name, reason }, 'a FIX connection has ended')
    for (const timer of [tending, silent]) clearTimeout(timer)
    held.removeEventListener('abort', leave)
    this.#open = undefined
    this.#parts.lost()
    const isBooked = await intake.finish()
    await setFixOutbound(ctx.db, lease, name, connection.nextOutbound())
    return wasUp && isBooked
  }

  /** The session's numbers; undefined while it is broken and nobody wants both sides to begin anew. */
  async #takeUp(ctx: WorkContext, lease: Lease, since: Instant | null): Promise<FixSessionRow | undefined> {
    const { name } = this.#parts
    const row = await openFixSession(ctx.db, lease, name, { ahead: setAside, since })
    if (row.isResetDue) this.#isBroken = false
    if (!this.#isBroken) return row
    await setFixOutbound(ctx.db, lease, name, row.nextOutbound)
    return undefined
  }

  #alarmOf(ctx: WorkContext, name: string, held: AbortSignal): Listener['alarm'] {
    const tell = alarmOf(ctx, name, held, this.#ending.signal)
    return (kind, detail) => {
      if (kind === 'FixSequenceBroken') this.#isBroken = true
      tell(kind, detail)
    }
  }

  /** A lease that is lost ends the connection at once; who stops in peace logs out. */
  async #leave(ctx: WorkContext, connection: FixConnection): Promise<void> {
    if (this.#ending.signal.aborted) await connection.logOut()
    else connection.cut()
    ctx.log.info({ connection: this.#parts.name }, 'a FIX session was let go')
  }

  /** Sets more numbers aside before those at hand run out; without them the connection ends. */
  #setMoreAside(ctx: WorkContext, open: Open): void {
    const next = open.connection.nextOutbound()
    if (open.isSettingAside || open.limit - next > fewNumbers) return
    open.isSettingAside = true
    const outbound = next + setAside
    setFixOutbound(ctx.db, open.lease, this.#parts.name, outbound)
      .then(() => {
        open.limit = outbound
      })
      .catch((error: unknown) => {
        ctx.log.warn({ error, connection: this.#parts.name }, 'no numbers could be set aside')
        if (open.connection.nextOutbound() >= open.limit - ownNumbers / 2) open.connection.cut()
      })
      .finally(() => {
        open.isSettingAside = false
      })
  }
}

/** Tells the operator, once a day of the same. Who lets go himself expects to be logged out. */
const alarmOf =
  (ctx: WorkContext, connection: string, held: AbortSignal, ending: AbortSignal): Listener['alarm'] =>
  (kind, detail) => {
    if (held.aborted && kind === 'FixLoggedOut') return
    const occurredAt = ctx.clock.now()
    const said = JSON.stringify(detail)
    // A broker to which our numbers are too low names another one at each log-on.
    const same = kind === 'FixLoggedOut' ? said.replace(/\d+/g, '#') : said
    const key = [kind, connection, new Date(occurredAt).toISOString().slice(0, 10), same].join(':')
    ctx.log.error({ connection, kind, ...detail }, 'a FIX session needs attention')
    void tellOperator(ctx, { key, kind, detail: { connection, ...detail }, occurredAt }, ending)
  }

/** What an alarm is about comes no second time: a database that is away is waited for. */
async function tellOperator(ctx: WorkContext, incident: NewIncident, ending: AbortSignal): Promise<void> {
  for (;;) {
    try {
      return await insertIncidents(ctx.db.write, [incident])
    } catch (error) {
      if (!(error instanceof DatabaseUnavailable) || ending.aborted) {
        ctx.log.error({ error, incident }, 'an incident could not be written')
        return
      }
      await pause(tellAgainMs, ending)
    }
  }
}
