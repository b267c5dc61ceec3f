/**
 * What a set of books was worth when trading days ended: cash, and what is held at the marks of each day. The same
 * for a day that ends now and for one that is closed again after a correction.
 */

import { type Decimal, one } from '../decimal.ts'
import { midOf } from '../market/quote.ts'
import type { DayMarks } from '../positions/day-marks.ts'
import type { LedgerState } from '../positions/ledger-state.ts'
import type { Day } from '../time.ts'
import { leverageOf } from './leverage.ts'
import { baseCurrencyOf, type MarginInstrument } from './margin-position.ts'
import { accountValue, type Holding, type ModelAccount, marginPositions } from './model-account.ts'

/** An instrument as the close needs it. */
export interface ClosedInstrument extends MarginInstrument {
  readonly currency: string
  /** Of an option, where it is known. */
  readonly underlyingId: number | null
}

export interface ClosedDay {
  readonly day: Day
  readonly cash: Decimal
  readonly value: Decimal
  /** At the close; null where the account is worth nothing or less. */
  readonly leverage: Decimal | null
}

export interface CloseFacts {
  readonly instruments: ReadonlyMap<number, ClosedInstrument>
  readonly marks: DayMarks
  /** Of the account. */
  readonly currency: string
}

/** The account of a state at the marks of a day. */
export function accountOn(
  state: LedgerState,
  day: Day,
  { instruments, marks, currency }: CloseFacts,
): ModelAccount {
  const holdings = state.positions.flatMap((position): Holding[] => {
    const instrument = instruments.get(position.instrumentId)
    if (!instrument) return []
    const { instrumentId, quantity } = position
    const size = marks.resized(instrumentId, day)
    const mark = marks.at(instrumentId, day)
    const under = instrument.underlyingId === null ? undefined : marks.at(instrument.underlyingId, day)
    const rateOf = (other: string): Decimal | undefined => (other === currency ? one : marks.rate(other, day))
    const fx = rateOf(instrument.currency) ?? position.fx
    const base = baseCurrencyOf(instrument)
    return [
      {
        avgPx: position.avgPx.times(size),
        bid: mark?.bid.times(size) ?? null,
        ask: mark?.ask.times(size) ?? null,
        underlyingPrice: under ? midOf(under).times(size) : null,
        baseRate: base === null ? null : (rateOf(base) ?? null),
        cutoffAt: null,
        instrumentId,
        instrument,
        quantity,
        fx,
      },
    ]
  })
  return { cash: state.cash, holdings, rates: null }
}

/** Value and leverage of a state at the end of a day. */
export function closeDay(state: LedgerState, day: Day, facts: CloseFacts): ClosedDay {
  const account = accountOn(state, day, facts)
  const value = accountValue(account)
  const positions = marginPositions(account)
  return { day, cash: state.cash, value, leverage: leverageOf({ positions, modelAccountValue: value }) }
}
