/**
 * Performance fee by unit prices: money put in buys units at the current price, money taken out sells them,
 * and a fee is due on what the price gained above its mark. Only a crystallisation moves the mark, and only
 * up; losses, deposits and withdrawals never do.
 */
import { cents, type Decimal, exactPlaces, max, one, roundTo, zero } from '../decimal.ts'

/** A new holder starts at price 1 with the mark there. */
export interface FeeUnits {
  readonly units: Decimal
  /** Account currency per unit. */
  readonly price: Decimal
  readonly mark: Decimal
}

export type FeeEvent =
  /** Money put in or taken out, above zero. A withdrawal takes at most what is left after the fee. */
  | { readonly type: 'deposit' | 'withdraw'; readonly amount: Decimal }
  /** What all units are worth now. */
  | { readonly type: 'value'; readonly value: Decimal }
  /** The end of a fee period. */
  | { readonly type: 'crystallise' }

export interface Crystallisation {
  /** In whole cents. */
  readonly fee: Decimal
  /** What all units are worth once the fee is paid. */
  readonly valueAfter: Decimal
  readonly highWaterMarkPerUnit: Decimal
}

export interface FeeStep {
  readonly holding: FeeUnits
  /** Null when the event settled no fee. */
  readonly crystallisation: Crystallisation | null
}

export const noFeeUnits: FeeUnits = { units: zero, price: one, mark: one }

/**
 * The holding after one event. `rate` is the fee's share of a gain, a fraction. Above the mark a deposit and a
 * withdrawal settle the fee first: nobody pays for gains made before his money came or leaves without paying.
 */
export function applyFeeEvent(holding: FeeUnits, event: FeeEvent, rate: Decimal): FeeStep {
  switch (event.type) {
    case 'value':
      return { holding: revalue(holding, event.value), crystallisation: null }
    case 'crystallise':
      return crystallise(holding, rate)
    case 'deposit':
    case 'withdraw': {
      const move = event.type === 'deposit' ? buyUnits : sellUnits
      if (!isAboveMark(holding)) return { holding: move(holding, event.amount), crystallisation: null }
      const settled = crystallise(holding, rate)
      return { ...settled, holding: move(settled.holding, event.amount) }
    }
  }
}

const worth = ({ units, price }: FeeUnits): Decimal => roundTo(units.times(price), exactPlaces)

const isAboveMark = ({ units, price, mark }: FeeUnits): boolean =>
  roundTo(price.minus(mark).times(units), exactPlaces).greaterThan(0)

const revalue = (holding: FeeUnits, value: Decimal): FeeUnits =>
  holding.units.isZero() ? holding : { ...holding, price: value.div(holding.units) }

/** fee = rate * max(0, price - mark) * units; the price falls by the fee per unit and is the new mark. */
function crystallise(holding: FeeUnits, rate: Decimal): FeeStep {
  if (!isAboveMark(holding)) {
    const { mark } = holding
    return { holding, crystallisation: { fee: zero, valueAfter: worth(holding), highWaterMarkPerUnit: mark } }
  }
  const { units, price, mark } = holding
  const fee = cents(price.minus(mark).times(units).times(rate))
  const valueAfter = worth(holding).minus(fee)
  const lowered = price.minus(fee.div(units))
  return {
    holding: { units, price: lowered, mark: lowered },
    crystallisation: { fee, valueAfter, highWaterMarkPerUnit: lowered },
  }
}

/** Units that are worth nothing buy nothing more: what is left after the deposit starts again at the mark. */
function buyUnits(holding: FeeUnits, amount: Decimal): FeeUnits {
  const { units, price, mark } = holding
  if (price.greaterThan(0)) return { ...holding, units: units.plus(amount.div(price)) }
  const value = worth(holding).plus(amount)
  return value.greaterThan(0) ? { units: value.div(mark), price: mark, mark } : revalue(holding, value)
}

/** Of a value at or below zero there is nothing to take. */
function sellUnits(holding: FeeUnits, amount: Decimal): FeeUnits {
  const left = max(zero, worth(holding).minus(amount))
  return holding.price.greaterThan(0) ? { ...holding, units: left.div(holding.price) } : holding
}
