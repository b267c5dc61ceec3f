/**
 * The ends of contracts on the accounts' side: brokers deliver and pay by themselves, and what they do is booked on
 * each ledger with the cash of its account, as executions that no order of ours asked for.
 */
import { type Decimal, dec, decOrNull, ledgerPlaces, one, roundTo, zero } from '../../domain/decimal.ts'
import { bookedDay, type PastMoment } from '../../domain/market/trading-day.ts'
import type { OptionExpiry } from '../../domain/positions/option-expiry.ts'
import { applyFill, flat, type Position, type PositionFill } from '../../domain/positions/position.ts'
import type { Instant } from '../../domain/time.ts'
import { type LedgerChange, ledgerName, loadLedgers, saveLedgers } from '../../storage/accounts/ledgers.ts'
import {
  type EndingLedger,
  type EndingRow,
  loadEndRates,
  loadLastMoves,
  lockEndingLedgers,
} from '../../storage/actions/contract-ends.ts'
import { insertExecutions, type NewExecution } from '../../storage/brokers/reports.ts'
import type { Transaction } from '../../storage/database/sql.ts'
import { type CurrencyPair, tellUnrated, unratedIn } from '../../storage/market/missing-rates.ts'
import { loadRateTable, type QuotedInstrument, quotedInstruments } from '../../storage/market/quotes.ts'
import { markSetups } from '../../storage/mirror/sync-due.ts'
import { newSignalIds } from '../../storage/orders/signals.ts'
import { deliveriesOfToday } from './late-deliveries.ts'

interface Ending {
  readonly at: Instant
  readonly now: Instant
  /** What becomes of a position with this average price. */
  endingOf(quantity: Decimal, avgPx: Decimal | null): OptionExpiry | null
}

/** A ledger, and what becomes of what it holds. */
interface EndedLedger {
  readonly ledger: EndingLedger
  readonly ending: OptionExpiry | null
}

/** Settles every ledger that holds the contract; answers how many. */
export async function settleLedgers(
  tx: Transaction,
  contract: EndingRow,
  { at, now, endingOf }: Ending,
): Promise<number> {
  const ledgers = await lockEndingLedgers(tx, contract.id)
  if (ledgers.length === 0) return 0
  const ends = ledgers.map((ledger) => ({
    ledger,
    ending: endingOf(dec(ledger.quantity), decOrNull(ledger.avgPx)),
  }))
  const booked = await bookEnds(tx, contract, ends, at)
  await Promise.all([
    insertExecutions(
      tx,
      booked.map(({ execution }) => execution),
    ),
    saveLedgers(
      tx,
      booked.map(({ change }) => change),
    ),
    tellUnrated(
      tx,
      booked.flatMap(({ unrated }) => unrated),
      now,
    ),
  ])
  // Also those whose strategy holds nothing of it any more: what they were delivered is to be sold again.
  const setupIds = ledgers.flatMap(({ setupId }) => setupId ?? [])
  await tx.withCommit(() => markSetups(tx, setupIds, now))
  return ledgers.length
}

/** What the end does to each ledger, and what it delivers to it. */
async function bookEnds(
  tx: Transaction,
  contract: EndingRow,
  ends: readonly EndedLedger[],
  at: Instant,
): Promise<(Booked & { readonly unrated: readonly CurrencyPair[] })[]> {
  const ledgers = ends.map(({ ledger }) => ledger)
  const { underlyingId } = contract
  const isAgain = contract.endedAt !== null
  const ids = [contract.id, ...(underlyingId === null ? [] : [underlyingId])]
  const instruments = await quotedInstruments(tx, ids)
  const stock = instruments.get(underlyingId ?? 0)
  const stocks = stock ? ledgers.map((ledger) => ({ ...ledger, instrumentId: stock.id })) : []
  const delivered = await loadLedgers(tx, stocks)
  const past = isAgain ? { at, day: bookedDay(at) } : undefined
  const rates = await ratesOf(tx, ledgers, [...instruments.values()], past)
  const again = isAgain ? await loadSettled(tx, contract, { ends, stock, at }) : undefined
  const [run] = isAgain ? await newSignalIds(tx, 1) : []
  const source = run === undefined ? `${contract.id}` : `${contract.id}.${run}`
  return ends.flatMap(({ ledger, ending }) => {
    const nameOf = (instrumentId = 0): string => ledgerName({ ...ledger, instrumentId })
    const other = nameOf(stock?.id)
    // What dividends and splits have come over counts as of the end.
    const moment = again?.today ? at : Math.max(at, again?.moves.get(nameOf(contract.id)) ?? at)
    const today = again?.today?.get(other)
    const parts = [
      { instrument: instruments.get(contract.id), held: ledger, fill: ending?.option, today: undefined },
      { instrument: stock, held: delivered.get(other), fill: ending?.underlying, today },
    ]
    return parts.flatMap(({ instrument, held, fill, today }) => {
      if (!fill || !instrument) return []
      const rate = rates.get(ledger.currency)?.get(instrument.currency)
      const fx = (rate && again?.rates.get(`${ledger.accountId} ${instrument.id}`)) ?? rate ?? one
      const booked = book(ledger, instrument, held, fill, { fx, at: moment, source, today })
      const pair = { account: ledger.currency, currency: instrument.currency }
      return [{ ...booked, unrated: unratedIn(rates, [pair]) }]
    })
  })
}

