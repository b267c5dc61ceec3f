/**
 * The last price of a day, that of its close above all, often comes when the day is closed. It is noted with the price,
 * and who holds the instrument is told afterwards: thousands of records take a while, and each waits for a close that is
 * just reading it, while the market goes on.
 */

import { closableFrom } from '../../domain/market/trading-day.ts'
import { second } from '../../domain/time.ts'
import type { Transaction } from '../../storage/database/sql.ts'
import type { DatedQuote, QuotedInstrument } from '../../storage/market/quotes.ts'
import { bookCurrency } from '../../storage/orders/order-books.ts'
import {
  areLatePricesWaiting,
  listLatePrices,
  noteLatePrices,
  settleLatePrices,
} from '../../storage/work/late-prices.ts'
import { touchHolders } from '../../storage/work/record-changes.ts'
import type { Step, WorkContext } from '../context.ts'

/** Another worker may close a day after these prices were looked at and before they are there to be read. */
const bookedWithin = 10 * second
const instrumentsAtOnce = 1_000
const patience = { statementTimeoutMs: 60_000 }

/** Notes those of a batch's last prices whose day may be closed by the time they are booked. */
export async function noteLate(
  { clock }: WorkContext,
  tx: Transaction,
  last: readonly DatedQuote[],
  instruments: ReadonlyMap<number, QuotedInstrument>,
): Promise<void> {
  const by = clock.now() + bookedWithin
  const late = last.filter(({ instrumentId, day }) => {
    const instrument = instruments.get(instrumentId)
    return instrument !== undefined && by >= closableFrom(instrument.calendar, day)
  })
  if (late.length > 0) await noteLatePrices(tx, late)
}

/** Has days closed again for who holds what late prices value; answers how many instruments it looked at. */
export async function reopenDays({ db, clock }: WorkContext): Promise<number> {
  const late = await listLatePrices(db.read, instrumentsAtOnce)
  if (late.length === 0) return 0
  await db.transaction((tx) => touchHolders(tx, late, bookCurrency, clock.now()), patience)
  // In a transaction of its own: a price that waited for it would hold what records wait for.
  await settleLatePrices(db.write, late)
  return late.length
}

/** Prices have come late. Before the close, which then has them all in one pass. */
export const reopeningStep: Step = {
  name: 'reopenDays',
  due: () => areLatePricesWaiting,
  run: reopenDays,
}
