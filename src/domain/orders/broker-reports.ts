/**
 * One account order as its broker's reports tell it. Reports arrive at least once and in any order; the result
 * depends on neither. Execution ids are the only truth about fills, and whatever was executed is booked. What the
 * broker's total claims beyond the known executions is missing; after a time-out it is booked as one inferred fill,
 * which the real ones replace when they arrive.
 */
import { isLive, type OrdStatus } from '../codes.ts'
import { type Decimal, max, min, zero } from '../decimal.ts'

export type ExecutionReport = {
  event: 'REPORT'
  /** null: a status without an id, never a duplicate. */
  execId: string | null
  ordStatus: OrdStatus
  cumQty: Decimal
  avgPx: Decimal | null
  /** 0 where the report is no fill. */
  lastQty: Decimal
  lastPx: Decimal
}

/** The missing executions were asked for and did not come. */
export type GapTimeout = { event: 'GAP_TIMEOUT' }

export type ReportedOrder = {
  status: OrdStatus
  filledQuantity: Decimal
  /** null while nothing is filled. */
  averagePrice: Decimal | null
  duplicates: number
  /** Claimed by the broker, neither known nor inferred. */
  missingQuantity: Decimal
  overfill: Decimal
  inferredQuantity: Decimal
}

/** Executions together: quantity, and quantity times price. */
export type Fills = { quantity: Decimal; amount: Decimal }
type Inferred = { quantity: Decimal; price: Decimal }
type Claim = { cumQty: Decimal; avgPx: Decimal | null; status: OrdStatus }

type Told = {
  known: Fills
  inferred: Inferred
  /** The highest total seen, with the status that stands at it. */
  claim: Claim
  /** A cancellation, expiry or rejection, whatever total it came with. */
  ended: OrdStatus | null
}

/** FIX 4.4 precedence of OrdStatus; the fractions settle ties, so that arrival order does not. */
const precedence: Record<OrdStatus, number> = {
  '6': 12,
  E: 11,
  '2': 8,
  '4': 5.1,
  C: 5,
  '5': 4.5,
  '1': 4,
  '0': 2.2,
  '8': 2.1,
  A: 2,
}

/** At one total a terminal status stands before a pending one, otherwise the higher precedence. */
function standing(one: OrdStatus, other: OrdStatus): OrdStatus {
  if (isLive(one) !== isLive(other)) return isLive(one) ? other : one
  return precedence[one] >= precedence[other] ? one : other
}

function claimed(claim: Claim, report: ExecutionReport): Claim {
  const { cumQty, avgPx, ordStatus: status } = report
  if (cumQty.greaterThan(claim.cumQty)) return { cumQty, avgPx, status }
  if (cumQty.lessThan(claim.cumQty)) return claim
  return { cumQty, avgPx: claim.avgPx ?? avgPx, status: standing(claim.status, status) }
}

function told(before: Told, report: ExecutionReport): Told {
  const { ordStatus, lastQty, lastPx } = report
  const known: Fills = {
    quantity: before.known.quantity.plus(lastQty),
    amount: before.known.amount.plus(lastQty.times(lastPx)),
  }
  const claim = claimed(before.claim, report)
  const unknown = max(zero, claim.cumQty.minus(known.quantity))
  const isEnd = ordStatus === '4' || ordStatus === 'C' || ordStatus === '8'
  return {
    known,
    inferred: { ...before.inferred, quantity: min(before.inferred.quantity, unknown) },
    claim,
    ended: isEnd ? standing(before.ended ?? ordStatus, ordStatus) : before.ended,
  }
}

/** What is missing, at the price that makes the average the reported one; null where nothing is. */
export function inferFill(known: Fills, cumQty: Decimal, avgPx: Decimal): Inferred | null {
  const quantity = cumQty.minus(known.quantity)
  if (!quantity.greaterThan(zero)) return null
  return { quantity, price: cumQty.times(avgPx).minus(known.amount).div(quantity) }
}

/** Books what is missing; without the reported average it stays missing. */
function inferMissing(before: Told): Told {
  const { known, claim, inferred } = before
  const missing = claim.avgPx === null ? null : inferFill(known, claim.cumQty, claim.avgPx)
  return missing?.quantity.greaterThan(inferred.quantity) ? { ...before, inferred: missing } : before
}

/** The status of what was told. A rejection of an order that has fills is a cancellation. */
function statusOf({ claim, ended }: Told, filled: Decimal, orderQuantity: Decimal): OrdStatus {
  if (filled.greaterThan(orderQuantity)) return '2'
  const status = ended ?? claim.status
  const isComplete = max(filled, claim.cumQty).greaterThanOrEqualTo(orderQuantity)
  if (isComplete) return status === '6' || status === 'E' || status === '5' ? status : '2'
  if (filled.isZero()) return status
  if (status === '8') return '4'
  return status === 'A' || status === '0' ? '1' : status
}

/** Folds all that the broker said of one order, in the order of arrival. */
export function foldReports(
  orderQuantity: Decimal,
  events: readonly (ExecutionReport | GapTimeout)[],
): ReportedOrder {
  const seen = new Set<string>()
  let duplicates = 0
  let state: Told = {
    known: { quantity: zero, amount: zero },
    inferred: { quantity: zero, price: zero },
    claim: { cumQty: zero, avgPx: null, status: 'A' },
    ended: null,
  }
  for (const event of events) {
    if (event.event === 'GAP_TIMEOUT') state = inferMissing(state)
    else if (event.execId !== null && seen.has(event.execId)) duplicates += 1
    else {
      if (event.execId !== null) seen.add(event.execId)
      state = told(state, event)
    }
  }
  const { known, inferred, claim } = state
  const filled = known.quantity.plus(inferred.quantity)
  const amount = known.amount.plus(inferred.quantity.times(inferred.price))
  return {
    status: statusOf(state, filled, orderQuantity),
    filledQuantity: filled,
    averagePrice: filled.isZero() ? null : amount.div(filled),
    duplicates,
    missingQuantity: max(zero, claim.cumQty.minus(filled)),
    overfill: max(zero, filled.minus(orderQuantity)),
    inferredQuantity: inferred.quantity,
  }
}
