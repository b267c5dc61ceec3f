/** Plain JSON numbers and times in and out of the domain's decimals and instants. */
import { type Decimal, dec } from '../../../src/domain/decimal.ts'
import { type Instant, readInstant } from '../../../src/domain/time.ts'

/** A number as JSON carries it; text is read too. */
export type Num = number | string
/** Seconds as a number, or an ISO 8601 text. */
export type Time = number | string

export const optional = (value: Num | null | undefined): Decimal | null =>
  value === null || value === undefined ? null : dec(value)

/** The instant of a kernel time; what carries none was there from the start. */
export const momentOf = (time: Time | null | undefined): Instant => {
  if (time === null || time === undefined) return Number.NEGATIVE_INFINITY
  const at = typeof time === 'number' ? time * 1000 : readInstant(time)
  if (at === undefined || !Number.isFinite(at)) throw new Error(`no time: ${time}`)
  return at
}

/** JSON knows no negative zero, and no number that is not finite. */
export const print = (value: Decimal): number => {
  const printed = value.toNumber() + 0
  if (Number.isFinite(printed)) return printed
  throw new Error(`a result is ${value.toPrecision(3)}, which is no number in JSON`)
}
export const printOptional = (value: Decimal | null): number | null => value && print(value)
