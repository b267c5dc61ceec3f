/**
 * The performance fee on one setup: its gain since it began, measured by unit prices against the highest price at which
 * a fee was settled before. The fee is paid beside the account, so fees that were settled are taken off its gain. A
 * setup has no deposits of its own: what is paid into the account moves no gain. Who stops and starts again goes on from
 * the height that was settled before.
 */
import { type Decimal, max, one, zero } from '../decimal.ts'
import { applyFeeEvent, type FeeUnits, noFeeUnits } from './high-water-mark.ts'

/** How a setup stood when its fee was last settled. */
export interface SettledSetup {
  readonly holding: FeeUnits
  readonly capital: Decimal
  /** All fees so far. */
  readonly fees: Decimal
}

export interface FeeSettlement extends SettledSetup {
  /** In whole cents. */
  readonly fee: Decimal
}

export interface SetupGain {
  readonly startedEquity: Decimal
  /** By its executions and positions, since it began. */
  readonly gain: Decimal
  /** What the setup before it was short of its mark when it was last settled. */
  readonly shortfall?: Decimal
}

/** Settles the fee on a setup; `rate` is a fraction. With a rate of 0 gains pass free: they are not charged for later. */
export function settleFee(
  before: SettledSetup | null,
  { startedEquity, gain, shortfall = zero }: SetupGain,
  rate: Decimal,
): FeeSettlement {
  const { holding, capital, fees } = before ?? begun(startedEquity, shortfall)
  const value = capital.plus(gain).minus(fees)
  const valued = applyFeeEvent(holding, { type: 'value', value }, rate)
  const settled = applyFeeEvent(valued.holding, { type: 'crystallise' }, rate)
  const fee = settled.crystallisation?.fee ?? zero
  return { holding: settled.holding, capital, fees: fees.plus(fee), fee }
}

/** What there is to gain until a fee is due again. */
export const shortfallOf = ({ units, price, mark }: FeeUnits): Decimal =>
  max(zero, mark.minus(price).times(units))

/** A setup at its beginning. What its account was worth only scales its price: any capital gives the same fees. */
function begun(startedEquity: Decimal, shortfall: Decimal): SettledSetup {
  const capital = max(one, startedEquity)
  const { holding } = applyFeeEvent(noFeeUnits, { type: 'deposit', amount: capital }, zero)
  return { holding: { ...holding, mark: holding.mark.plus(shortfall.div(capital)) }, capital, fees: zero }
}
