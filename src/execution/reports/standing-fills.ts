/**
 * The executions of orders that still count, while a batch of reports is applied: what inferred fills are made from
 * and give way to. Inferred are never more than the broker's total has above the executions that were told.
 */

import type { Side } from '../../domain/codes.ts'
import { type Decimal, dec, ledgerPlaces, max, roundTo, sum, zero } from '../../domain/decimal.ts'
import { type Fills, inferFill } from '../../domain/orders/broker-reports.ts'
import type { InLast } from '../../domain/orders/order-chain.ts'
import type { Instant } from '../../domain/time.ts'
import type { StandingExecution } from '../../storage/brokers/inferred-fills.ts'
import type { BookedExecution } from '../../storage/brokers/reports.ts'

export interface StandingFill extends InLast {
  readonly orderId: number
  readonly execId: string
  readonly side: Side
  readonly quantity: Decimal
  readonly px: Decimal
  readonly isInferred: boolean
  readonly at: Instant
  /** As it was booked before this batch. */
  readonly known: BookedExecution | null
}

/** A booked execution as one that stands. */
export const standingFill = (row: StandingExecution): StandingFill => {
  const { orderId, execId, side, isInferred, at, inLast } = row
  return {
    orderId,
    execId,
    side,
    isInferred,
    at,
    inLast,
    quantity: dec(row.quantity),
    px: dec(row.px),
    known: row,
  }
}

const sumOf = (fills: readonly StandingFill[]): Fills => ({
  quantity: sum(fills.map(({ quantity }) => quantity)),
  amount: sum(fills.map(({ quantity, px }) => quantity.times(px))),
})

/** The one fill that takes the place of all inferred ones of an order, by the broker's total; null where nothing is new. */
export function inferred(
  fills: readonly StandingFill[],
  cumQty: Decimal,
  avgPx: Decimal,
): { quantity: Decimal; price: Decimal } | null {
  const missing = inferFill(sumOf(fills.filter(({ isInferred }) => !isInferred)), cumQty, avgPx)
  const before = sumOf(fills.filter(({ isInferred }) => isInferred)).quantity
  if (!missing?.quantity.greaterThan(before)) return null
  return { quantity: missing.quantity, price: roundTo(missing.price, ledgerPlaces) }
}

/**
 * How much of an execution has been inferred before, at most: all of it but what its broker's count, with it, has above
 * what is booked of the order and those it replaced. A broker that counts less, or not at all, says of none that it is
 * new: what is then booked too little comes with its next total.
 */
export function foretold(quantity: Decimal, booked: Decimal, cumQty: Decimal | null): Decimal {
  if (cumQty === null) return quantity
  return max(zero, quantity.minus(max(zero, cumQty.minus(booked))))
}

/** Which of these inferred fills an execution of this quantity replaces, oldest first, and what is left of each. */
export function replacedBy(
  fills: readonly StandingFill[],
  quantity: Decimal,
): { fill: StandingFill; rest: Decimal }[] {
  let left = quantity
  return fills.flatMap((fill) => {
    if (!left.greaterThan(zero)) return []
    const rest = max(zero, fill.quantity.minus(left))
    left = left.minus(fill.quantity)
    return [{ fill, rest }]
  })
}
