/**
 * The contract: one table of operations, and the types derived from it. A handler map over `OperationName`
 * does not compile while a handler is missing.
 */
import { autotrade } from './autotrade.ts'
import { general } from './general.ts'
import type { Row } from './row.ts'
import type { Members, ObjectOf, ReceivedOf, WrittenOf } from './schema.ts'
import { strategies } from './strategies.ts'

export const groups = { Autotrade: autotrade, General: general, Strategies: strategies }
const table = { ...autotrade, ...general, ...strategies }

type Table = typeof table
export type OperationName = keyof Table
type ParamMembers<Op extends OperationName> = Table[Op] extends { params: infer M extends Members }
  ? M
  : never

/** All rows by name: 71 operations, three of them with two methods. */
export const rows: { readonly [Op in OperationName]: Row } = table

/** What a handler gets. */
export type ParamsOf<Op extends OperationName> = ObjectOf<ParamMembers<Op>, 'read'>
/** One element of `Results` as a handler gives it; the boolean itself where the answer is bare. */
export type ResultOf<Op extends OperationName> = WrittenOf<Table[Op]['result']>
/** What a client sends, and one element of `Results` as it receives it. */
export type RequestOf<Op extends OperationName> = ObjectOf<ParamMembers<Op>, 'sent'>
export type AnswerOf<Op extends OperationName> = ReceivedOf<Table[Op]['result']>

export { envelope, faultEnvelope, type PageLinks, refusalAnswer } from './envelope.ts'
export { type ErrorStatus, type Fault, faultOf, type Refusal, refusals } from './errors.ts'
export type { Access, Row, SiteKind } from './row.ts'
export { type Dialect, type HostName, hostNames, publicView } from './schema.ts'
