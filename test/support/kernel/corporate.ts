/** Corporate actions over plain JSON. Short positions, orders without prices and flat positions are written as null or 0. */
import type { OrdStatus } from '../../../src/domain/codes.ts'
import { type Decimal, dec, zero } from '../../../src/domain/decimal.ts'
import type { Settlement } from '../../../src/domain/market/instrument.ts'
import { expireOption } from '../../../src/domain/positions/option-expiry.ts'
import type { PositionFill } from '../../../src/domain/positions/position.ts'
import { splitOrder, splitPosition } from '../../../src/domain/positions/split.ts'
import { oneOf, putOrCallOf, statusOf } from './codes.ts'
import { type Num, optional, print, printOptional } from './numbers.ts'
import type { KernelOp } from './types.ts'

interface SplitInput {
  position: Num | { quantity: Num; avgPx?: Num | null }
  quantity?: Num
  avgPx?: Num | null
  new: Num
  old: Num
  previousClose?: Num | null
  tick?: Num | null
  orders?: {
    id: string | number
    status?: OrdStatus
    leaves: Num
    limit?: Num | null
    stop?: Num | null
  }[]
}

/** A ratio of nothing would leave no price and no quantity that is a number. */
function positive(member: string, given: Num): Decimal {
  const value = dec(given)
  if (value.greaterThan(zero)) return value
  throw new Error(`${member} is ${given}; a ratio is positive`)
}

function split(input: SplitInput) {
  const ratio = { new: positive('new', input.new), old: positive('old', input.old) }
  const held =
    typeof input.position === 'object' ? input.position : { quantity: input.position, avgPx: input.avgPx }
  const avgPx = optional(held.avgPx)
  const position = { quantity: dec(held.quantity), avgPx, avgCost: avgPx }
  const after = splitPosition(position, ratio, dec(input.previousClose ?? 0))
  if (after.fraction && input.previousClose === undefined) throw new Error('previousClose is missing')
  const orders = (input.orders ?? []).map(({ id, status = '0', leaves, limit, stop }) =>
    splitOrder(
      { id, status: statusOf(status), leaves: dec(leaves), limitPx: optional(limit), stopPx: optional(stop) },
      ratio,
      dec(input.tick ?? '0.01'),
    ),
  )
  return {
    quantity: print(after.position.quantity),
    avgPx: printOptional(after.position.avgPx),
    cashInLieu: print(after.cashInLieu),
    fractionSold: after.fraction ? print(after.fraction.quantity) : 0,
    fractionPrice: after.fraction && print(after.fraction.price),
    orders: orders.map(({ id, status, leaves, limitPx, stopPx }) => ({
      id,
      status,
      leaves: print(leaves),
      limit: printOptional(limitPx),
      stop: printOptional(stopPx),
    })),
  }
}

interface ExpiryInput {
  quantity: Num
  right: string | number
  strike: Num
  underlyingClose: Num
  settlement?: Settlement | null
  pointValue?: Num | null
}

function optionExpiry(input: ExpiryInput) {
  const { exercised, option, underlying } = expireOption({
    quantity: dec(input.quantity),
    putOrCall: putOrCallOf(input.right),
    strike: dec(input.strike),
    underlyingClose: dec(input.underlyingClose),
    settlement: oneOf('settlement', input.settlement ?? 'physical', ['physical', 'cash']),
    pointValue: dec(input.pointValue ?? 100),
  })
  return { exercised, fills: [...printFill('OPTION', option), ...printFill('UNDERLYING', underlying)] }
}

const printFill = (symbol: string, fill: PositionFill | null) =>
  fill ? [{ symbol, side: fill.side, qty: print(fill.quantity), price: print(fill.price) }] : []

export const corporateOps: Record<string, KernelOp> = {
  'corporate.split': split,
  'corporate.optionExpiry': optionExpiry,
}
