/**
 * Entering dividends, splits and settlement values: a whole list or nothing. What is known already changes nothing;
 * an opening that has another action of the kind keeps it and is told, because what was booked is not taken back.
 */

import type { Decimal } from '../../domain/decimal.ts'
import { type CalendarName, sessionOn, tradeDateAtOrAfter } from '../../domain/market/calendar.ts'
import { type Day, type Instant, instantAt, newYork, readDay } from '../../domain/time.ts'
import {
  type ActionInstrument,
  type ActionKind,
  type ActionNumbers,
  actionName,
  dayName,
  findActionInstruments,
  findActions,
  insertActions,
  lockEntering,
  type NewAction,
  wakeSettled,
} from '../../storage/actions/corporate-actions.ts'
import { wakeDelisted } from '../../storage/actions/delistings.ts'
import type { Transaction } from '../../storage/database/sql.ts'
import { wakeWorkers } from '../../storage/orders/signals.ts'
import type { WorkContext } from '../context.ts'

/** One line of what is entered. */
export interface EnteredAction {
  readonly kind: ActionKind
  readonly symbol: string
  /** YYYY-MM-DD: the ex-date, of a settlement value the expiry. */
  readonly day: string
  readonly amount?: Decimal | undefined
  readonly new?: Decimal | undefined
  readonly old?: Decimal | undefined
}

/** Why a line cannot be entered. */
export interface ActionFault {
  readonly place: number
  readonly says: string
}

export interface EnteredCount {
  readonly added: number
  readonly known: number
  readonly faults: readonly ActionFault[]
}

/** Enters actions; with a fault nothing is entered at all. */
export const enterActions = (
  { db, clock }: Pick<WorkContext, 'db' | 'clock'>,
  entered: readonly EnteredAction[],
): Promise<EnteredCount> =>
  db.transaction(async (tx) => {
    await lockEntering(tx)
    const { actions, faults } = await readActions(tx, entered)
    if (faults.length > 0) return { added: 0, known: 0, faults }
    const now = clock.now()
    const added = await insertActions(tx, actions, now)
    await wakeSettled(tx, now)
    await wakeDelisted(tx, now)
    await wakeWorkers(tx)
    return { added, known: entered.length - added, faults }
  })

/** The lines as actions, and what is wrong with each of the others. */
async function readActions(tx: Transaction, entered: readonly EnteredAction[]) {
  const rows = await findActionInstruments(tx, [...new Set(entered.map(({ symbol }) => symbol))])
  const instruments = new Map(rows.map((row) => [row.symbol, row]))
  const read = entered.map((action) => newAction(action, instruments.get(action.symbol)))
  const actions = read.filter((action) => typeof action !== 'string')
  const known = await findActions(tx, actions)
  const entering = new Map(
    actions.map((action) => [actionName(action), action] as const).filter(([name]) => !known.has(name)),
  )
  const faults = read.flatMap((action, place): ActionFault[] => {
    if (typeof action === 'string') return [{ place, says: action }]
    const name = actionName(action)
    const other = known.get(dayName(action)) ?? known.get(name) ?? action
    known.set(name, other)
    const { kind, day } = action
    return areSame(action, other)
      ? []
      : [{ place, says: `there is another ${kind} of ${day} with other numbers` }]
  })
  return { actions: [...entering.values()], faults }
}

const areSame = (one: ActionNumbers, other: ActionNumbers): boolean =>
  (['amount', 'newUnits', 'oldUnits'] as const).every(
    (name) => one[name] === other[name] || other[name]?.equals(one[name] ?? Number.NaN) === true,
  )

/** The action of a line, or why it is none. */
function newAction(
  { kind, symbol, day, amount, new: newUnits, old: oldUnits }: EnteredAction,
  instrument: ActionInstrument | undefined,
): NewAction | string {
  const date = readDay(day)
  if (!instrument) return `there is no instrument ${symbol}`
  if (date === undefined) return `${day} is no date`
  if (instrument.securityType !== 'CS') return `${symbol} is no stock`
  const late = afterTheEnd(kind, day, instrument)
  if (late !== undefined) return late
  const isSplit = kind === 'split'
  if (isSplit !== (amount === undefined))
    return isSplit ? 'a split has no amount' : `a ${kind} needs an amount`
  // Of a stock that is delisted nothing may be left.
  if (kind === 'dividend' && amount && !amount.greaterThan(0)) return 'the amount must be above 0'
  if (amount?.lessThan(0)) return 'the amount must be 0 or more'
  if (isSplit && !(newUnits?.greaterThan(0) && oldUnits?.greaterThan(0)))
    return 'a split needs new and old units above 0'
  if (!isSplit && (newUnits !== undefined || oldUnits !== undefined)) return `a ${kind} has no units`
  return {
    instrumentId: instrument.id,
    kind,
    day,
    amount: amount ?? null,
    newUnits: newUnits ?? null,
    oldUnits: oldUnits ?? null,
    takesEffectAt: openingOf(instrument.calendar, date),
  }
}

/** Why the end of trading leaves no room for an action; nothing where it does. */
function afterTheEnd(
  kind: ActionKind,
  day: string,
  { symbol, lastTradingDay, hasEnded }: ActionInstrument,
): string | undefined {
  if (lastTradingDay === null) return undefined
  // What is paid for a delisted stock would be waited for under its last day for ever.
  if (kind === 'settlement')
    return hasEnded && day !== lastTradingDay
      ? `trading of ${symbol} has ended on ${lastTradingDay}: what is paid for it is the value of that day`
      : undefined
  return day > lastTradingDay ? `trading of ${symbol} ends on ${lastTradingDay}` : undefined
}

/** The opening of a day's session, of a day without one the next. */
const openingOf = (calendar: CalendarName, day: Day): Instant =>
  sessionOn(calendar, tradeDateAtOrAfter(calendar, day))?.open ?? instantAt(day, 0, newYork)
