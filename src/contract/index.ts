/** The contract: one table of operations from which the edge, the handlers, the documents and clients derive. */

export { envelope, faultEnvelope, type PageLinks, refusalAnswer } from './envelope.ts'
export { type ErrorStatus, type Fault, faultOf, type Refusal, refusals, statusNames } from './errors.ts'
export { type Route, routesOf } from './hosts.ts'
export { type Answer, type CompiledRow, compileRow, type Input, type Query } from './project.ts'
export { referencePage, referenceStyle } from './reference.ts'
export type { Access, Row, SiteKind } from './row.ts'
export { type Dialect, type HostName, hostNames, publicView } from './schema.ts'
export {
  type AnswerOf,
  type BareName,
  type OperationName,
  type ParamsOf,
  type RequestOf,
  type ResultOf,
  rows,
} from './table.ts'
