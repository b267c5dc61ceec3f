/** Orders that ended before a split, whose quantities stay as they were: what goes on from them is in new units. */
import { dec, ledgerPlaces, quantityPlaces, roundTo, zero } from '../../domain/decimal.ts'
import { type Fragment, fragment } from '../database/sql.ts'
import { netExecutions, sinceSplits } from '../market/units-since-splits.ts'

/** What splits have made of its units and prices since it ended, and of what it has executed late, which is as it was told. */
interface SinceEnd {
  readonly unitsSince: string
  readonly priceSince: string
  readonly lateQty: string
  readonly lateValue: string
  readonly lateUnits: string
  readonly lateWorth: string
}

/** The columns of `SinceEnd`, beside the join below. */
export const sinceEndColumns: Fragment = fragment`
  since.units as "unitsSince", since.price as "priceSince", late.quantity as "lateQty", late.value as "lateValue",
  late.units as "lateUnits", late.worth as "lateWorth"`

/** To be joined to the table's alias `o`; of what has not ended nothing has changed, and nothing is read where none came. */
export const sinceEnd: Fragment = fragment`
  ${sinceSplits(fragment`o.instrument_id`, fragment`o.ended_at`, fragment`true`)}
  cross join lateral (
    with recursive chain as (
      select o.id, o.replaces_order_id where since.units <> 1 or since.price <> 1
      union all
      select p.id, p.replaces_order_id
      from chain join account_order p on p.account_id = o.account_id and p.id = chain.replaces_order_id
    )
    select coalesce(sum(e.quantity), 0) as quantity, coalesce(sum(e.quantity * e.px), 0) as value,
      coalesce(sum(e.quantity * since.units), 0) as units,
      coalesce(sum(e.quantity * since.units * e.px * since.price), 0) as worth
    from chain join ${netExecutions} e on e.account_id = o.account_id and e.order_id = chain.id
    ${sinceSplits(fragment`o.instrument_id`, fragment`e.executed_at`, fragment`true`)}
    where e.executed_at > o.ended_at
  ) late`

/** What an order `o` has executed, in the units of today. */
export const executedToday = fragment`round((o.cum_qty - late.quantity) * since.units + late.units, 8)`

/** As it is read. */
export type AsEnded<Row> = Row & SinceEnd

type Totals = Record<
  'orderQty' | 'cumQty' | 'carriedQty' | 'signalFilledBefore' | 'filledValue' | 'carriedValue',
  string
>

/** The order as it would be had it lived through the splits since its end. */
export function inNewUnits<Row extends Totals>({
  unitsSince,
  priceSince,
  lateQty,
  lateValue,
  lateUnits,
  lateWorth,
  ...row
}: AsEnded<Row>): Omit<AsEnded<Row>, keyof SinceEnd> {
  const [units, price] = [dec(unitsSince), dec(priceSince)]
  if (units.equals(1) && price.equals(1)) return row
  const restated = (quantity: string, late = zero, now = zero): string =>
    roundTo(dec(quantity).minus(late).times(units).plus(now), quantityPlaces).toFixed()
  const worth = (value: string, late = zero, now = zero): string =>
    roundTo(dec(value).minus(late).times(units).times(price).plus(now), ledgerPlaces).toFixed()
  return {
    ...row,
    orderQty: restated(row.orderQty),
    cumQty: restated(row.cumQty, dec(lateQty), dec(lateUnits)),
    carriedQty: restated(row.carriedQty),
    signalFilledBefore: restated(row.signalFilledBefore),
    filledValue: worth(row.filledValue, dec(lateValue), dec(lateWorth)),
    carriedValue: worth(row.carriedValue),
  }
}
