/**
 * What an option position becomes at the official close of its last trading day: delivered, paid, or
 * worthless. Every outcome closes the option; assignment never comes earlier, and no commission is charged.
 */
import { oppositeOf, type PutOrCall, type Side } from '../codes.ts'
import { type Decimal, dec, quantityPlaces, roundTo, zero } from '../decimal.ts'
import type { Settlement } from '../market/instrument.ts'
import type { PositionFill } from './position.ts'

/** The clearing house exercises what is in the money by a cent or more. */
const exerciseFrom = dec('0.01')

export interface ExpiringOption {
  /** Signed contracts. */
  readonly quantity: Decimal
  readonly putOrCall: PutOrCall
  readonly strike: Decimal
  readonly pointValue: Decimal
  readonly settlement: Settlement
  /** Official close of the underlying; for morning-settled index options the exchange's settlement value. */
  readonly underlyingClose: Decimal
}

export interface OptionExpiry {
  readonly exercised: boolean
  /** Null where no option was held. */
  readonly option: PositionFill | null
  /** What is delivered at the strike: contracts times point value in units of the underlying. */
  readonly underlying: PositionFill | null
}

/** Exercise, assignment or expiry of one option position. */
export function expireOption(held: ExpiringOption): OptionExpiry {
  const { quantity, strike, underlyingClose, settlement } = held
  if (quantity.isZero()) return { exercised: false, option: null, underlying: null }
  const isCall = held.putOrCall === '1'
  const intrinsic = isCall ? underlyingClose.minus(strike) : strike.minus(underlyingClose)
  const exercised = intrinsic.greaterThanOrEqualTo(exerciseFrom)
  const contracts = quantity.abs()
  const closing: Side = quantity.isNegative() ? '1' : '2'
  const isPaid = exercised && settlement === 'cash'
  return {
    exercised,
    option: { side: closing, quantity: contracts, price: isPaid ? intrinsic : zero },
    underlying:
      exercised && settlement === 'physical'
        ? // Calls are closed against the delivery, puts with it: a long call sells the option and buys the stock.
          {
            side: isCall ? oppositeOf(closing) : closing,
            // Two thirds of a hundred are kept rounded: three such contracts are 200 all the same.
            quantity: roundTo(contracts.times(held.pointValue), quantityPlaces),
            price: strike,
          }
        : null,
  }
}
