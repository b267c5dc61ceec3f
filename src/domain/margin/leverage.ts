/**
 * Leverage: nominal value of what is held over the account value. A day counts with its highest snapshot.
 */
import { type Decimal, max, sum, zero } from '../decimal.ts'
import { type MarginPosition, nominalValue } from './margin-position.ts'

/** What was held at one moment, and the account value then. */
export interface LeverageSnapshot {
  readonly positions: readonly MarginPosition[]
  readonly modelAccountValue: Decimal
}

export interface LeverageSummary {
  /** Per day; null for a day whose every snapshot is without a ratio. */
  readonly daily: readonly (Decimal | null)[]
  /** Over the days that have a value; null without any. */
  readonly average: Decimal | null
  readonly highest: Decimal | null
}

/** Nominal value over account value, an option by its underlying; null when the account value is not above 0. */
export function leverageOf({ positions, modelAccountValue }: LeverageSnapshot): Decimal | null {
  if (!modelAccountValue.greaterThan(0)) return null
  return sum(positions.map(nominalExposure)).div(modelAccountValue)
}

/** Daily, average and highest leverage of the trading days since the start; a day without snapshots is 0. */
export function summarizeLeverage(days: readonly (readonly LeverageSnapshot[])[]): LeverageSummary {
  const daily = days.map((snapshots) =>
    snapshots.length === 0 ? zero : highestOf(snapshots.map((snapshot) => leverageOf(snapshot))),
  )
  const known = daily.filter((leverage) => leverage !== null)
  const total = sum(known)
  return {
    daily,
    average: known.length === 0 ? null : total.div(known.length),
    highest: highestOf(known),
  }
}

const nominalExposure = (position: MarginPosition): Decimal =>
  position.securityType === 'OPT'
    ? nominalValue({ ...position, price: position.underlyingPrice })
    : nominalValue(position)

const highestOf = (values: readonly (Decimal | null)[]): Decimal | null =>
  values.reduce((best, value) => (value === null ? best : best === null ? value : max(best, value)), null)
