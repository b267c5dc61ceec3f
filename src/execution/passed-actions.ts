/**
 * Dividends and splits that were booked before a trade from before them was told. Whoever comes over them is paid, or gives
 * back, what his ledger had no part in then; several trades of one ledger share what they came to.
 */
import { type Decimal, one, zero } from '../domain/decimal.ts'
import {
  type Adjustment,
  type PassedAction,
  passAction,
  type Traded,
} from '../domain/positions/late-execution.ts'
import type { BookedAdjustment } from '../domain/positions/ledger-state.ts'
import type { LedgerKey } from '../storage/accounts/ledgers.ts'
import {
  type BookedAction,
  type LedgerAdjustment,
  loadActionRates,
  loadAdjustments,
  saveAdjustments,
} from '../storage/brokers/late-executions.ts'
import type { Transaction } from '../storage/database/sql.ts'

/** A ledger of what an action is about. */
export type PassingLedger = Omit<LedgerKey, 'instrumentId'>

/** An account that trades are told of. */
interface Holder {
  readonly accountId: number
  readonly currency: string
}

const untouched: Adjustment = { before: zero, change: zero, cash: zero }

/** What actions have done to ledgers, as far as trades that were told since have changed it. */
export class PassedActions {
  readonly #actions: readonly BookedAction[]
  readonly #known: ReadonlyMap<string, LedgerAdjustment>
  readonly #currencies: ReadonlyMap<number, string>
  readonly #rates: ReadonlyMap<string, Decimal>
  readonly #adjusted = new Map<string, LedgerAdjustment>()

  private constructor(
    actions: readonly BookedAction[],
    known: readonly LedgerAdjustment[],
    currencies: ReadonlyMap<number, string>,
    rates: ReadonlyMap<string, Decimal>,
  ) {
    this.#actions = actions
    this.#known = new Map(known.map((row) => [nameOf(row.actionId, row), row]))
    this.#currencies = currencies
    this.#rates = rates
  }

  /** Reads what the actions have done in the accounts of these holders, which are locked. */
  static async load(
    tx: Transaction,
    actions: readonly BookedAction[],
    holders: readonly Holder[],
  ): Promise<PassedActions> {
    const currencies = new Map(holders.map(({ accountId, currency }) => [accountId, currency]))
    const ids = actions.map(({ id }) => id)
    const known = await loadAdjustments(tx, ids, [...currencies.keys()])
    const rates = await loadActionRates(tx, actions, [...currencies.values()])
    return new PassedActions(actions, known, currencies, rates)
  }

  /** What an action has done to a ledger by now. */
  adjustment(action: BookedAction, ledger: PassingLedger): Adjustment {
    const name = nameOf(action.id, ledger)
    return this.#adjusted.get(name) ?? this.#known.get(name) ?? untouched
  }

  /** What an action makes of a trade of a ledger. */
  pass(traded: Traded, action: BookedAction, ledger: PassingLedger, pointValue: Decimal): Traded {
    const name = nameOf(action.id, ledger)
    const fx = this.#rates.get(`${action.id} ${this.#currencies.get(ledger.accountId)}`) ?? one
    const passed = inAccountCurrency(action, this.#known.get(name), { fx, pointValue, px: traded.price })
    const result = passAction(traded, passed, this.adjustment(action, ledger))
    const { setupId, accountId } = ledger
    this.#adjusted.set(name, { actionId: action.id, setupId, accountId, at: action.at, ...result.adjusted })
    return result.traded
  }

  /** What has been changed of what actions did to a ledger. */
  changed({ accountId, setupId, instrumentId }: LedgerKey): (BookedAdjustment & { actionId: number })[] {
    return this.#actions.flatMap(({ id: actionId, kind, newUnits, oldUnits, resizes, at, ...action }) => {
      const row = this.#adjusted.get(nameOf(actionId, { accountId, setupId }))
      if (!row || action.instrumentId !== instrumentId) return []
      const ratio = { new: newUnits, old: oldUnits }
      const split = kind === 'split' ? { ratio, multiplies: !resizes } : null
      const ledger = setupId === null ? {} : { ledger: setupId }
      return [
        { actionId, instrumentId, ...ledger, at, quantityChange: row.change, cashChange: row.cash, split },
      ]
    })
  }

  /** Writes what has been changed, and pays the accounts what that adds. */
  save(tx: Transaction): Promise<void> {
    return saveAdjustments(tx, [...this.#adjusted.values()])
  }
}

const nameOf = (actionId: number, { setupId, accountId }: PassingLedger): string =>
  `${actionId} ${accountId} ${setupId ?? 'own'}`

/**
 * An action in the currency of an account. It is paid, or given back, at the rate `fx` of its opening; a dividend that was
 * `paid` as it was. `px`: the price of a unit where nobody had quoted it.
 */
function inAccountCurrency(
  { kind, newUnits, oldUnits, resizes, amount, close }: BookedAction,
  paid: Pick<Adjustment, 'before' | 'cash'> | undefined,
  { fx, pointValue, px }: { readonly [K in 'fx' | 'pointValue' | 'px']: Decimal },
): PassedAction {
  if (kind === 'dividend')
    return { kind, amount: paid && !paid.before.isZero() ? paid.cash.div(paid.before) : amount.times(fx) }
  const ratio = { new: newUnits, old: oldUnits }
  return { kind, ratio, multiplies: !resizes, close: (close ?? px).times(pointValue).times(fx) }
}
