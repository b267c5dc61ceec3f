/** The contract: one table of operations from which the edge, the handlers, the documents and clients derive. */

export { escaped } from '../domain/html.ts'
export { readableInstant } from '../domain/time.ts'
export { csvFormOf, listings } from './csv.ts'
export { faultEnvelope, type PageLinks, refusalAnswer } from './envelope.ts'
export { type Fault, faultOf, type Refusal } from './errors.ts'
export { hostFacts, type Route, routesOf } from './hosts.ts'
export { openApiOf } from './openapi.ts'
export { type Body, type CompiledRow, compileRow, type LongList, textOf } from './project.ts'
export type { Input } from './read.ts'
export { isSameDecimal } from './read-value.ts'
export { referencePage, referenceStyle } from './reference.ts'
export { type Access, type Row, takesBody } from './row.ts'
export { type Dialect, type HostName, hostNames, publicView } from './schema.ts'
export {
  type OperationName,
  type ParamsOf,
  type ResultOf,
  rows,
} from './table.ts'
