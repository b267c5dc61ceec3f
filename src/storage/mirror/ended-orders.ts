/** Orders that ended before a split, whose quantities stay as they were: what goes on from them is in new units. */
import { dec, ledgerPlaces, quantityPlaces, roundTo } from '../../domain/decimal.ts'
import { type Fragment, fragment } from '../database/sql.ts'
import { sinceSplits } from '../market/units-since-splits.ts'

/** What splits have made of its units and of its prices since it ended. */
interface SinceEnd {
  readonly unitsSince: string
  readonly priceSince: string
}

/** The columns of `SinceEnd`, beside the join below. */
export const sinceEndColumns: Fragment = fragment`since.units as "unitsSince", since.price as "priceSince"`

/** To be joined to the table's alias `o`; of what has not ended nothing has changed. */
export const sinceEnd: Fragment = sinceSplits(fragment`o.instrument_id`, fragment`o.ended_at`, fragment`true`)

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
  ...row
}: AsEnded<Row>): Omit<AsEnded<Row>, keyof SinceEnd> {
  const [units, price] = [dec(unitsSince), dec(priceSince)]
  if (units.equals(1) && price.equals(1)) return row
  const restated = (quantity: string): string => roundTo(dec(quantity).times(units), quantityPlaces).toFixed()
  const worth = (value: string): string =>
    roundTo(dec(value).times(units).times(price), ledgerPlaces).toFixed()
  return {
    ...row,
    orderQty: restated(row.orderQty),
    cumQty: restated(row.cumQty),
    carriedQty: restated(row.carriedQty),
    signalFilledBefore: restated(row.signalFilledBefore),
    filledValue: worth(row.filledValue),
    carriedValue: worth(row.carriedValue),
  }
}
