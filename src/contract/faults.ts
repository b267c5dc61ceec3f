/** The faults found in one request: all of them up to a cap, each at its dotted path. */
import { type Fault, faultOf, type Refusal } from './errors.ts'

/** Grows while a request is read. */
export type Faults = Fault[]

/** Twenty are enough to see what is wrong; the rest is dropped. */
const faultsMax = 20

/** Notes a fault and answers undefined, the value of what was refused. */
export function fault(faults: Faults, refusal: Refusal, path: string, message?: string): undefined {
  if (faults.length < faultsMax) faults.push(faultOf(refusal, path, message))
}

/** Whether a fault stands at this path. */
export const isRefusedAt = (faults: Faults, path: string): boolean =>
  faults.some(({ FieldName }) => FieldName === path)

/** As `fault`, and nothing where the value was refused already. */
export function faultOnce(faults: Faults, refusal: Refusal, path: string, message?: string): undefined {
  if (!isRefusedAt(faults, path)) fault(faults, refusal, path, message)
}
