/**
 * Runs calls: access first, then the handler. Reads see the database's short reads. A write gets a transaction
 * that also keeps its idempotency row, so effect and remembered answer commit together or not at all; a refused
 * write leaves nothing behind but its answer. Handlers that take many calls at once get those of one turn of
 * the event loop in one statement or transaction, and are answered after its commit.
 */
import {
  type CompiledRow,
  type Dialect,
  type HostName,
  type OperationName,
  type ParamsOf,
  type Row,
  rows,
} from '../contract/index.ts'
import type { Charging } from '../domain/positions/tables/commission-plans.ts'
import { createPasswords, type Passwords } from '../services/passwords.ts'
import { actAs, insertAuditNotes } from '../storage/database/audit-log.ts'
import type { Database } from '../storage/database/database.ts'
import { DatabaseUnavailable, isRepeatable } from '../storage/database/failure.ts'
import type { Sql, Transaction } from '../storage/database/sql.ts'
import { type Asked, checkAccess } from './access.ts'
import { actingOf, orderNotes } from './acting.ts'
import { type Admit, type Ask, admitAhead, admitFirst } from './ahead.ts'
import { type BatchLimits, type BatchLoad, batched, Overloaded } from './batch.ts'
import { type Caller, type Clock, type Context, isRefused, type Outcome, refuse } from './context.ts'
import { createDenials } from './denials.ts'
import type { Handler, HandlerTable, OwnedFacts, PreparedHandler } from './handler.ts'
import { asReplayed, remember, takeTurns } from './remember.ts'
import { type Reply, replyInTurns, replyTo, replyWith } from './reply.ts'
import { fingerprintOf, type Secrets } from './secrets.ts'
import { sayingSeldom } from './seldom.ts'

/** One call as the edge understood it: authenticated, well-formed, in range. */
interface Call {
  readonly operation: OperationName
  readonly compiled: CompiledRow
  readonly params: unknown
  readonly caller: Caller
  readonly host: HostName
  readonly dialect: Dialect
  /** Of the route; absent: 1. */
  readonly version?: 1 | 2
  readonly requestId: string
  readonly origin: string
  readonly idempotencyKey?: string | undefined
  /** Epoch milliseconds. */
  readonly ifModifiedSince?: number | undefined
}

export interface RunnerOptions {
  readonly db: Database
  readonly clock: Clock
  readonly handlers: HandlerTable
  readonly secrets: Secrets
  /** Code of this platform in its client order ids. */
  readonly environment: string
  readonly charging?: Charging
  /** Hears why calls could not be carried out for now; absent: whoever called is told. */
  readonly log?: { warn(fields: object, message: string): void }
  /** Raised as calls wait; absent: nobody looks. */
  readonly load?: Load
}

/** How much waits to be read and to be written. */
export type Load = Readonly<Record<'reads' | 'writes', BatchLoad>>

interface Parts extends RunnerOptions {
  readonly passwords: Passwords
}

export type Run = (call: Call) => Promise<Reply>

/** A call inside the runner, with the hash of what it asks for when it may be repeated. */
interface Prepared extends Call {
  readonly fingerprint?: Uint8Array
}

/** `facts` are what was asked ahead for exactly these calls. */
type Many = (sql: Sql, calls: readonly Asked[], facts?: OwnedFacts) => Promise<readonly Outcome<unknown>[]>

/** Reads that come while others are under way go together as one statement. */
const readLimits: BatchLimits = {
  sizeMax: 500,
  shareMin: 500,
  runningMax: 16,
  patienceMs: 3,
  waitingMax: 20_000,
}
/**
 * A batch has costs of its own, on both sides, and two at once of the same strategies wait for each other: a second one
 * is not begun while the first gets on, but for more than one can hold.
 */
const writeLimits: BatchLimits = {
  sizeMax: 256,
  shareMin: 256,
  runningMax: 4,
  patienceMs: 10,
  waitingMax: 5_000,
  isHasty: true,
}

