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
  /** By its executions and positions, since it began. */
  readonly gain: Decimal
  /** What other setups of the account and strategy have gained or lost that is counted with this one. */
  readonly carried: Decimal
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
  /** What there is to gain until a fee is due, negative where one is due already; absent: as it was settled last. */
  readonly shortfall?: Decimal
}

/** Settles the fee on a setup; `rate` is a fraction. With a rate of 0 gains pass free: they are not charged for later. */
export function settleFee(
  before: SettledSetup | null,
  { startedEquity, gain, shortfall }: SetupGain,
  rate: Decimal,
): FeeSettlement {
  const { holding, capital, fees, ...last } = before ?? begun(startedEquity, shortfall ?? zero)
  // It was at this distance of its mark; what it is at another one now was moved by other setups.
  const known = shortfallOf(holding)
  const carried = last.carried.plus(before ? known.minus(shortfall ?? known) : zero)
  const value = capital.plus(carried).plus(gain).minus(fees)
  const valued = applyFeeEvent(holding, { type: 'value', value }, rate)
  const settled = applyFeeEvent(valued.holding, { type: 'crystallise' }, rate)
  const fee = settled.crystallisation?.fee ?? zero
  return { holding: settled.holding, capital, gain, carried, fees: fees.plus(fee), fee }
}

/** What there is to gain until a fee is due again. */
export const shortfallOf = ({ units, price, mark }: FeeUnits): Decimal =>
  max(zero, mark.minus(price).times(units))

/** A setup as it is found when its account and strategy are settled. */
export interface ChainedSetup {
  readonly before: SettledSetup | null
  readonly startedEquity: Decimal
  readonly gain: Decimal
  /** Else it has stopped and was settled since; what its gain has moved by was taken back, or given back. */
  readonly isDue: boolean
}

/**
 * Settles setups of one account and strategy, oldest first; `last` is the one that was settled last. Each goes on from
 * what the one before it was short of its mark. What was taken back counts with the first that is due: the settlement
 * of its own setup notes that it does, and asks for no fee.
 */
export function settleChain(
  last: SettledSetup | null,
  setups: readonly ChainedSetup[],
  rate: Decimal,
): FeeSettlement[] {
  let shortfall = last ? shortfallOf(last.holding) : zero
  for (const { isDue, before, gain } of setups)
    if (!isDue) shortfall = shortfall.minus(gain.minus(before?.gain ?? zero))
  return setups.map(({ isDue, before, ...facts }) => {
    if (!isDue) return settleFee(before, facts, zero)
    const settled = settleFee(before, { ...facts, shortfall }, rate)
    shortfall = shortfallOf(settled.holding)
    return settled
  })
}

/** A setup at its beginning. What its account was worth only scales its price: any capital gives the same fees. */
function begun(startedEquity: Decimal, shortfall: Decimal): SettledSetup {
  const capital = max(one, startedEquity)
  const { holding } = applyFeeEvent(noFeeUnits, { type: 'deposit', amount: capital }, zero)
  const mark = holding.mark.plus(shortfall.div(capital))
  return { holding: { ...holding, mark }, capital, gain: zero, carried: zero, fees: zero }
}
