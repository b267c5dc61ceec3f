/**
 * Notifications over one connection of its own. Delivery is at most once: while the connection is down nothing
 * is heard. Every listener is therefore also called without payload each time the connection is (re)made, the
 * first time included: it then looks for work by itself.
 */

import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { setUp } from './session.ts'

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

/** Connects with the first listener and stays connected until closed. `setup` is sent first. */
export function makeListener(config: pg.ClientConfig, setup: string, log: DatabaseLog): ListenerSet {
  const set = new Listening(config, setup, log)
  return { listen: (channel, heard) => set.listen(channel, heard), close: () => set.close() }
}

class Listening {
  readonly #config: pg.ClientConfig
  readonly #setup: string
  readonly #log: DatabaseLog
  readonly #closing = new AbortController()
  readonly #listeners = new Map<string, Set<Listener>>()
  #client: pg.Client | undefined
  #running: Promise<void> | undefined

  constructor(config: pg.ClientConfig, setup: string, log: DatabaseLog) {
    this.#config = config
    this.#setup = setup
    this.#log = log
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
    await this.#client?.end()
    await this.#running
  }

  async #send(client: pg.Client, command: 'listen' | 'unlisten', channel: string): Promise<boolean> {
    return client.query(`${command} ${pg.escapeIdentifier(channel)}`).then(
      () => true,
      () => false,
    )
  }

  /** A connection that is deaf to one channel is ended, for it would stay so: the next one may hear. */
  async #hears(client: pg.Client, channel: string): Promise<boolean> {
    const hears = await this.#send(client, 'listen', channel)
    if (!hears) client.end().catch(() => undefined)
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
    const ended = new Promise<void>((resolve) => client.once('end', () => resolve()))
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
    if (this.#closing.signal.aborted) await client.end()
    const refused: string[] = []
    for (const [channel, listeners] of this.#listeners) {
      if (await this.#hears(client, channel)) for (const heard of listeners) heard(undefined)
      else refused.push(channel)
    }
    if (refused.length === 0) made()
    await ended
    this.#client = undefined
    if (refused.length > 0) throw new Error(`the connection did not hear ${refused.join(', ')}`)
  }
}
