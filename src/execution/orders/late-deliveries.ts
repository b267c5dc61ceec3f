/** What the ends of contracts deliver that are settled again, in units of today: dividends and splits came since. */
import { type Decimal, one, zero } from '../../domain/decimal.ts'
import { passAction, type Traded } from '../../domain/positions/late-execution.ts'
import type { PositionFill } from '../../domain/positions/position.ts'
import type { Instant } from '../../domain/time.ts'
import type { LedgerKey } from '../../storage/accounts/ledgers.ts'
import {
  adjustmentName,
  inAccountCurrency,
  type LedgerAdjustment,
  loadActionRates,
  loadAdjustments,
  loadPassedActions,
  saveAdjustments,
} from '../../storage/brokers/late-executions.ts'
import type { Transaction } from '../../storage/database/sql.ts'

/** What a ledger is delivered, or gives, at the end. */
export interface Delivery extends Omit<LedgerKey, 'instrumentId'> {
  readonly currency: string
  readonly fill: PositionFill
}

/** The instrument that is delivered, and when it was. */
export interface DeliveredAt {
  readonly instrumentId: number
  readonly pointValue: Decimal
  readonly at: Instant
}

/**
 * What deliveries come to today, in their order; the ledgers are paid, or pay, what dividends and fractions they had no
 * part in then. Null where nothing has been booked since.
 */
export async function passDeliveries(
  tx: Transaction,
  deliveries: readonly Delivery[],
  { instrumentId, pointValue, at }: DeliveredAt,
): Promise<Traded[] | null> {
  const booked = await loadPassedActions(tx, [{ instrumentId, occurredAt: at }])
  const actions = booked.filter(({ dayFrom }) => dayFrom > at)
  if (actions.length === 0) return null
  const accountIds = [...new Set(deliveries.map(({ accountId }) => accountId))]
  const actionIds = actions.map(({ id }) => id)
  const rows = await loadAdjustments(tx, actionIds, accountIds)
  const known = new Map(rows.map((row) => [adjustmentName(row), row]))
  const currencies = deliveries.map(({ currency }) => currency)
  const rates = await loadActionRates(tx, actions, currencies)
  const adjusted: LedgerAdjustment[] = []
  const passed = deliveries.map(({ setupId, accountId, currency, fill: { side, quantity, price } }) => {
    let traded: Traded = { quantity: side === '1' ? quantity : quantity.negated(), price }
    for (const action of actions) {
      const key = { actionId: action.id, setupId, accountId }
      const before = known.get(adjustmentName(key)) ?? { before: zero, change: zero, cash: zero }
      const fx = rates.get(`${action.id} ${currency}`) ?? one
      const given = inAccountCurrency(action, before, { fx, pointValue, px: traded.price })
      const result = passAction(traded, given, before)
      adjusted.push({ ...key, at: action.at, ...result.adjusted })
      traded = result.traded
    }
    return traded
  })
  await saveAdjustments(tx, adjusted)
  return passed
}
