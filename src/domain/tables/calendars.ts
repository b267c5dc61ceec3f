/**
 * All calendars by the name that instruments carry. CONTINUOUS never rests: it is the calendar of simulated
 * markets, and its day rolls at 17:00 New York.
 */
import { type CalendarTable, clock, tableDay } from './calendar-table.ts'
import { usEquity } from './us-equity.ts'

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
  CONTINUOUS: continuous,
} satisfies Record<string, CalendarTable>