interface Settled {
  /** What is settled again is of the rates at which it was settled first; by account and instrument. */
  readonly rates: ReadonlyMap<string, Decimal>
  /** What was taken back since was held until then, and so was what it had come to; by ledger. */
  readonly moves: ReadonlyMap<string, Instant>
  /** What is delivered, as it is counted today; by ledger, null where that is as it was. */
  readonly today: ReadonlyMap<string, PositionFill> | null
}

/** What counts beside where a contract was settled before. */
async function loadSettled(
  tx: Transaction,
  { id }: EndingRow,
  given: {
    readonly ends: readonly EndedLedger[]
    readonly stock: QuotedInstrument | undefined
    readonly at: Instant
  },
): Promise<Settled> {
  const { ends, stock, at } = given
  const accountIds = ends.map(({ ledger }) => ledger.accountId)
  const deliveries = ends.flatMap(({ ledger, ending }) =>
    ending?.underlying ? [{ ...ledger, fill: ending.underlying }] : [],
  )
  return {
    rates: await loadEndRates(tx, id, accountIds),
    moves: await loadLastMoves(tx, id, accountIds),
    today: stock
      ? await deliveriesOfToday(tx, deliveries, { instrumentId: stock.id, pointValue: stock.pointValue, at })
      : null,
  }
}

/** What the currencies of the instruments are worth in those of the accounts. */
const ratesOf = (
  tx: Transaction,
  ledgers: readonly EndingLedger[],
  instruments: readonly QuotedInstrument[],
  past: PastMoment | undefined,
) =>
  loadRateTable(
    tx,
    ledgers.map(({ currency }) => currency),
    instruments.map(({ currency }) => currency),
    past,
  )

interface Booked {
  readonly execution: NewExecution
  readonly change: LedgerChange
}

interface Booking {
  readonly fx: Decimal
  readonly at: Instant
  readonly source: string
  /** The fill in the units in which its ledger is counted, where these are others. */
  readonly today?: PositionFill | undefined
}

function book(
  ledger: EndingLedger,
  instrument: QuotedInstrument,
  held:
    | { readonly quantity: string; readonly avgPx: string | null; readonly openedAt: Instant | null }
    | undefined,
  fill: PositionFill,
  { fx, at, source, today = fill }: Booking,
): Booked {
  const { securityType, pointValue } = instrument
  const { setupId, accountId, brokerId, strategyId } = ledger
  const avgPx = decOrNull(held?.avgPx ?? null)
  const before: Position =
    avgPx === null
      ? flat
      : { quantity: dec(held?.quantity ?? 0), avgPx, avgCost: avgPx.times(pointValue).times(fx) }
  const terms = { securityType, pointValue, fx }
  const { cash } = applyFill(before, fill, terms)
  const position = today.quantity.isZero() ? before : applyFill(before, today, terms).position
  const isOpen = !position.quantity.isZero()
  return {
    execution: {
      busts: null,
      execId: `END-${source}-${instrument.id}-${setupId ?? 'own'}`,
      cashChange: roundTo(cash, ledgerPlaces),
      fx,
      brokerId,
      accountId,
      setupId,
      instrumentId: instrument.id,
      orderId: null,
      commission: zero,
      side: fill.side,
      quantity: fill.quantity,
      px: fill.price,
      executedAt: at,
    },
    change: {
      openedAt: isOpen ? (held?.openedAt ?? at) : null,
      setupId,
      instrumentId: instrument.id,
      accountId,
      strategyId,
      quantity: position.quantity,
      avgPx: position.avgPx,
    },
  }
}
