/**
 * Messages on their way into the rows: in batches, in order, one batch after the other. The number up to which
 * everything is booked moves in the transaction that books it. A database that is away is waited for; whatever else
 * fails ends the connection, and what was not booked comes again at the next.
 */

import { type FixIntake, takeFixMessages } from '../../../storage/brokers/fix-sessions.ts'
import { DatabaseUnavailable } from '../../../storage/database/failure.ts'
import type { Lease } from '../../../storage/work/leases.ts'
import type { WorkContext } from '../../context.ts'
import { pause } from '../../leases.ts'
import { countRefusal } from '../../tally.ts'
import type { FixConnection } from './engine.ts'
import type { FixMessage } from './message.ts'

const retryPause = 200

export interface IntakeParts {
  /** The connection's name. */
  readonly name: string
  /** What is to be written of messages that arrived. */
  read(ctx: WorkContext, messages: readonly FixMessage[]): Promise<Omit<FixIntake, 'nextInbound'>>
  /** Hears of the same messages once that is written. */
  booked(messages: readonly FixMessage[]): void
}

interface Surroundings {
  readonly ctx: WorkContext
  readonly lease: Lease
  readonly held: AbortSignal
  readonly parts: IntakeParts
}

/** Books the session's messages in their order, one batch at a time. */
export class Intake {
  readonly #around: Surroundings
  #waiting: FixMessage[] = []
  #connection: FixConnection | undefined
  #work: Promise<void> = Promise.resolve()
  #isWorking = false
  /** The number to book up to has changed. */
  #isBehind = false
  #hasFailed = false

  constructor(around: Surroundings) {
    this.#around = around
  }

  /** Takes the next message of the session. */
  readonly take = (message: FixMessage): void => {
    this.#waiting.push(message)
    this.moved()
  }

  /** Books how far the session has come. */
  readonly moved = (): void => {
    this.#isBehind = true
    if (!this.#isWorking) this.#work = this.#bookAll()
  }

  /** Says which connection the messages come over. */
  follow(connection: FixConnection): void {
    this.#connection = connection
    if (this.#isBehind) this.moved()
  }

  /** Books the rest after the connection has ended; answers whether all of it is. */
  async finish(): Promise<boolean> {
    await this.#work
    this.moved()
    await this.#work
    return !this.#hasFailed
  }

  async #bookAll(): Promise<void> {
    const connection = this.#connection
    if (!connection) return
    this.#isWorking = true
    try {
      while (this.#isBehind && !this.#hasFailed) {
        const messages = this.#waiting
        this.#waiting = []
        this.#isBehind = false
        await this.#book(messages, connection.conversation.expected)
      }
    } catch (error) {
      this.#hasFailed = true
      const { ctx, parts } = this.#around
      countRefusal(ctx.tally, error)
      ctx.log.error({ error, connection: parts.name }, 'what a FIX session brought could not be booked')
      connection.cut()
    } finally {
      this.#isWorking = false
    }
  }

  async #book(messages: readonly FixMessage[], nextInbound: number): Promise<void> {
    const { ctx, lease, held, parts } = this.#around
    for (;;) {
      try {
        const written = messages.length > 0 ? await parts.read(ctx, messages) : { reports: [], incidents: [] }
        await takeFixMessages(ctx.db, lease, parts.name, { ...written, nextInbound })
        break
      } catch (error) {
        if (!(error instanceof DatabaseUnavailable) || held.aborted) throw error
        await pause(retryPause, held)
      }
    }
    parts.booked(messages)
  }
}
