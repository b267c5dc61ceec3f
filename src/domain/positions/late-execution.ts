/**
 * An execution that is told only after dividends and splits which came after it: in the units of today, with what
 * its holder would have got had it been told in time. Quantities are signed.
 */
import { cents, type Decimal, dec, ledgerPlaces, roundTo } from '../decimal.ts'
import { type BookedSplit, priceAfter, unitsAfter } from './split.ts'

/**
 * How many times nearer to an execution in units of today than in those of then a correction must be to be read in the
 * former: one that is more, and dearer, than both is as far from both, but for what divisions leave.
 */
export const distinctly = dec('1.000001')

/** What was booked between an execution and its report. */
export type PassedAction =
  /** Per unit, in account currency. */
  | { readonly kind: 'dividend'; readonly amount: Decimal }
  /** `close`: what a unit was worth at the close before, in account currency. */
  | ({ readonly kind: 'split'; readonly close: Decimal } & BookedSplit)

/** What an action did to a ledger: what was held, what became of that, what was paid. */
export interface Adjustment {
  readonly before: Decimal
  readonly change: Decimal
  readonly cash: Decimal
}

export interface Traded {
  /** What the execution adds to the ledger. */
  readonly quantity: Decimal
  readonly price: Decimal
}

/** Both after the action, with the execution counted among what was held. */
export function passAction(
  { quantity, price }: Traded,
  action: PassedAction,
  adjusted: Adjustment,
): { readonly traded: Traded; readonly adjusted: Adjustment } {
  const before = adjusted.before.plus(quantity)
  if (action.kind === 'dividend') {
    const cash = adjusted.cash.plus(roundTo(quantity.times(action.amount), ledgerPlaces))
    return { traded: { quantity, price }, adjusted: { ...adjusted, before, cash } }
  }
  const { ratio, multiplies, close } = action
  const restated = priceAfter(price, ratio)
  if (!multiplies) return { traded: { quantity, price: restated }, adjusted: { ...adjusted, before } }
  const units = unitsAfter(before, ratio)
  const whole = units.trunc()
  const cash = cents(priceAfter(units.minus(whole).times(close), ratio))
  const held = adjusted.before.plus(adjusted.change)
  return {
    traded: { quantity: whole.minus(held), price: restated },
    adjusted: { before, change: whole.minus(before), cash },
  }
}
