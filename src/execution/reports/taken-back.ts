/**
 * Ledgers out of which executions are taken back. An average does not say what it was made of, and of a ledger that is
 * flat there is none: so such a ledger is made up again from all that has moved it, without what never should have been.
 */
import { type Decimal, zero } from '../../domain/decimal.ts'
import { groupBy } from '../../domain/group.ts'
import { type BookedFill, type HeldSince, heldAtLast } from '../../domain/positions/ledger-state.ts'
import type { Conversion } from '../../domain/positions/position.ts'
import {
  type BookAdjustmentRow,
  loadBookAdjustments,
  readFillsOf,
} from '../../storage/accounts/book-history.ts'
import { type LedgerKey, ledgerName } from '../../storage/accounts/ledgers.ts'
import type { Transaction } from '../../storage/database/sql.ts'
import type { LateExecutions } from './late-executions.ts'
import type { BatchExecution } from './report-batch.ts'

/** What has moved such ledgers, what is booked meanwhile included. */
export class TakenBack {
  readonly #fills = new Map<string, BookedFill[]>()
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
    const loaded = new TakenBack(await loadBookAdjustments(tx, 'account', accounts))
    for (const name of asked.map(ledgerName)) loaded.#fills.set(name, [])
    for await (const fills of readFillsOf(tx, accounts, instruments))
      for (const fill of fills) loaded.#fills.get(nameOf(fill))?.push(fill)
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
      ...terms,
      instrumentId: key.instrumentId,
      side,
      quantity,
      price,
      cashChange: zero,
      at: Math.max(executedAt ?? 0, report.occurredAt),
      name: report.reportKey,
      takesBack,
      ...(key.setupId !== null && { ledger: key.setupId }),
    })
  }

  /** What the fills of a ledger have moved in cash, before commissions; null where that is not known. */
  cashOf(key: LedgerKey, late: LateExecutions): Decimal | null {
    return this.#lastOf(key, late).cash
  }

  /** What a ledger has come to by all that has moved it; undefined where that does not hold `quantity`. */
  heldIn(key: LedgerKey, quantity: Decimal, late: LateExecutions): HeldSince | undefined {
    const held = this.#lastOf(key, late)
    return held.position.quantity.equals(quantity) ? held : undefined
  }

  #lastOf(key: LedgerKey, late: LateExecutions): HeldSince {
    const fills = this.#fills.get(ledgerName(key)) ?? []
    const restated = late.adjustmentsOf(key)
    const isRestated = new Set<number | null>(restated.map(({ actionId }) => actionId))
    const known = this.#adjustments.get(ledgerName(key)) ?? []
    const adjustments = [...known.filter(({ actionId }) => !isRestated.has(actionId)), ...restated]
    return heldAtLast({ fills, adjustments: adjustments.sort((a, b) => a.at - b.at) })
  }

  /** The rate at which an execution of a ledger was booked; null where nothing of that ledger is taken back. */
  rateOf(key: LedgerKey, execId: string): Decimal | null {
    return this.#fills.get(ledgerName(key))?.find(({ name }) => name === execId)?.fx ?? null
  }
}

interface NamedRow {
  readonly bookId: number
  readonly instrumentId: number | null
  readonly ledger?: number
}

const nameOf = ({ bookId: accountId, instrumentId, ledger }: NamedRow): string =>
  ledgerName({ accountId, instrumentId: instrumentId ?? 0, setupId: ledger ?? null })
