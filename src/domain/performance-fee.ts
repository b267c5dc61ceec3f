/**
 * The performance fee on one setup: its gain since it began, measured by unit prices against the highest price at which
 * a fee was settled before. The fee is paid beside the account, so fees that were settled are taken off its gain. A
 * setup has no deposits of its own: what is paid into the account moves no gain.
 */
import { type Decimal, max, one, zero } from './decimal.ts'
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

/**
 * Settles the fee on a setup whose executions and positions have gained `gain` since it began; `rate` is a fraction.
 * With a rate of 0 gains pass free: they are not charged for later.
 */
export function settleFee(
  before: SettledSetup | null,
  { startedEquity, gain }: { readonly startedEquity: Decimal; readonly gain: Decimal },
  rate: Decimal,
): FeeSettlement {
  const { holding, capital, fees } = before ?? begun(startedEquity)
  const value = capital.plus(gain).minus(fees)
  const valued = applyFeeEvent(holding, { type: 'value', value }, rate)
  const settled = applyFeeEvent(valued.holding, { type: 'crystallise' }, rate)
  const fee = settled.crystallisation?.fee ?? zero
  return { holding: settled.holding, capital, fees: fees.plus(fee), fee }
}

/** A setup at its beginning. What its account was worth only scales its price: any capital gives the same fees. */
function begun(startedEquity: Decimal): SettledSetup {
  const capital = max(one, startedEquity)
  const { holding } = applyFeeEvent(noFeeUnits, { type: 'deposit', amount: capital }, zero)
  return { holding, capital, fees: zero }
}
