/**
 * Who gets what of a subscriber's payment. Amounts are whole minor units as bigint; every split adds up to what
 * was paid, to the last cent, because the platform's part is what the others leave.
 */
import { type Decimal, dec } from '../decimal.ts'

/** What a period costs, and what the strategy's owner gets of the base price, in percent. */
export interface Price {
  readonly base: bigint
  /** Asked on top by the site that resells; its alone. */
  readonly markup: bigint
}

export interface Shares {
  readonly owner: bigint
  readonly site: bigint
  readonly platform: bigint
}

/** What the subscriber pays, in minor units. */
export const totalOf = ({ base, markup }: Price): bigint => base + markup

/** Minor units as decimal text: 4950 is 49.50. */
export const textOfCents = (cents: bigint | Decimal): string => dec(cents).div(100).toFixed(2)

/** What a provider collects in one payment, in minor units: of less or more it collects nothing. */
export interface Collected {
  readonly least: bigint
  readonly most: bigint
}

/** Whether one payment of it is made. */
export const isCollected = (amount: bigint, { least, most }: Collected): boolean =>
  amount >= least && amount <= most

/** The owner's share is rounded down, in the favour of none but the platform that carries the payment's cost. */
export function sharesOf({ base, markup }: Price, ownerPercent: number): Shares {
  const owner = (base * BigInt(ownerPercent)) / 100n
  return { owner, site: markup, platform: base - owner }
}

/** A part of an amount, rounded down: `part` of `whole` equal pieces. */
const portion = (amount: bigint, part: bigint, whole: bigint): bigint => (amount * part) / whole

/** What is left of a term that is paid: its worth from `at` to its end, rounded down. */
export function unusedOf(
  price: bigint,
  { from, to }: { readonly from: number; readonly to: number },
  at: number,
): bigint {
  if (at <= from) return price
  return at >= to ? 0n : portion(price, BigInt(to - at), BigInt(to - from))
}
