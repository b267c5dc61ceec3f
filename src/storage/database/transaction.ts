/**
 * One transaction on one connection. It begins in the packet of its first statements and commits in that of its
 * last ones, so that what need not be waited for costs no way to the server and back.
 */
import type pg from 'pg'
import { CommitUnknown, DatabaseUnavailable, isConnectionLoss, translate } from './failure.ts'
import { Packet, sendPacket } from './packet.ts'
import { makeSql, type Outcome, type Statement, type Transaction } from './sql.ts'

export interface TransactionOptions {
  readonly readOnly?: boolean
  /** Limit of one statement in milliseconds, instead of the database's own. */
  readonly statementTimeoutMs?: number
}

/** Milliseconds: what every connection has as its limit for a statement, and what is added before it counts as dead. */
export interface StatementLimits {
  readonly usualMs: number
  readonly graceMs: number
}

export type Acquire = () => Promise<pg.PoolClient>

/** Runs `work` between begin and commit. Throws what it throws, or why the database did not take it. */
export async function transactOnce<T>(
  acquire: Acquire,
  options: TransactionOptions,
  { usualMs, graceMs }: StatementLimits,
  work: (tx: Transaction) => Promise<T>,
): Promise<T> {
  const client = await acquire()
  const timeoutMs = options.statementTimeoutMs ?? usualMs
  const line = new Line(client, timeoutMs + graceMs, beginning(options, timeoutMs, usualMs))
  let broken = false
  try {
    const result = await work(line.transaction)
    await line.commit()
    return result
  } catch (error) {
    broken = error instanceof CommitUnknown || !(await line.rollback())
    throw error
  } finally {
    client.release(broken)
  }
}

const simple = (text: string): Statement => ({ name: '', text, values: [] })
/** Prepared under its own text. */
const fixed = (text: string): Statement => ({ name: text, text, values: [] })

function beginning(
  { readOnly = false }: TransactionOptions,
  timeoutMs: number,
  usualMs: number,
): Statement[] {
  const begin = fixed(`begin isolation level read committed ${readOnly ? 'read only' : 'read write'}`)
  // Every connection has the usual limit already.
  if (timeoutMs === usualMs) return [begin]
  return [begin, simple(`set local statement_timeout = ${Math.ceil(timeoutMs)}`)]
}

/** Statements of a transaction in the order in which they are sent; those of one turn go in one packet. */
class Line {
  readonly transaction: Transaction
  readonly #client: pg.PoolClient
  readonly #limitMs: number
  #ready: Promise<unknown> = Promise.resolve()
  readonly #lasts: (() => Promise<unknown>)[] = []
  #isReady = false
  #isOpen = true
  #packet: Packet | undefined
  #end: (() => void) | undefined

  constructor(client: pg.PoolClient, limitMs: number, beginning: readonly Statement[]) {
    this.#client = client
    this.#limitMs = limitMs
    this.#becomesReady(Promise.all(beginning.map((statement) => this.#add(statement))))
    this.transaction = {
      isTransaction: true,
      script: (text) => this.#script(text),
      ...makeSql((statement) => this.#execute(statement)),
      withCommit: async (send) => {
        this.#lasts.push(send)
      },
    }
  }

  /**
   * Sends what was to go last, and the commit behind it: if any of it fails, nothing is committed. A line may be
   * remembered longer than it is used (see `Packet`), so it keeps nothing of what it sent.
   */
  async commit(): Promise<void> {
    const lasts = this.#lasts.splice(0).map((send) => send())
    const [committed, ...others] = await Promise.allSettled([this.#commitBehind(lasts), ...lasts])
    if (committed.status === 'rejected' && isConnectionLoss(committed.reason))
      throw new CommitUnknown(String(committed.reason), { cause: committed.reason })
    const failed = [...others, committed].find((each) => each.status === 'rejected')
    if (failed) throw translate(failed.reason)
    // An aborted transaction answers COMMIT with ROLLBACK: some statement's failure was ignored.
    if (committed.status === 'fulfilled' && committed.value.command !== 'COMMIT')
      throw new Error('a failed statement was ignored: the transaction is rolled back')
  }

  /** The commit is the last statement of this turn, unless something has failed before it was sent. */
  #commitBehind(lasts: readonly Promise<unknown>[]): Promise<Outcome> {
    const failures: unknown[] = []
    for (const last of lasts) last.catch((error) => failures.push(error))
    return new Promise((resolve, reject) => {
      this.#end = () => {
        this.#end = undefined
        this.#isOpen = false
        if (failures.length > 0) reject(failures[0])
        else this.#add(fixed('commit')).then(resolve, reject)
      }
      this.#gather()
    })
  }

  /** What was not sent yet never is. False when the connection is of no use any more: broken, or silent for too long. */
  async rollback(): Promise<boolean> {
    this.#isOpen = false
    const unsent = this.#packet
    this.#packet = undefined
    unsent?.handleError(new DatabaseUnavailable('the transaction was rolled back before this was sent'))
    return this.#client.query(this.#limited('rollback')).then(
      () => true,
      () => false,
    )
  }

  /** A begin that is refused takes its packet with it; what comes later waits to hear that it was not. */
  #execute(statement: Statement): Promise<Outcome> {
    const send = () => this.#whileOpen(() => this.#add(statement))
    const sent = this.#isReady || this.#packet ? send() : this.#ready.then(send)
    return sent.catch((error) => {
      throw translate(error)
    })
  }

  async #whileOpen<T>(send: () => Promise<T>): Promise<T> {
    if (!this.#isOpen) throw new Error('a statement was sent after the end of its transaction')
    return send()
  }

  #add(statement: Statement): Promise<Outcome> {
    return this.#gather().add(statement)
  }

  /** The packet of this turn. */
  #gather(): Packet {
    if (this.#packet) return this.#packet
    const packet = new Packet(this.#limitMs, true)
    this.#packet = packet
    process.nextTick(() => {
      if (this.#packet !== packet) return
      this.#end?.()
      this.#flush()
    })
    return packet
  }

  #flush(): void {
    const packet = this.#packet
    this.#packet = undefined
    if (packet && !packet.isEmpty) sendPacket(this.#client, packet)
  }

  /** Several statements in one text have no parameters and a packet of their own. */
  #script(text: string): Promise<void> {
    return this.#alone(async () => {
      await this.#client.query(this.#limited(text))
    })
  }

  #limited(text: string): pg.QueryConfig & { query_timeout: number } {
    return { text, query_timeout: this.#limitMs }
  }

  /** What shares the connection with nothing: what was asked for earlier is sent before it, the rest behind it. */
  #alone(send: () => Promise<void>): Promise<void> {
    this.#flush()
    const sent = this.#ready.then(() => this.#whileOpen(send))
    this.#isReady = false
    this.#becomesReady(sent)
    return sent.catch((error) => {
      throw translate(error)
    })
  }

  /** Until then, what comes later waits. A failure is told to those who wait as well. */
  #becomesReady(sent: Promise<unknown>): void {
    this.#ready = sent
    sent.then(
      () => {
        if (this.#ready === sent) this.#isReady = true
      },
      () => undefined,
    )
  }
}
