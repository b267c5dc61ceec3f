/** The instruments that can be traded, with what their numbers mean. */
import { dec } from '../../domain/decimal.ts'
import { dayIn, formatDay, newYork } from '../../domain/time.ts'
import { type InstrumentRow, pageInstruments } from '../../storage/market/instruments.ts'
import type { Handler } from '../handler.ts'
import { paged } from '../paging.ts'
import { shownSymbols } from '../symbols.ts'

/** Instruments in the order in which they were entered or made; what has expired is left out. */
export const getSupportedSymbols: Handler<'GetSupportedSymbols'> = (ctx, params) =>
  paged(ctx, 'GetSupportedSymbols', params, shownInstrument, (request) =>
    pageInstruments(ctx.sql, formatDay(dayIn(ctx.now, newYork)), request),
  )

function shownInstrument(row: InstrumentRow) {
  const { initialMargin: initial, maintenanceMargin: maintenance } = row
  return {
    Id: row.instrumentId,
    Currency: row.currency,
    Description: row.description,
    PointValue: row.pointValue,
    TickSize: row.tick,
    DecimalPrecision: dec(row.tick).decimalPlaces(),
    ...shownSymbols(row),
    // One margin entered stands for both.
    MarginRequirements:
      initial === null && maintenance === null
        ? null
        : { Initial: initial ?? maintenance ?? 0, Maintenance: maintenance ?? initial ?? 0 },
    // No broker has told requirements of its own.
    BrokerMarginRequirements: [],
  }
}
