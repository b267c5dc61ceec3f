/**
 * Operations whose code comes later. They check the request like all others and answer that they are not
 * offered yet. An operation that is neither here nor in the handler map does not compile.
 */
import type { OperationName } from '../contract/index.ts'

export const operationsToCome = [
  // The track record
  // Orders: the rest
  // Autotrade: the rest
  // People, money and partner sites
  'GetStrategyMuxStatus',
] as const satisfies readonly OperationName[]

/** Described as unavailable by the interface itself. */
type Unavailable = 'UpdateProfile' | 'UpdateStrategy'

export type OfferedOperation = Exclude<OperationName, (typeof operationsToCome)[number] | Unavailable>
