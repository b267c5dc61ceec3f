/**
 * All calendars by the name that instruments carry. CONTINUOUS never rests: it is the calendar of simulated
 * markets, and its day rolls at 17:00 New York. Index options trade a quarter of an hour longer than stocks.
 */
import { type CalendarTable, clock, tableDay } from './calendar-table.ts'
import { cbotGrains } from './cbot-grains.ts'
import { cbotRates } from './cbot-rates.ts'
import { cfe } from './cfe.ts'
import { cmeEnergyMetals } from './cme-energy-metals.ts'
import { cmeEquity } from './cme-equity.ts'
import { cmeFx } from './cme-fx.ts'
import { cmeLivestock } from './cme-livestock.ts'
import { eurex } from './eurex.ts'
import { forexHours } from './forex-hours.ts'
import { usEquity } from './us-equity.ts'

const indexOptions: CalendarTable = {
  ...usEquity,
  parts: [[clock('09:30'), clock('16:15')]],
  earlyCloses: new Map([...usEquity.earlyCloses.keys()].map((day) => [day, clock('13:15')])),
}

const continuous: CalendarTable = {
  zone: 'America/New_York',
  parts: [[clock('17:00') - 1440, clock('17:00')]],
  weekends: true,
  closed: new Set(),
  earlyCloses: new Map(),
  lateOpens: new Map(),
  validUntil: tableDay('2099-12-31'),
}

export const calendarTables = {
  US_EQUITY: usEquity,
  US_INDEX_OPTION: indexOptions,
  CME_GLOBEX: cmeEquity,
  CME_FX: cmeFx,
  CME_ENERGY_METALS: cmeEnergyMetals,
  CME_LIVESTOCK: cmeLivestock,
  CBOT_RATES: cbotRates,
  CBOT_GRAINS: cbotGrains,
  CFE: cfe,
  EUREX: eurex,
  FOREX: forexHours,
  CONTINUOUS: continuous,
} satisfies Record<string, CalendarTable>
