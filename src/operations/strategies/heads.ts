/** What every view of a strategy begins with. */
import type { StrategyHead } from '../../storage/strategies/strategy-details.ts'

/** The classes that a strategy may trade. */
export const shownClasses = (row: StrategyHead) => ({
  Stocks: row.stocksEnabled,
  Options: row.optionsEnabled,
  Futures: row.futuresEnabled,
  Forex: row.forexEnabled,
})

/** The members that head the equity listings. */
export const equityHead = (row: StrategyHead) => ({
  StrategyId: row.id,
  StrategyName: row.name,
  StartDate: row.startedAt,
  SecurityTypesEnabled: shownClasses(row),
  MonthlyCost: row.monthlyCost,
  StrategyOwnerId: row.ownerPersonId,
})

/** A statistic in the ten digits that are shown. */
export const tenDigits = (value: number): number => Number(value.toPrecision(10))

/** As `tenDigits`; null stays what is not defined. */
export const shownFigure = (value: number | null): number | null => (value === null ? null : tenDigits(value))

/** The class with the most finished trades, of equals the first; without trades the first that is enabled. */
export function primaryClass(
  enabled: ReturnType<typeof shownClasses>,
  trades: Readonly<Record<keyof ReturnType<typeof shownClasses>, number>>,
): string | null {
  const names = Object.keys(enabled) as (keyof typeof enabled)[]
  const most = Math.max(...names.map((name) => trades[name]))
  return names.find((name) => (most > 0 ? trades[name] === most : enabled[name])) ?? null
}
