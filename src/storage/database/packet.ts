/**
 * Statements on their way to the server and back. Those of one packet go under one Sync: the server answers them
 * together, and behind a failure it skips the rest. What a connection has prepared once is neither parsed nor
 * described again. The driver's own queries are built one by one, with a Sync, a description and an answer each.
 */
import pg from 'pg'
import { type Column, makeRowReader, type RawRow, type RowReader } from './row-reader.ts'
import type { Outcome, Statement } from './sql.ts'

/** What the driver has below its clients, which its types do not tell. */
interface Connection {
  readonly stream: { cork(): void; uncork(): void }
  parse(statement: { name: string; text: string }): void
  bind(values: { statement: string; values: Statement['values'] }): void
  describe(what: { type: 'P' }): void
  execute(all: object): void
  close(what: { type: 'S'; name: string }): void
  sync(): void
}

const connectionOf = (client: pg.ClientBase): Connection =>
  (client as unknown as { connection: Connection }).connection

/**
 * What a connection knows of a statement: how its rows are read, that it has none, that it was sent and not yet
 * answered, or that it failed, perhaps before it was prepared.
 */
type Known = RowReader | 'rowless' | 'sent' | 'failed'

const knownBy = new WeakMap<Connection, Map<string, Known>>()

function knowledgeOf(connection: Connection): Map<string, Known> {
  const known = knownBy.get(connection) ?? new Map<string, Known>()
  knownBy.set(connection, known)
  return known
}

interface Sent {
  readonly statement: Statement
  readonly resolve: (outcome: Outcome) => void
  readonly reject: (error: unknown) => void
  read?: RowReader
  outcome?: Outcome
}

/** A query of the driver's with its lines to the server, which carries our statements. */
const Carrier = pg.Query as unknown as new (text: string) => object

const nothing = (): void => {}

/**
 * Statements that are sent as one. Their promises are settled one by one, in order. The timer of the driver's limit
 * remembers its packet after it is cleared, and hangs together with the timers of later ones in a way that the collector
 * of the young cannot undo: a packet that was answered lets go of its statements, or whole batches grow old in memory.
 */
export class Packet extends Carrier {
  /** The driver's limit: an answer that takes longer counts as a lost connection. Milliseconds. */
  readonly query_timeout: number
  /** Told by the driver's limit when it runs out; told by us that it need not wait any more. */
  callback: (error?: unknown) => void = nothing
  readonly #sent: Sent[] = []
  #known = new Map<string, Known>()
  #rows: unknown[] = []
  #at = 0

  readonly #isInTransaction: boolean

  constructor(limitMs: number, isInTransaction: boolean) {
    super('')
    this.query_timeout = limitMs
    this.#isInTransaction = isInTransaction
  }

  get isEmpty(): boolean {
    return this.#sent.length === 0
  }

  /** Takes a statement along; resolves when the server has carried it out. */
  add(statement: Statement): Promise<Outcome> {
    return new Promise((resolve, reject) => this.#sent.push({ statement, resolve, reject }))
  }

  submit(connection: Connection): null {
    this.#known = knowledgeOf(connection)
    connection.stream.cork()
    for (const sent of this.#sent) this.#send(connection, sent)
    connection.sync()
    connection.stream.uncork()
    return null
  }

  #send(connection: Connection, sent: Sent): void {
    const { name, text, values } = sent.statement
    const known = name === '' ? undefined : this.#known.get(name)
    if (known === 'failed') connection.close({ type: 'S', name })
    if (known === undefined || known === 'failed') {
      connection.parse({ name, text })
      this.#known.set(name, 'sent')
    }
    connection.bind({ statement: name, values })
    if (typeof known === 'function') sent.read = known
    else if (known !== 'rowless') connection.describe({ type: 'P' })
    connection.execute({})
  }

  handleRowDescription({ fields }: { fields: readonly Column[] }): void {
    const sent = this.#sent[this.#at]
    if (sent) sent.read = makeRowReader(fields)
  }

  handleDataRow({ fields }: { fields: RawRow }): void {
    const sent = this.#sent[this.#at]
    try {
      this.#rows.push(sent?.read?.(fields))
    } catch (error) {
      sent?.reject(error)
    }
  }

  handleCommandComplete({ text }: { text: string }): void {
    const sent = this.#sent[this.#at++]
    if (!sent) return
    this.#known.set(sent.statement.name, sent.read ?? 'rowless')
    const count = text.lastIndexOf(' ')
    sent.outcome = { rows: this.#rows, rowCount: count < 0 ? null : Number(text.slice(count)), command: text }
    this.#rows = []
  }

  handleEmptyQuery(): void {
    this.handleCommandComplete({ text: '' })
  }

  /** Outside a transaction even what was carried out is taken back: its own commit may be what failed. */
  handleError(error: unknown): void {
    this.callback(error)
    for (const { statement, outcome, resolve, reject } of this.#sent.splice(0)) {
      if (this.#known.get(statement.name) === 'sent') this.#known.set(statement.name, 'failed')
      if (outcome && this.#isInTransaction) resolve(outcome)
      else reject(error)
    }
  }

  handleReadyForQuery(): void {
    this.callback()
    for (const { outcome, resolve } of this.#sent.splice(0)) if (outcome) resolve(outcome)
  }
}

/** Sends a packet over a pipelined connection. */
export function sendPacket(client: pg.ClientBase, packet: Packet): void {
  sendTogether(connectionOf(client).stream)
  client.query(packet as unknown as pg.Submittable)
}

/** Sends one statement by itself. */
export function sendAlone(client: pg.ClientBase, statement: Statement, limitMs: number): Promise<Outcome> {
  const packet = new Packet(limitMs, false)
  const answer = packet.add(statement)
  sendPacket(client, packet)
  return answer
}

const gathering = new WeakSet<object>()

/** Holds what a connection sends until the end of this turn: a write costs more than building a statement. */
function sendTogether(stream: Connection['stream']): void {
  if (gathering.has(stream)) return
  gathering.add(stream)
  stream.cork()
  process.nextTick(() => {
    gathering.delete(stream)
    stream.uncork()
  })
}