/** A transaction that others got in the way of five times did nothing, and may do it later. */
const isOfTheDatabase = (error: unknown): boolean =>
  error instanceof DatabaseUnavailable || isRepeatable(error)

/** The reply to a failure that passes by itself; nothing for one that nobody expected. */
export function passingReply(error: unknown): Reply | undefined {
  if (isOfTheDatabase(error)) return replyTo(refuse('Disconnected'))
  return error instanceof Overloaded ? replyTo(refuse('Overloaded')) : undefined
}

/** The way of every call to its handler. Throws what nobody expected; everything else is a reply. */
export function createRunner(given: RunnerOptions): Run {
  const options = { passwords: createPasswords(given.secrets.passwords), ...given }
  const ways = new Map<OperationName, Run>()
  for (const name of Object.keys(rows) as OperationName[]) ways.set(name, wayOf(name, options))
  const enterDenied = createDenials(options.db.write, options.clock)
  const { log = { warn: () => undefined } } = options
  const sayAway = sayingSeldom(log, 'calls are answered 503, as the database did not do what they asked')
  return async (call) => {
    try {
      const reply = await (ways.get(call.operation) as Run)(call)
      if (reply.status === 403) await enterDenied(call)
      return reply
    } catch (error) {
      if (isOfTheDatabase(error)) sayAway(error)
      const reply = passingReply(error)
      if (reply) return reply
      throw error
    }
  }
}

/** Writes by their method that touch no row: without an idempotency key they need no transaction. */
const rowless: ReadonlySet<OperationName> = new Set(['Hello'])

const isShared = (error: unknown): boolean => error instanceof DatabaseUnavailable

function wayOf(name: OperationName, options: Parts): Run {
  const row = rows[name]
  const handler = options.handlers[name]
  if (row.unavailable) return async () => replyTo(refuse('OperationUnavailable'))
  if (handler === undefined) return async () => replyTo(refuse('NotOfferedYet'))
  if (typeof handler === 'function') return wayOfOne(name, options, handler as Handler<OperationName>)
  if ('prepare' in handler) return wayOfPrepared(options, handler as PreparedHandler<OperationName>)
  if ('recorded' in handler) {
    const many = oneByOne(handler.recorded as Handler<OperationName>)
    return (call) => options.db.transaction((tx) => runRecorded(options, tx, call, many))
  }
  const many = handler.many as Many
  const { load } = options
  if (row.method === 'GET')
    return batched((calls) => runReads(options, calls, many), isShared, readLimits, load?.reads)
  const admit = handler.ahead && admitAhead(row, handler.ahead as Ask)
  return batched((calls) => write(options, calls, many, admit), isShared, writeLimits, load?.writes)
}

function wayOfOne(name: OperationName, options: Parts, handler: Handler<OperationName>): Run {
  const many = oneByOne(handler)
  const reads: Run = async (call) => first(await runReads(options, [call], many))
  if (rows[name].method === 'GET') return reads
  const writes: Run = async (call) => first(await write(options, [call], undoingRefusals(many)))
  if (!rowless.has(name)) return writes
  return (call) => (call.idempotencyKey === undefined ? reads(call) : writes(call))
}

/** Rights are looked at twice: nobody makes us work who may not, and what counts is their state in the end. */
function wayOfPrepared(options: Parts, handler: PreparedHandler<OperationName>): Run {
  return async (call) => {
    const { read } = options.db
    const asked = asContexts(options, [call], read)
    const [verdict] = await checkAccess(read, rowOf([call]), asked)
    if (verdict !== undefined) return replyTo(verdict)
    const { ctx, params } = asked[0] as Asked
    const ready = await handler.prepare(ctx, params as ParamsOf<OperationName>)
    if (isRefused(ready)) return replyTo(ready)
    const many = oneByOne((own, asIs) => handler.run(own, asIs, ready))
    return first(await write(options, [call], undoingRefusals(many)))
  }
}

