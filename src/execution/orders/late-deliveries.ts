/** What the ends of contracts deliver that are settled again, in units of today: dividends and splits came since. */
import type { Decimal } from '../../domain/decimal.ts'
import type { Traded } from '../../domain/positions/late-execution.ts'
import type { PositionFill } from '../../domain/positions/position.ts'
import type { Instant } from '../../domain/time.ts'
import { ledgerName } from '../../storage/accounts/ledgers.ts'
import { loadPassedActions } from '../../storage/brokers/late-executions.ts'
import type { Transaction } from '../../storage/database/sql.ts'
import { PassedActions, type PassingLedger } from '../passed-actions.ts'

/** What a ledger is delivered, or gives, at the end. */
export interface Delivery extends PassingLedger {
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
 * What deliveries come to today, by their ledgers; these are paid, or pay, what dividends and fractions they had no part in
 * then. Null where nothing has been booked since.
 */
export async function deliveriesOfToday(
  tx: Transaction,
  deliveries: readonly Delivery[],
  { instrumentId, pointValue, at }: DeliveredAt,
): Promise<ReadonlyMap<string, PositionFill> | null> {
  const booked = await loadPassedActions(tx, [{ instrumentId, occurredAt: at }])
  const actions = booked.filter(({ dayFrom }) => dayFrom > at)
  if (actions.length === 0) return null
  const passed = await PassedActions.load(tx, actions, deliveries)
  const fills = new Map(
    deliveries.map(({ fill: { side, quantity, price }, ...ledger }) => {
      let traded: Traded = { quantity: side === '1' ? quantity : quantity.negated(), price }
      for (const action of actions) traded = passed.pass(traded, action, ledger, pointValue)
      const fill: PositionFill = {
        ...{ side: traded.quantity.isNegative() ? '2' : '1', quantity: traded.quantity.abs() },
        price: traded.price,
      }
      return [ledgerName({ ...ledger, instrumentId }), fill] as const
    }),
  )
  await passed.save(tx)
  return fills
}
