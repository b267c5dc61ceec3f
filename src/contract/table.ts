/**
 * The table of operations and the types derived from it. A handler map over `OperationName` does not compile
 * while a handler is missing.
 */
import { autotrade } from './autotrade.ts'
import { general } from './general.ts'
import type { Group, Row } from './row.ts'
import type { Members, ObjectOf, ReceivedOf, WrittenOf } from './schema.ts'
import { strategies } from './strategies.ts'

const table = { ...autotrade, ...general, ...strategies }

type Table = typeof table
export type OperationName = keyof Table
type ParamMembers<Op extends OperationName> = Table[Op] extends { params: infer M extends Members }
  ? M
  : never

/** All rows by name: 71 operations, three of them with two methods. */
export const rows: { readonly [Op in OperationName]: Row } = table
/** The same rows by the first part of their path. */
export const groups: Readonly<Record<Group, Readonly<Record<string, Row>>>> = {
  Autotrade: autotrade,
  General: general,
  Strategies: strategies,
}

/** What a handler gets. */
export type ParamsOf<Op extends OperationName> = ObjectOf<ParamMembers<Op>, 'read'>
/** One element of `Results` as a handler gives it; the boolean itself where the answer is bare. */
export type ResultOf<Op extends OperationName> = WrittenOf<Table[Op]['result']>
/** What a client sends, and one element of `Results` as it receives it. */
export type RequestOf<Op extends OperationName> = ObjectOf<ParamMembers<Op>, 'sent'>
export type AnswerOf<Op extends OperationName> = ReceivedOf<Table[Op]['result']>
/** The operations whose answer is a JSON boolean without the envelope. */
export type BareName = 'StartAutotrade' | 'StopAutotrade'