function write(
  options: Parts,
  calls: readonly Call[],
  effect: Many,
  admit = admitFirst(rowOf(calls)),
): Promise<Reply[]> {
  const ready = calls.map((call) => prepared(options, call))
  return options.db.transaction((tx) => runWrites(options, tx, ready, effect, admit))
}

function first<T>(list: readonly T[]): T {
  const [one] = list
  if (one === undefined) throw new Error('there is no call or no reply')
  return one
}

const oneByOne =
  (handler: Handler<OperationName>): Many =>
  (_, calls) =>
    Promise.all(calls.map(({ ctx, params }) => handler(ctx, params as ParamsOf<OperationName>)))

/** For one call at a time: what a refused handler has written is taken back, its claimed row stays. */
const undoingRefusals =
  (many: Many): Many =>
  async (sql, calls) => {
    // Not waited for: what is sent behind it stands behind it.
    const saved = sql.run`savepoint effect`
    const [outcomes] = await Promise.all([many(sql, calls), saved])
    if (outcomes.some(isRefused)) await sql.run`rollback to savepoint effect`
    return outcomes
  }

/**
 * The hash covers what was understood, so that blanks and the order of members make no other request. Another host or
 * version of the route does: it may do something else, as a start of Autotrade does, or answer in another shape.
 */
function prepared({ secrets }: Parts, call: Call): Prepared {
  if (call.idempotencyKey === undefined) return call
  const asked = `${call.host} v${call.version ?? 1} ${JSON.stringify(call.params, canonical)}`
  return { fingerprint: fingerprintOf(secrets, asked), ...call }
}

/** Integers beyond a double as text, members in the order of their names. */
function canonical(_: string, value: unknown): unknown {
  if (typeof value === 'bigint') return `${value}n`
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)))
}

const contextOf = (options: Parts, call: Call, sql: Sql, now: number): Context => ({
  sql,
  environment: options.environment,
  charging: options.charging ?? 'default',
  secrets: options.secrets,
  passwords: options.passwords,
  now,
  caller: call.caller,
  host: call.host,
  dialect: call.dialect,
  requestId: call.requestId,
  origin: call.origin,
  ifModifiedSince: call.ifModifiedSince,
})

/** A fault of shape that only the listing finds: like every other it is told before rights are looked at. */
const isWrongCursor = (outcome: Outcome<unknown>): boolean =>
  isRefused(outcome) && (outcome.refused === 'CursorInvalid' || outcome.refused === 'CursorExpired')

/** Equal questions of one moment are asked once, and their answer is given to all who asked. */
async function runReads(options: Parts, calls: readonly Call[], many: Many): Promise<Reply[]> {
  const { read } = options.db
  const { distinct, places } = distinctOf(calls)
  const outcomes = await outcomesOf(read, rowOf(calls), asContexts(options, distinct, read), many)
  const replies = distinct.map(({ compiled }, at) => replyInTurns(outcomes[at] as Outcome<unknown>, compiled))
  const made = replies.some((reply) => reply instanceof Promise) ? await Promise.all(replies) : replies
  return places.map((place) => made[place] as Reply)
}

/**
 * Reports on a whole site: they take so long, and are asked for so seldom, that nobody begins one without a right to
 * it. Other reads are short, and a wrong cursor of theirs is told before rights are looked at.
 */
const isReport = ({ access, paginated }: Row): boolean => access.rule === 'siteAdmin' && paginated !== true

/** What becomes of reads, in order. */
async function outcomesOf(
  read: Sql,
  row: Row,
  asked: readonly Asked[],
  many: Many,
): Promise<Outcome<unknown>[]> {
  if (isReport(row)) return decide(asked, await checkAccess(read, row, asked), many, read)
  // Sent together: what was read without a right to it is thrown away.
  const [verdicts, found] = await Promise.all([checkAccess(read, row, asked), many(read, asked)])
  return found.map((outcome, at) => (isWrongCursor(outcome) ? outcome : (verdicts[at] ?? outcome)))
}

/**
 * The distinct among the calls, and for each call the place of its own among them. The edge gives those who ask in the
 * same words the same parameters.
 */
