/**
 * Strategies that consist of what an account trades: each trade becomes a filled market order of the strategy, at the
 * price that the account got, and is copied like any other.
 */

import { oneOfEach } from '../../domain/group.ts'
import { hasExpired } from '../../domain/market/expiration.ts'
import { settleAgain } from '../../storage/actions/contract-ends.ts'
import type { Transaction } from '../../storage/database/sql.ts'
import { lockLastQuotes, type QuotedInstrument, quotedInstruments } from '../../storage/market/quotes.ts'
import {
  isTransmissionDue,
  listFedStrategies,
  listTransmissions,
  saveTransmitted,
  type TransmissionRow,
} from '../../storage/mirror/transmissions.ts'
import { lockStrategies, newSignalIds } from '../../storage/orders/signals.ts'
import type { Among } from '../../storage/work/among.ts'
import { bookName } from '../../storage/work/matching.ts'
import type { Step, WorkContext } from '../context.ts'
import { isolated } from '../isolation.ts'
import { loadWholeBooks, saveBooks } from './books.ts'
import { type InternalBook, tradeInternally } from './internal-orders.ts'
import { stepsUnder } from './trades.ts'

const strategiesAtOnce = 50
const tradesAtOnce = 500

/** Trades of accounts that feed a strategy wait to become its signals. */
export const transmitStep: Step = {
  name: 'transmit',
  due: isTransmissionDue,
  run: (ctx) =>
    isolated(ctx, {
      name: 'trades for a strategy',
      work: (strategies) => ctx.db.transaction((tx) => transmit(ctx, tx, strategies)),
      list: (strategies, limit) => listFedStrategies(ctx.db.read, strategies, limit),
    }),
}

async function transmit(ctx: WorkContext, tx: Transaction, among: Among): Promise<number> {
  const strategies = await listFedStrategies(tx, among, strategiesAtOnce)
  if (strategies.length === 0) return 0
  // Quotes are locked before strategies, as by whoever else books under them.
  const traded = instrumentsOf(await listTransmissions(tx, strategies, tradesAtOnce))
  const quotes = await lockLastQuotes(tx, traded)
  await lockStrategies(tx, strategies)
  const due = await listTransmissions(tx, strategies, tradesAtOnce)
  // What has come meanwhile of something else waits for the next turn.
  const trades = due.filter(({ instrumentId }) => traded.includes(instrumentId))
  const now = ctx.clock.now()
  const instruments = await quotedInstruments(tx, traded)
  const books = await loadTraded(ctx, tx, trades, instruments)
  // A trade through zero is two orders.
  const ids = await newSignalIds(tx, trades.length * 2)
  for (const [place, trade] of trades.entries()) {
    const book = books.get(bookName(trade))
    const instrument = instruments.get(trade.instrumentId)
    if (!book || !instrument) continue
    const { side, quantity, px: price } = trade
    const own = ids.slice(place * 2, place * 2 + 2).map(String)
    const told = { execId: trade.execId }
    // It happens when it is told: what was marked, traded and closed of days in between knew nothing of it.
    const order = { side, quantity, price, at: now, ids: own, info: 'traded in the account', told }
    // Where trading has ended nobody could copy it: mostly it is how the broker tells of the end.
    const isTransmitted = !hasExpired(instrument, now)
    books.set(bookName(trade), tradeInternally(book, { isTransmitted, ...order }))
  }
  const booked = [...books.values()]
  const steps = booked.map((book) => stepsUnder(book, quotes.get(book.instrumentId)))
  await saveBooks(ctx, tx, booked, steps)
  // What is told of a contract that has ended is settled with it, as it is in the account.
  await settleAgain(tx, traded, now)
  const done = trades.map(({ id }) => id)
  await saveTransmitted(tx, done, ids, now)
  return trades.length
}

const instrumentsOf = (trades: readonly TransmissionRow[]): number[] => [
  ...new Set(trades.map(({ instrumentId }) => instrumentId)),
]

/** The books of what was traded, by strategy and instrument. */
async function loadTraded(
  ctx: WorkContext,
  tx: Transaction,
  trades: readonly TransmissionRow[],
  instruments: ReadonlyMap<number, QuotedInstrument>,
): Promise<Map<string, InternalBook>> {
  const books = await loadWholeBooks(ctx, tx, oneOfEach(trades, bookName), instruments)
  return new Map(books.map((book) => [bookName(book), book]))
}
