/**
 * Whether an account was traded by someone other than the platform. Every execution belongs to one sub-ledger
 * through its client order id; what has no id of ours, or a position that the sub-ledgers do not explain for longer
 * than the grace, is external. It switches AutoSync off; nothing is traded.
 */
import { type Decimal, sum } from '../decimal.ts'

export type ExternalReason = 'ExternalExecution' | 'PositionMismatch'

export type AccountActivity = {
  /** What every client order id of this environment starts with. */
  prefix: string
  /** Signed quantities of one symbol: the sub-ledgers, and what was accepted as external before. */
  ledgers: readonly Decimal[]
  brokerPosition: Decimal
  /** Client order ids of the executions seen; null where the broker gives none. */
  executions: readonly (string | null)[]
  /** Whether an order of ours was sent and not yet answered, or a market order is not yet complete. */
  isInFlight: boolean
  mismatchAgeSeconds: number
  graceSeconds: number
  ignoreManualOrders: boolean
}

/** Why AutoSync has to be switched off, or null. An external execution is named before a mismatch. */
export function externalActivity(activity: AccountActivity): ExternalReason | null {
  if (activity.ignoreManualOrders) return null
  const isOurs = (id: string | null): boolean => id?.startsWith(activity.prefix) ?? false
  if (!activity.executions.every(isOurs)) return 'ExternalExecution'
  const explained = sum(activity.ledgers)
  const isSettled = !activity.isInFlight && activity.mismatchAgeSeconds > activity.graceSeconds
  return isSettled && !explained.equals(activity.brokerPosition) ? 'PositionMismatch' : null
}