function distinctOf(calls: readonly Call[]): { distinct: readonly Call[]; places: readonly number[] } {
  const known = new Map<unknown, number[]>()
  const distinct: Call[] = []
  const places = calls.map((call) => {
    const alike = known.get(call.params) ?? []
    const place = alike.find((at) => isEqual(distinct[at] as Call, call))
    if (place !== undefined) return place
    if (alike.push(distinct.length) === 1) known.set(call.params, alike)
    return distinct.push(call) - 1
  })
  return { distinct, places }
}

/** Of two calls with the same parameters object, and so of one route: whether they get the same answer. */
const isEqual = (one: Call, other: Call): boolean =>
  one.caller === other.caller &&
  one.origin === other.origin &&
  one.ifModifiedSince === other.ifModifiedSince &&
  one.compiled === other.compiled

/** A read that leaves a record is not begun without a right to it. */
async function runRecorded(options: Parts, tx: Transaction, call: Call, many: Many): Promise<Reply> {
  const asked = asContexts(options, [call], tx)
  const verdicts = await checkAccess(tx, rowOf([call]), asked)
  const [outcome] = await decide(asked, verdicts, many, tx)
  return replyWith(outcome as Outcome<unknown>, call.compiled)
}

/** Claims keys and checks access side by side, lets those act whose turn it is, remembers their answers. */
async function runWrites(
  options: Parts,
  tx: Transaction,
  calls: readonly Prepared[],
  many: Many,
  admit: Admit,
): Promise<Reply[]> {
  const now = options.clock.now()
  const asked = asContexts(options, calls, tx, now)
  const [turns, { verdicts, facts }] = await Promise.all([
    takeTurns(tx, calls, now, options.secrets),
    admit(tx, asked),
    // Calls of one batch have no name in common: what they do is entered call by call.
    calls.length === 1 && actAs(tx, actingOf(first(calls), now)),
  ])
  const places = calls.flatMap((call, at) => (turns.acting.has(call) ? [at] : []))
  const acting = places.map((at) => calls[at] as Prepared)
  const outcomes = await decide(
    places.map((at) => asked[at] as Asked),
    places.map((at) => verdicts[at]),
    // What was asked ahead fits when nobody is missing.
    (sql, going) => many(sql, going, going.length === calls.length ? facts : undefined),
    tx,
  )
  const made = new Map<Prepared, Reply>()
  acting.forEach((call, place) => {
    made.set(call, replyWith(outcomes[place] as Outcome<unknown>, call.compiled))
  })
  await tx.withCommit(() =>
    Promise.all([
      remember(tx, made, options.secrets),
      insertAuditNotes(tx, orderNotes(acting, outcomes, now)),
    ]),
  )
  return calls.map((call) => {
    const leader = turns.twins.get(call)
    const acted = leader && made.get(leader)
    const reply = acted ? asReplayed(acted) : (made.get(call) ?? turns.answered.get(leader ?? call))
    if (reply === undefined) throw new Error('a call lost its turn')
    return reply
  })
}

const asContexts = (options: Parts, calls: readonly Call[], sql: Sql, now = options.clock.now()): Asked[] =>
  calls.map((call) => ({ ctx: contextOf(options, call, sql, now), params: call.params }))

const rowOf = (calls: readonly Call[]) => rows[(calls[0] as Call).operation]

/** Refusals of access stay; the others are decided by the handler. Order is kept. */
async function decide(
  asked: readonly Asked[],
  verdicts: readonly (Outcome<unknown> | undefined)[],
  many: Many,
  sql: Sql,
): Promise<Outcome<unknown>[]> {
  const admitted = asked.filter((_, at) => verdicts[at] === undefined)
  const outcomes = admitted.length === 0 ? [] : await many(sql, admitted)
  if (outcomes.length !== admitted.length)
    throw new Error(`${admitted.length} calls got ${outcomes.length} outcomes`)
  let next = 0
  return asked.map((_, at) => verdicts[at] ?? (outcomes[next++] as Outcome<unknown>))
}
