/** Follower settings of the mirroring ops in plain JSON; what is absent permits and bounds nothing. */
import { type Decimal, dec } from '../../../src/domain/decimal.ts'
import type { MirrorSettings } from '../../../src/domain/mirror/mirror-target.ts'

/** A number of the plain JSON that may be missing. */
export type Maybe = number | null | undefined

export type PlainSettings = {
  scalingPercentage?: Maybe
  enabled?: boolean
  long?: boolean
  short?: boolean
  min?: Maybe
  max?: Maybe
  maxDollars?: Maybe
  lot?: Maybe
  closingOrdersOnly?: boolean
}

export const orNull = (value: Maybe): Decimal | null =>
  value === null || value === undefined ? null : dec(value)

export const orZero = (value: Maybe): Decimal => dec(value ?? 0)

export const settingsOf = (read: PlainSettings = {}): MirrorSettings => ({
  scalingPercentage: dec(read.scalingPercentage ?? 100),
  enabled: read.enabled ?? true,
  long: read.long ?? true,
  short: read.short ?? true,
  closingOrdersOnly: read.closingOrdersOnly ?? false,
  minimum: orZero(read.min),
  maximum: orNull(read.max),
  maximumDollars: orNull(read.maxDollars),
  lot: dec(read.lot || 1),
})
