/**
 * Entering last trading days: of stocks that are delisted, and of futures that end on another day than their rule says.
 * A whole list or nothing. The day may be another one until trading has ended. That of a stock may be over when it is
 * entered; what is paid for a share is entered as the settlement value of that day.
 */

import { endOfTrading, firstEndOf } from '../../domain/market/expiration.ts'
import { type Instant, readDay } from '../../domain/time.ts'
import { type ActionInstrument, lockEntering } from '../../storage/actions/corporate-actions.ts'
import {
  type Delisting,
  dropAnnounced,
  insertDelistings,
  lockListed,
} from '../../storage/actions/delistings.ts'
import { wakeWorkers } from '../../storage/orders/signals.ts'
import type { WorkContext } from '../context.ts'
import type { EnteredCount } from './enter-actions.ts'

/** One line of what is entered. */
export interface EnteredDelisting {
  readonly symbol: string
  /** YYYY-MM-DD: the last day on which it trades. */
  readonly day: string
}

/** Enters last trading days; with a fault nothing is entered at all. */
export const enterDelistings = (
  { db, clock }: Pick<WorkContext, 'db' | 'clock'>,
  entered: readonly EnteredDelisting[],
): Promise<EnteredCount> =>
  db.transaction(async (tx) => {
    // Nothing is announced meanwhile for a day on which it is to trade no more.
    await lockEntering(tx)
    const rows = await lockListed(tx, [...new Set(entered.map(({ symbol }) => symbol))])
    const listed = new Map(rows.map((row) => [row.symbol, row]))
    const days = new Map(entered.map(({ symbol, day }) => [symbol, day]))
    const read = entered.map((line) =>
      days.get(line.symbol) === line.day
        ? newDelisting(line, listed.get(line.symbol), clock.now())
        : `another line has ${days.get(line.symbol)} for ${line.symbol}`,
    )
    const faults = read.flatMap((says, place) => (typeof says === 'string' ? [{ place, says }] : []))
    if (faults.length > 0) return { added: 0, known: 0, faults }
    const delistings = read.filter((one) => typeof one !== 'string')
    const added = await insertDelistings(tx, delistings, clock.now())
    await dropAnnounced(tx, delistings)
    await wakeWorkers(tx)
    return { added, known: entered.length - added, faults }
  })

/** The delisting of a line, or why it is none. */
function newDelisting(
  { symbol, day }: EnteredDelisting,
  listed: ActionInstrument | undefined,
  now: Instant,
): Delisting | string {
  if (!listed) return `there is no instrument ${symbol}`
  if (readDay(day) === undefined) return `${day} is no date`
  const { id: instrumentId, securityType, calendar, lastTradingDay, hasEnded } = listed
  if (securityType !== 'CS' && securityType !== 'FUT') return `${symbol} is neither a stock nor a future`
  if (hasEnded && day !== lastTradingDay) return `trading of ${symbol} has ended on ${lastTradingDay} already`
  const contract = { securityType, calendar, lastTradingDay: day }
  const end = endOfTrading(contract)
  if (end === null) return `${symbol} has no session on ${day} or before`
  // A future that has ended is settled as of its end, and others have traded in it since.
  if (securityType === 'FUT' && day !== lastTradingDay && end <= now)
    return `${day} is over, and ${symbol} still trades`
  return { instrumentId, day, dueAt: firstEndOf(contract) ?? end }
}
