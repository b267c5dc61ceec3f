/**
 * What an operation's code looks like to the runner. Most operations are one function from a call to an
 * outcome; the hot ones take many calls of one tick at once and answer them from the same few statements.
 */
import type { OperationName, ParamsOf, ResultOf } from '../contract/index.ts'
import type { Sql } from '../storage/database/sql.ts'
import type { Context, Outcome, Refused } from './context.ts'

/** Loads, decides, saves; `ctx.sql` is the transaction of a write, short reads otherwise. */
export type Handler<Op extends OperationName> = (
  ctx: Context,
  params: ParamsOf<Op>,
) => Promise<Outcome<ResultOf<Op>>>

export interface OperationCall<Op extends OperationName> {
  ctx: Context
  params: ParamsOf<Op>
}

/** Facts that tell whose the strategies are. */
export interface OwnedFacts {
  readonly strategies: ReadonlyMap<number, { readonly ownerPersonId: number }>
}

/** One outcome per call, in order. All calls share `sql`. */
export interface BatchHandler<Op extends OperationName, Facts extends OwnedFacts = OwnedFacts> {
  /**
   * Of a write of strategy owners: what `many` would begin with, asked for at once for calls that most likely have
   * the right, which it also tells. It goes to `many` when all of these calls may go on; otherwise it is thrown away.
   */
  ahead?(sql: Sql, calls: readonly OperationCall<Op>[]): Promise<Facts> | undefined
  many(sql: Sql, calls: readonly OperationCall<Op>[], facts?: Facts): Promise<Outcome<ResultOf<Op>>[]>
}

/**
 * For a write with work that is slow and needs few rows, such as hashing a password: it is done before the
 * transaction, after a first look at the rights. What it refuses is not remembered.
 */
export interface PreparedHandler<Op extends OperationName> {
  prepare(ctx: Context, params: ParamsOf<Op>): Promise<string | Refused>
  /** As a handler; `ready` is what was prepared. */
  run(ctx: Context, params: ParamsOf<Op>, ready: string): Promise<Outcome<ResultOf<Op>>>
}

/** For a read that leaves a record: it runs in a transaction that writes, and is answered after its commit. */
export interface RecordedHandler<Op extends OperationName> {
  recorded: Handler<Op>
}

export type AnyHandler<Op extends OperationName> =
  | Handler<Op>
  | BatchHandler<Op>
  | PreparedHandler<Op>
  | RecordedHandler<Op>

/** Described as unavailable by the interface itself. */
type Unavailable = 'UpdateProfile' | 'UpdateStrategy'

/** Every operation that is offered: with one missing this does not compile. */
export type Handlers = { readonly [Op in Exclude<OperationName, Unavailable>]: AnyHandler<Op> }

/** As the runner takes them: what has no handler answers that it is not offered yet. */
export type HandlerTable = { readonly [Op in OperationName]?: AnyHandler<Op> }
