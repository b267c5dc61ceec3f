/**
 * The ends of contracts on the accounts' side: brokers deliver and pay by themselves, and what they do is booked on
 * each ledger with the cash of its account, as executions that no order of ours asked for.
 */
import { type Decimal, dec, one, roundTo, zero } from '../../domain/decimal.ts'
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
import { loadQuotedInstruments, loadRateTable, type QuotedInstrument } from '../../storage/market/quotes.ts'
import { markSetups } from '../../storage/mirror/sync-due.ts'
import { newSignalIds } from '../../storage/orders/signals.ts'

interface Ending {
  readonly at: Instant
  readonly now: Instant
  /** What becomes of a position with this average price. */
  endingOf(quantity: Decimal, avgPx: Decimal | null): OptionExpiry | null
}

/** Settles every ledger that holds the contract; answers how many. */
export async function settleLedgers(
  tx: Transaction,
  contract: EndingRow,
  { at, now, endingOf }: Ending,
): Promise<number> {
  const ledgers = await lockEndingLedgers(tx, contract.id)
  if (ledgers.length === 0) return 0
  const { underlyingId } = contract
  const isAgain = contract.endedAt !== null
  const ids = [contract.id, ...(underlyingId === null ? [] : [underlyingId])]
  const instruments = new Map((await loadQuotedInstruments(tx, [], ids)).map((row) => [row.id, row]))
  const stocks =
    underlyingId === null ? [] : ledgers.map((ledger) => ({ ...ledger, instrumentId: underlyingId }))
  const delivered = await loadLedgers(tx, stocks)
  const rates = await ratesOf(tx, ledgers, [...instruments.values()])
  // What is settled again is of the moment at which it was settled first.
  const accounts = isAgain ? ledgers.map(({ accountId }) => accountId) : []
  const first = await loadEndRates(tx, contract.id, accounts)
  // What was taken back since was held until then, and so was what it had come to.
  const moves = await loadLastMoves(tx, contract.id, accounts)
  const [run] = isAgain ? await newSignalIds(tx, 1) : []
  const source = run === undefined ? `${contract.id}` : `${contract.id}.${run}`
  const executions: NewExecution[] = []
  const changes: LedgerChange[] = []
  const pairs: CurrencyPair[] = []
  for (const ledger of ledgers) {
    const ending = endingOf(dec(ledger.quantity), ledger.avgPx === null ? null : dec(ledger.avgPx))
    const moved = moves.get(ledgerName({ ...ledger, instrumentId: contract.id })) ?? at
    const stock = delivered.get(ledgerName({ ...ledger, instrumentId: underlyingId ?? 0 }))
    const parts = [
      { id: contract.id, held: ledger, fill: ending?.option ?? null },
      { id: underlyingId ?? 0, held: stock, fill: ending?.underlying ?? null },
    ]
    for (const { id, held, fill } of parts) {
      const instrument = instruments.get(id)
      if (!fill || !instrument) continue
      const rate = rates.get(ledger.currency)?.get(instrument.currency)
      const fx = (rate && first.get(`${ledger.accountId} ${id}`)) ?? rate ?? one
      const booked = book(ledger, instrument, held, fill, { fx, at: Math.max(at, moved), source })
      executions.push(booked.execution)
      pairs.push({ account: ledger.currency, currency: instrument.currency })
      changes.push(booked.change)
    }
  }
  await Promise.all([
    insertExecutions(tx, executions),
    saveLedgers(tx, changes),
    tellUnrated(tx, unratedIn(rates, pairs), now),
  ])
  // Also those whose strategy holds nothing of it any more: what they were delivered is to be sold again.
  await markSetups(
    tx,
    ledgers.flatMap(({ setupId }) => setupId ?? []),
    now,
  )
  return ledgers.length
}

/** What the currencies of the instruments are worth in those of the accounts. */
const ratesOf = (
  tx: Transaction,
  ledgers: readonly EndingLedger[],
  instruments: readonly QuotedInstrument[],
) =>
  loadRateTable(
    tx,
    ledgers.map(({ currency }) => currency),
    instruments.map(({ currency }) => currency),
  )

function book(
  ledger: EndingLedger,
  instrument: QuotedInstrument,
  held:
    | { readonly quantity: string; readonly avgPx: string | null; readonly openedAt: Instant | null }
    | undefined,
  fill: PositionFill,
  { fx, at, source }: { readonly fx: Decimal; readonly at: Instant; readonly source: string },
): { execution: NewExecution; change: LedgerChange } {
  const { securityType, pointValue } = instrument
  const { setupId, accountId, brokerId, strategyId } = ledger
  const avgPx = held?.avgPx == null ? null : dec(held.avgPx)
  const before: Position =
    avgPx === null
      ? flat
      : { quantity: dec(held?.quantity ?? 0), avgPx, avgCost: avgPx.times(pointValue).times(fx) }
  const { position, cash } = applyFill(before, fill, { securityType, pointValue, fx })
  const isOpen = !position.quantity.isZero()
  return {
    execution: {
      busts: null,
      execId: `END-${source}-${instrument.id}-${setupId ?? 'own'}`,
      cashChange: roundTo(cash, 12),
      ...{ brokerId, accountId, setupId, instrumentId: instrument.id, orderId: null, commission: zero },
      ...{ side: fill.side, quantity: fill.quantity, px: fill.price, executedAt: at },
    },
    change: {
      openedAt: isOpen ? (held?.openedAt ?? at) : null,
      ...{ setupId, instrumentId: instrument.id, accountId, strategyId },
      ...{ quantity: position.quantity, avgPx: position.avgPx },
    },
  }
}
