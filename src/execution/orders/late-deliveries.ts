/** What the ends of contracts deliver that are settled again, in units of today: dividends and splits came since. */
import { type Decimal, ledgerPlaces, roundTo } from '../../domain/decimal.ts'
import type { Traded } from '../../domain/positions/late-execution.ts'
import type { PositionFill } from '../../domain/positions/position.ts'
import { priceAfter, unitsAfter } from '../../domain/positions/split.ts'
import type { Instant } from '../../domain/time.ts'
import { ledgerName } from '../../storage/accounts/ledgers.ts'
import { type BookedAction, loadPassedActions } from '../../storage/brokers/late-executions.ts'
import type { Transaction } from '../../storage/database/sql.ts'
import { PassedActions, type PassingLedger } from '../passed-actions.ts'
import type { InternalTrade } from './internal-orders.ts'

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
  const actions = await actionsSince(tx, instrumentId, at)
  if (actions.length === 0) return null
  const passed = await PassedActions.load(tx, actions, deliveries)
  const fills = new Map(
    deliveries.map(({ fill: { side, quantity, price }, ...ledger }) => {
      let traded: Traded = { quantity: side === '1' ? quantity : quantity.negated(), price }
      for (const action of actions) traded = passed.pass(traded, action, ledger, pointValue)
      const fill: PositionFill = {
        side: traded.quantity.isNegative() ? '2' : '1',
        quantity: traded.quantity.abs(),
        price: traded.price,
      }
      return [ledgerName({ ...ledger, instrumentId }), fill] as const
    }),
  )
  await passed.save(tx)
  return fills
}

/**
 * What strategies are delivered, by their ids: as of `now`, behind the splits since, and as much as these have made of it.
 * What they have left nothing of is not delivered.
 */
export async function tradesOfToday(
  tx: Transaction,
  trades: ReadonlyMap<number, InternalTrade>,
  { instrumentId, at, now }: Pick<DeliveredAt, 'instrumentId' | 'at'> & { readonly now: Instant },
): Promise<ReadonlyMap<number, InternalTrade>> {
  const splits = (await actionsSince(tx, instrumentId, at)).filter(({ kind }) => kind === 'split')
  if (splits.length === 0) return trades
  const ofToday = [...trades].map(([strategyId, trade]): [number, InternalTrade] => {
    let { quantity, price } = trade
    for (const split of splits) {
      const ratio = { new: split.newUnits, old: split.oldUnits }
      quantity = unitsAfter(quantity, ratio).trunc()
      price = roundTo(priceAfter(price, ratio), ledgerPlaces)
    }
    return [strategyId, { ...trade, quantity, price, at: now }]
  })
  return new Map(ofToday.filter(([, { quantity }]) => !quantity.isZero()))
}

/** What was booked of an instrument since the day of a moment. */
async function actionsSince(tx: Transaction, instrumentId: number, at: Instant): Promise<BookedAction[]> {
  const booked = await loadPassedActions(tx, [{ instrumentId, occurredAt: at }])
  return booked.filter(({ dayFrom }) => dayFrom > at)
}
