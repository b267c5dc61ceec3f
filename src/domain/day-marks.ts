/**
 * The marks of past days: an instrument stands at the last quote of the day, or of the last day before it that had
 * one. Currencies stand at the marks of their pairs.
 */
import { type Decimal, dec } from './decimal.ts'
import type { Day } from './time.ts'

export interface DailyMark {
  readonly instrumentId: number
  readonly day: Day
  readonly bid: Decimal
  readonly ask: Decimal
}

/** A pair that tells the rate of `currency`; inverse where it is quoted the other way. */
export interface CurrencyPair {
  readonly currency: string
  readonly instrumentId: number
  readonly isInverse: boolean
}

export interface DayMarks {
  /** The mark on a day; undefined before the first one. */
  at(instrumentId: number, day: Day): DailyMark | undefined
  /** Account currency per unit of a currency; undefined where no pair has a mark. */
  rate(currency: string, day: Day): Decimal | undefined
}

/** Marks by instrument, each one's in ascending order of days; of two pairs of a currency the direct one first. */
export function dayMarks(marks: readonly DailyMark[], pairs: readonly CurrencyPair[]): DayMarks {
  const byInstrument = new Map<number, DailyMark[]>()
  for (const mark of marks) {
    const list = byInstrument.get(mark.instrumentId)
    if (list) list.push(mark)
    else byInstrument.set(mark.instrumentId, [mark])
  }
  const at = (instrumentId: number, day: Day): DailyMark | undefined =>
    lastUntil(byInstrument.get(instrumentId) ?? [], day)
  const rate = (currency: string, day: Day): Decimal | undefined => {
    for (const { instrumentId, isInverse } of pairs.filter((pair) => pair.currency === currency)) {
      const mark = at(instrumentId, day)
      if (!mark || mark.bid.plus(mark.ask).isZero()) continue
      const mid = mark.bid.plus(mark.ask).div(2)
      return isInverse ? dec(1).div(mid) : mid
    }
    return undefined
  }
  return { at, rate }
}

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
