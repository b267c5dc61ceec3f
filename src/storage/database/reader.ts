/**
 * Short reads over a few pipelined connections: statements are sent without waiting for earlier answers, so
 * one connection carries many readers. The connections are read-only, hence a read whose connection broke may
 * be sent once more. Not for slow statements: those behind one on the same connection wait for it.
 */

import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { DatabaseUnavailable, isConnectionLoss, translate, unconnected } from './failure.ts'
import { sendAlone } from './packet.ts'
import { hangUp, setUp } from './session.ts'
import type { Execute, Outcome, Statement } from './sql.ts'

const retryMs = 50

export interface Reader {
  readonly execute: Execute
  close(): Promise<void>
  /** Ends what `close` still waits for. */
  hangUp(): void
}

interface Settings {
  readonly client: pg.ClientConfig
  readonly connections: number
  /** Session settings, sent first on every connection. */
  readonly setup: string
  /** How long a statement may wait for a connection. */
  readonly waitMs: number
  /** Whether the database let us in before. */
  readonly wasOpen: () => boolean
  /** How long it may then take until the connection counts as dead. */
  readonly answerMs: number
}

/** Opens nothing yet: connections are made when needed and made again when they break. */
export function makeReader(settings: Settings): Reader {
  const lanes = Array.from({ length: settings.connections }, () => new Lane(settings))
  const idlest = () => lanes.reduce((best, lane) => (lane.busy < best.busy ? lane : best))
  const execute = (statement: Statement): Promise<Outcome> =>
    idlest()
      .execute(statement)
      .catch((error) => {
        throw translate(error)
      })
  const close = async () => {
    await Promise.all(lanes.map((lane) => lane.close()))
  }
  const leave = (): void => {
    for (const lane of lanes) lane.hangUp()
  }
  return { execute, close, hangUp: leave }
}

class Lane {
  busy = 0
  readonly #settings: Settings
  #client: Promise<pg.Client> | undefined
  #connected: pg.Client | undefined
  #closed = false

  constructor(settings: Settings) {
    this.#settings = settings
  }

  async execute(statement: Statement): Promise<Outcome> {
    this.busy++
    try {
      const client = this.#connected ?? (await this.#ready())
      return await sendAlone(client, statement, this.#settings.answerMs).catch(async (error) => {
        if (!isConnectionLoss(error)) throw error
        this.#forget(client)
        return sendAlone(await this.#ready(), statement, this.#settings.answerMs)
      })
    } finally {
      this.busy--
    }
  }

  async close(): Promise<void> {
    this.#closed = true
    const client = await this.#client?.catch(() => undefined)
    await client?.end()
  }

  hangUp(): void {
    if (this.#connected) hangUp(this.#connected)
  }

  #ready(): Promise<pg.Client> {
    this.#client ??= this.#connect()
    return this.#client
  }

  /** The next statement gets a new connection; a broken one may still look alive for a moment. */
  #forget(client: pg.Client): void {
    if (this.#connected !== client) return
    this.#connected = undefined
    this.#client = undefined
    client.end().catch(() => undefined)
  }

  async #connect(): Promise<pg.Client> {
    const until = performance.now() + this.#settings.waitMs
    for (;;) {
      try {
        if (this.#closed) throw new DatabaseUnavailable('the database was closed')
        return await this.#open()
      } catch (error) {
        const failure = unconnected(error, this.#settings.wasOpen())
        if (
          this.#closed ||
          !(failure instanceof DatabaseUnavailable) ||
          performance.now() + retryMs > until
        ) {
          this.#client = undefined
          throw failure
        }
      }
      await pause(retryMs)
    }
  }

  async #open(): Promise<pg.Client> {
    const client = new pg.Client({ ...this.#settings.client, pipeline: true })
    client.on('error', () => this.#forget(client))
    client.on('end', () => this.#forget(client))
    const setup = `${this.#settings.setup}; set default_transaction_read_only = on`
    try {
      await client.connect()
      await setUp(client, this.#settings.client, setup)
    } catch (error) {
      // The server waits for what the driver will not say, and counts the connection meanwhile.
      client.end().catch(() => undefined)
      throw error
    }
    this.#connected = client
    return client
  }
}
