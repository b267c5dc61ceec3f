/**
 * Notifications over one connection of its own. Delivery is at most once: while the connection is down nothing
 * is heard. Every listener is therefore also called without payload each time the connection is (re)made, the
 * first time included: it then looks for work by itself. Nothing comes for hours on a connection that is well, nor on one
 * whose other end is gone, so it is asked now and then, and made again when it does not answer.
 */

import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { hangUp, setUp } from './session.ts'

/** Gets the payload, or nothing when anything may have been missed. Must not throw. */
export type Listener = (payload: string | undefined) => void

export interface Subscription {
  stop(): Promise<void>
}

/** Hears of connections that break. */
export interface DatabaseLog {
  warn(fields: object, message: string): void
}

export interface ListenerSet {
  listen(channel: string, heard: Listener): Promise<Subscription>
  close(): Promise<void>
}

const backoffMs = { first: 100, largest: 2_000 }

/** How often the connection is asked whether it is there, and how long its answer may take. Milliseconds. */
export interface Heartbeat {
  readonly everyMs: number
  readonly patienceMs: number
}

const usualHeartbeat: Heartbeat = { everyMs: 3_000, patienceMs: 5_000 }

/** Connects with the first listener and stays connected until closed. `setup` is sent first. */
export function makeListener(
  config: pg.ClientConfig,
  setup: string,
  log: DatabaseLog,
  heartbeat = usualHeartbeat,
): ListenerSet {
  const set = new Listening(config, setup, log, heartbeat)
  return { listen: (channel, heard) => set.listen(channel, heard), close: () => set.close() }
}

class Listening {
  readonly #config: pg.ClientConfig
  readonly #setup: string
  readonly #log: DatabaseLog
  readonly #heartbeat: Heartbeat
  readonly #closing = new AbortController()
  readonly #listeners = new Map<string, Set<Listener>>()
  #client: pg.Client | undefined
  #running: Promise<void> | undefined

  constructor(config: pg.ClientConfig, setup: string, log: DatabaseLog, heartbeat: Heartbeat) {
    this.#config = config
    this.#setup = setup
    this.#log = log
    this.#heartbeat = heartbeat
  }

  /** Listens from now on. A connection that cannot be made yet is made later, by itself. */
  async listen(channel: string, heard: Listener): Promise<Subscription> {
    const known = this.#listeners.get(channel) ?? new Set()
    this.#listeners.set(channel, known.add(heard))
    this.#running ??= this.#run()
    const client = this.#client
    if (client && (await this.#hears(client, channel))) heard(undefined)
    const stop = async () => {
      known.delete(heard)
      if (known.size > 0 || this.#listeners.get(channel) !== known) return
      this.#listeners.delete(channel)
      if (this.#client) await this.#send(this.#client, 'unlisten', channel)
    }
    return { stop }
  }

  async close(): Promise<void> {
    this.#closing.abort()
    if (this.#client) endWithin(this.#client, this.#heartbeat.patienceMs)
    await this.#running
  }

  async #send(client: pg.Client, command: 'listen' | 'unlisten', channel: string): Promise<boolean> {
    return this.#carriesOut(client, `${command} ${pg.escapeIdentifier(channel)}`)
  }

  async #carriesOut(client: pg.Client, text: string): Promise<boolean> {
    const limited: pg.QueryConfig & { query_timeout: number } = {
      text,
      query_timeout: this.#heartbeat.patienceMs,
    }
    return client.query(limited).then(
      () => true,
      () => false,
    )
  }

  /** Until the connection has ended, which it has when it does not answer. */
  async #stayInTouch(client: pg.Client, hasEnded: AbortSignal): Promise<void> {
    while (!hasEnded.aborted) {
      await pause(this.#heartbeat.everyMs, undefined, { signal: hasEnded, ref: false }).catch(() => undefined)
      if (hasEnded.aborted || (await this.#carriesOut(client, 'select 1'))) continue
      return endWithin(client, 0)
    }
  }

  /** A connection that is deaf to one channel is ended, for it would stay so: the next one may hear. */
  async #hears(client: pg.Client, channel: string): Promise<boolean> {
    const hears = await this.#send(client, 'listen', channel)
    if (!hears) endWithin(client, this.#heartbeat.patienceMs)
    return hears
  }

  async #run(): Promise<void> {
    let wait = backoffMs.first
    while (!this.#closing.signal.aborted) {
      try {
        await this.#connection(() => {
          wait = backoffMs.first
        })
      } catch (error) {
        if (this.#closing.signal.aborted) return
        this.#log.warn({ error: String(error), retryInMs: wait }, 'not listening')
      }
      await pause(wait, undefined, { signal: this.#closing.signal }).catch(() => undefined)
      wait = Math.min(wait * 2, backoffMs.largest)
    }
  }

  /** One connection from its making to its end. */
  async #connection(made: () => void): Promise<void> {
    const client = new pg.Client({ ...this.#config, pipeline: true })
    const life = new AbortController()
    const ended = new Promise<void>((resolve) => client.once('end', () => resolve(life.abort())))
    client.on('error', () => undefined)
    client.on('notification', ({ channel, payload }) => {
      for (const heard of this.#listeners.get(channel) ?? []) heard(payload ?? '')
    })
    try {
      await client.connect()
      await setUp(client, this.#config, this.#setup)
    } catch (error) {
      client.end().catch(() => undefined)
      throw error
    }
    this.#client = client
    if (this.#closing.signal.aborted) endWithin(client, this.#heartbeat.patienceMs)
    const refused: string[] = []
    for (const [channel, listeners] of this.#listeners) {
      if (await this.#hears(client, channel)) for (const heard of listeners) heard(undefined)
      else refused.push(channel)
    }
    if (refused.length === 0) made()
    await Promise.all([ended, this.#stayInTouch(client, life.signal)])
    this.#client = undefined
    if (refused.length > 0) throw new Error(`the connection did not hear ${refused.join(', ')}`)
  }
}

/** Says goodbye, and hangs up on one that does not let go in time. */
function endWithin(client: pg.Client, patienceMs: number): void {
  const tooLate = setTimeout(() => hangUp(client), patienceMs)
  client.once('end', () => clearTimeout(tooLate))
  client.end().catch(() => undefined)
}
