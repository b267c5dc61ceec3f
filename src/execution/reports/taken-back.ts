/**
 * Ledgers out of which executions are taken back. An average does not say what it was made of, and of a ledger that is
 * flat there is none: so such a ledger is made up again from all that has moved it, without what never should have been.
 */
import { type Decimal, dec, one, zero } from '../../domain/decimal.ts'
import { groupBy } from '../../domain/group.ts'
import { type BookedFill, type HeldSince, heldAtLast } from '../../domain/positions/ledger-state.ts'
import { applyFill, type Conversion, flat } from '../../domain/positions/position.ts'
import {
  type BookAdjustmentRow,
  loadBookAdjustments,
  loadBookFills,
} from '../../storage/accounts/book-history.ts'
import { type LedgerKey, ledgerName } from '../../storage/accounts/ledgers.ts'
import type { Transaction } from '../../storage/database/sql.ts'
import type { LateExecutions } from './late-executions.ts'
import type { BatchExecution } from './report-batch.ts'

/** What has moved such ledgers, what is booked meanwhile included. */
export class TakenBack {
  readonly #fills = new Map<string, BookedFill[]>()
  /** Of executions that were taken back, by account and name. */
  readonly #rates = new Map<string, Decimal | null>()
  readonly #adjustments: ReadonlyMap<string, readonly BookAdjustmentRow[]>

  private constructor(adjustments: readonly BookAdjustmentRow[]) {
    this.#adjustments = groupBy(adjustments, nameOf)
  }

  /** Reads what has moved the ledgers (`keys`) of those executions that take others back. Their accounts are locked. */
  static async load(
    tx: Transaction,
    executions: readonly BatchExecution[],
    keys: readonly LedgerKey[],
  ): Promise<TakenBack> {
    const asked = keys.filter((_, place) => executions[place]?.busts)
    if (asked.length === 0) return new TakenBack([])
    const accounts = [...new Set(asked.map(({ accountId }) => accountId))]
    const instruments = [...new Set(asked.map(({ instrumentId }) => instrumentId))]
    const fills = groupBy(await loadBookFills(tx, 'account', accounts, instruments), nameOf)
    const loaded = new TakenBack(await loadBookAdjustments(tx, 'account', accounts))
    for (const name of asked.map(ledgerName)) loaded.#fills.set(name, [...(fills.get(name) ?? [])])
    return loaded
  }

  /** Notes what is booked. */
  add(key: LedgerKey, { report, side, quantity, px: price, busts }: BatchExecution, terms: Conversion): void {
    const fills = this.#fills.get(ledgerName(key))
    if (!fills) return
    const takesBack = busts?.execId ?? null
    // What is taken back counts never before it was executed.
    const executedAt = busts && fills.find(({ name }) => name === takesBack)?.at
    fills.push({
      ...{ ...terms, instrumentId: key.instrumentId, side, quantity, price, cashChange: zero },
      ...{ at: Math.max(executedAt ?? 0, report.occurredAt), name: report.reportKey, takesBack },
      ...(key.setupId !== null && { ledger: key.setupId }),
    })
  }

  /** What a ledger holds by all that has moved it, and since when; null where that is not `quantity`. */
  heldIn(key: LedgerKey, quantity: Decimal, late: LateExecutions): HeldSince | null {
    const fills = this.#fills.get(ledgerName(key)) ?? []
    const restated = late.adjustmentsOf(key)
    const isRestated = new Set<number | null>(restated.map(({ actionId }) => actionId))
    const known = this.#adjustments.get(ledgerName(key)) ?? []
    const adjustments = [...known.filter(({ actionId }) => !isRestated.has(actionId)), ...restated]
    const held = heldAtLast({ fills, adjustments: adjustments.sort((a, b) => a.at - b.at) })
    return held?.position.quantity.equals(quantity) ? held : null
  }

  /**
   * The rate at which an execution of a ledger was booked; null where it moved no money that tells it. `original` is that
   * execution as it is taken back, and its rate stays known for the one that takes its place.
   */
  rateOf(key: LedgerKey, execId: string, original: BookedMoney | null): Decimal | null {
    const name = `${key.accountId} ${execId}`
    if (original) this.#rates.set(name, this.#rateOf(key, execId, original))
    return this.#rates.get(name) ?? null
  }

  #rateOf(key: LedgerKey, execId: string, { cashChange, commission }: BookedMoney): Decimal | null {
    const fills = this.#fills.get(ledgerName(key)) ?? []
    const place = fills.findIndex(({ name }) => name === execId)
    const fill = fills[place]
    if (!fill) return null
    const before = heldAtLast({ fills: fills.slice(0, place), adjustments: [] })
    const { cash } = applyFill(before?.position ?? flat, fill, { ...fill, fx: one })
    const rate = cash.isZero() ? zero : dec(cashChange).plus(commission).div(cash)
    return rate.greaterThan(zero) ? rate : null
  }
}

/** What an execution has moved in cash, and what of that was its commission. */
export type BookedMoney = { readonly execId: string } & {
  readonly [K in 'cashChange' | 'commission']: Decimal | string
}

interface NamedRow {
  readonly bookId: number
  readonly instrumentId: number | null
  readonly ledger?: number
}

const nameOf = ({ bookId: accountId, instrumentId, ledger }: NamedRow): string =>
  ledgerName({ accountId, instrumentId: instrumentId ?? 0, setupId: ledger ?? null })
