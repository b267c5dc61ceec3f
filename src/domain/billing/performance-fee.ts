/**
 * The performance fee on one setup: its gain since it began, measured by unit prices against the highest price at which
 * a fee was settled before. The fee is paid beside the account, so fees that were settled are taken off its gain. A
 * setup has no deposits of its own: what is paid into the account moves no gain. Who stops and starts again goes on from
 * the height that was settled before.
 */
import { type Decimal, max, one, zero } from '../decimal.ts'
import type { Instant } from '../time.ts'
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
  readonly before: (SettledSetup & { readonly settledAt: Instant }) | null
  readonly startedEquity: Decimal
  /** As it stands now. */
  readonly gain: Decimal
  /** To be settled; else it was, since it stopped and held no more. */
  readonly isDue: boolean
  /** Nothing that it holds or held is its holder's own: what its gain moves by was taken back of it, or given back. */
  readonly isClosed: boolean
}

/** Whether there may be something to settle: a setup that is due, or what passes free. */
export const mayBeSettled = (chain: readonly Pick<ChainedSetup, 'isDue'>[], rate: Decimal): boolean =>
  rate.isZero() || chain.some(({ isDue }) => isDue)

/**
 * Settles what there is to settle of one account and strategy. One of them carries it all, the youngest: what the others
 * gained and lost since they were settled counts with it, and their own settlements note that it does, and ask for no
 * fee. So a gain before a stop and a loss after it, in the same term, are one. Where none is due nothing is settled
 * unless gains pass free, at a rate of 0: then what was given back does, too.
 */
export function settleChain<Setup extends ChainedSetup>(
  chain: readonly Setup[],
  rate: Decimal,
): { setup: Setup; settlement: FeeSettlement; carries: boolean }[] {
  if (!mayBeSettled(chain, rate)) return []
  const found = chain.map((setup) => {
    const known = setup.before?.gain ?? zero
    const gain = setup.isDue || setup.isClosed ? setup.gain : known
    return { setup, gain, moved: gain.minus(known) }
  })
  const settled = found.filter(({ setup, moved }) => setup.isDue || !moved.isZero())
  const carrier = settled.at(-1)
  const last = chain.reduce<Setup | undefined>((a, b) => (settledAt(b) >= settledAt(a) ? b : a), undefined)
  const before = last?.before ? shortfallOf(last.before.holding) : zero
  const shortfall = settled.reduce((short, one) => (one === carrier ? short : short.minus(one.moved)), before)
  return settled.map((one) => {
    const { setup, gain } = one
    const carries = one === carrier
    const facts = { startedEquity: setup.startedEquity, gain, ...(carries && { shortfall }) }
    return { setup, settlement: settleFee(setup.before, facts, carries ? rate : zero), carries }
  })
}

const settledAt = (setup: ChainedSetup | undefined): Instant => setup?.before?.settledAt ?? 0

/** A setup at its beginning. What its account was worth only scales its price: any capital gives the same fees. */
function begun(startedEquity: Decimal, shortfall: Decimal): SettledSetup {
  const capital = max(one, startedEquity)
  const { holding } = applyFeeEvent(noFeeUnits, { type: 'deposit', amount: capital }, zero)
  const mark = holding.mark.plus(shortfall.div(capital))
  return { holding: { ...holding, mark }, capital, gain: zero, carried: zero, fees: zero }
}
