/**
 * Exact numbers. Prices, quantities, money and percentages are decimals from the edge to the database;
 * doubles appear in statistics and in the JSON text only. One configured constructor serves the whole
 * domain: 40 significant digits are more than what is entered ever needs, a price times a quantity.
 */
import { Decimal as DecimalJs } from 'decimal.js'

export const Decimal = DecimalJs.clone({
  precision: 40,
  rounding: DecimalJs.ROUND_HALF_EVEN,
  toExpNeg: -40,
  toExpPos: 40,
})
export type Decimal = DecimalJs

/** What a decimal can be made from. A double is read by its shortest round-trip text, so 0.1 is one tenth. */
export type DecimalInput = Decimal | string | number | bigint

/** Reads a decimal. Throws on text that is no finite number: validation at the edge comes first. */
export function dec(value: DecimalInput): Decimal {
  const read = new Decimal(typeof value === 'bigint' ? value.toString() : value)
  if (!read.isFinite()) throw new RangeError('a decimal must be finite')
  return read
}

/** The same, where there may be none. */
export const decOrNull = (value: DecimalInput | null): Decimal | null => (value === null ? null : dec(value))

export const zero = dec(0)
export const one = dec(1)

/** Rounds half away from zero to `places` decimals: cents (2) and interface prices (8). */
export const roundTo = (value: Decimal, places: number): Decimal =>
  value.toDecimalPlaces(places, DecimalJs.ROUND_HALF_UP)

/** Decimals that a quantity keeps where it is worked out and not entered, as the books do. */
export const quantityPlaces = 8

/** Decimals that prices and money keep in the books: a difference below them is the noise of a division. */
export const ledgerPlaces = 12

/** Places up to which a result is exact whatever was divided on the way: an average may repeat without end. */
export const exactPlaces = 20

/**
 * Money as it is shown and charged: whole cents, half away from zero. What a division left behind the exact
 * places goes first, as it would pull a result on half a cent down.
 */
export const cents = (value: Decimal): Decimal => roundTo(roundTo(value, exactPlaces), 2)

/** The sign as -1, 0 or 1. */
export const sign = (value: Decimal): -1 | 0 | 1 => (value.isZero() ? 0 : value.isNegative() ? -1 : 1)

/** Largest multiple of `step` not above `value`; `step` > 0. */
export const floorTo = (value: Decimal, step: Decimal): Decimal => value.div(step).floor().times(step)

/** Smallest multiple of `step` not below `value`; `step` > 0. */
export const ceilTo = (value: Decimal, step: Decimal): Decimal => value.div(step).ceil().times(step)

/** All of them together. */
export const sum = (values: readonly Decimal[]): Decimal =>
  values.reduce((total, value) => total.plus(value), zero)

/** The smaller of two. */
export const min = (a: Decimal, b: Decimal): Decimal => (a.lessThan(b) ? a : b)

/** The larger of two. */
export const max = (a: Decimal, b: Decimal): Decimal => (a.greaterThan(b) ? a : b)
