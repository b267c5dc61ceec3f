/**
 * The marks of past days: an instrument stands at the last quote of the day, or of the last day before it that had
 * one, in the units of the day itself. Currencies stand at the marks of their pairs.
 */
import { type Decimal, one } from '../decimal.ts'
import { groupBy } from '../group.ts'
import { exchangeRate } from '../market/exchange-rate.ts'
import { midOf } from '../market/quote.ts'
import type { Day } from '../time.ts'
import { type BookedSplit, priceAfter } from './split.ts'

export interface DailyMark {
  readonly instrumentId: number
  readonly day: Day
  readonly bid: Decimal
  readonly ask: Decimal
}

/** A pair that tells the rate of `currency` in `account`; inverse where it is quoted the other way. */
export interface CurrencyPair {
  readonly account: string
  readonly currency: string
  readonly instrumentId: number
  readonly isInverse: boolean
}

/** A split that is booked; marks of `day` and later are in new units. */
export interface MarkSplit extends BookedSplit {
  readonly instrumentId: number
  readonly day: Day
}

export interface DayMarks {
  /** The mark on a day; undefined before the first one. */
  at(instrumentId: number, day: Day): DailyMark | undefined
  /** Account currency per unit of a currency; undefined where no pair has a mark. */
  rate(currency: string, day: Day): Decimal | undefined
  /** By which a price of the day is multiplied that is to fit the present size of an option's contract. */
  resized(instrumentId: number, day: Day): Decimal
  /** From this day on all of it stays as it is. */
  readonly lastChange: Day
}

/** Marks by instrument, each one's in ascending order of days; of two pairs of a currency the direct one first. */
export function dayMarks(
  accountCurrency: string,
  marks: readonly DailyMark[],
  pairs: readonly CurrencyPair[],
  splits: readonly MarkSplit[] = [],
): DayMarks {
  const byInstrument = groupBy(marks, ({ instrumentId }) => instrumentId)
  const splitsOf = groupBy(splits, ({ instrumentId }) => instrumentId)
  const at = (instrumentId: number, day: Day): DailyMark | undefined => {
    const mark = lastUntil(byInstrument.get(instrumentId) ?? [], day)
    if (!mark) return undefined
    const since = splitsOf.get(instrumentId)?.filter((split) => mark.day < split.day && split.day <= day)
    if (!since?.length) return mark
    const factor = factorOf(since)
    return { ...mark, bid: mark.bid.times(factor), ask: mark.ask.times(factor) }
  }
  const resized = (instrumentId: number, day: Day): Decimal =>
    factorOf(splitsOf.get(instrumentId)?.filter((split) => !split.multiplies && split.day > day) ?? [])
  const direct = (account: string, currency: string, day: Day): Decimal | undefined => {
    const those = pairs.filter((pair) => pair.account === account && pair.currency === currency)
    for (const { instrumentId, isInverse } of those) {
      const mark = at(instrumentId, day)
      if (!mark || midOf(mark).isZero()) continue
      return isInverse ? one.div(midOf(mark)) : midOf(mark)
    }
    return undefined
  }
  const rate = (currency: string, day: Day): Decimal | undefined =>
    exchangeRate(accountCurrency, currency, (account, other) => direct(account, other, day))
  const lastChange = [...marks, ...splits].reduce(
    (last, { day }) => Math.max(last, day),
    Number.NEGATIVE_INFINITY,
  )
  return { at, rate, resized, lastChange }
}

const factorOf = (splits: readonly MarkSplit[]): Decimal =>
  splits.reduce((factor, { ratio }) => priceAfter(factor, ratio), one)

function lastUntil(marks: readonly DailyMark[], day: Day): DailyMark | undefined {
  let low = 0
  let high = marks.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((marks[middle] as DailyMark).day <= day) low = middle + 1
    else high = middle
  }
  return marks[low - 1]
}
