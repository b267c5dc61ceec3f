/**
 * The groups in which AutoSync may open what is missing: an asset class in a region. A group's permission lasts
 * for one complete pass in its session: until nothing of the group waits to be opened any more.
 */

import type { SecurityType } from '../codes.ts'
import { type CalendarName, isOpen, nextOpen } from '../market/calendar.ts'
import type { Instant } from '../time.ts'
import type { PlannedRow } from './mirror-sync-plan.ts'

export const syncGroups = [
  'stocks_usa',
  'stocks_europe',
  'options_usa',
  'options_europe',
  'futures_usa',
  'futures_europe',
  'futures_asia',
  'forex',
] as const

export type SyncGroup = (typeof syncGroups)[number]

const european = new Set(
  'XEUR IFEU XLON XPAR XAMS XBRU XLIS XETR XFRA XSWX XMIL XMAD XSTO XHEL XCSE XOSL XWBO XDUB XLIF'.split(' '),
)
const asian = new Set(
  'XSES XHKG XHKF XTKS XOSE XKRX XTAI XTAF XASX XSFE XBOM XNSE XSHG XSHE XSGE XTKT'.split(' '),
)

/** The group of an instrument, by the region of its exchange; one of no stated market trades where its calendar does. */
export function syncGroupOf(assetClass: SecurityType, exchange: string, calendar: CalendarName): SyncGroup {
  if (assetClass === 'FOR') return 'forex'
  if (assetClass === 'FUT' && asian.has(exchange)) return 'futures_asia'
  const kind = ({ CS: 'stocks', OPT: 'options', FUT: 'futures' } as const)[assetClass]
  const isEuropean = exchange === 'DEFAULT' ? calendar === 'EUREX' : european.has(exchange)
  return isEuropean ? `${kind}_europe` : `${kind}_usa`
}

/** The hours of a group in which nothing is held. There is no calendar of Asia: a pass there has no hours. */
const usualCalendar: Record<SyncGroup, CalendarName> = {
  stocks_usa: 'US_EQUITY',
  stocks_europe: 'EUREX',
  options_usa: 'US_EQUITY',
  options_europe: 'EUREX',
  futures_usa: 'CME_GLOBEX',
  futures_europe: 'EUREX',
  futures_asia: 'CONTINUOUS',
  forex: 'FOREX',
}

/** A symbol that either side holds. */
export type GroupedSymbol = { readonly group: SyncGroup; readonly calendar: CalendarName }

const calendarsOf = (group: SyncGroup, symbols: Iterable<GroupedSymbol>): CalendarName[] => {
  const own = [...symbols].filter((symbol) => symbol.group === group).map(({ calendar }) => calendar)
  return own.length > 0 ? own : [usualCalendar[group]]
}

/** Whether nothing more will be done about a symbol by itself. */
const isSettled = ({ inSync, isLeft, reason }: PlannedRow): boolean =>
  inSync || isLeft || !['Opening', 'Reducing', 'Reversing', 'OrderPending'].includes(`${reason}`)

/** Of the groups that may open, those whose pass is complete at `at`. */
export const completedPasses = (
  groups: readonly SyncGroup[],
  symbols: ReadonlyMap<string, GroupedSymbol>,
  report: readonly PlannedRow[],
  at: Instant,
): SyncGroup[] =>
  groups.filter(
    (group) =>
      calendarsOf(group, symbols.values()).every((calendar) => isOpen(calendar, at)) &&
      report.every((row) => symbols.get(row.symbol)?.group !== group || isSettled(row)),
  )

/** When the next of these groups opens after `at`; null where all are open. */
export function nextPass(
  groups: readonly SyncGroup[],
  symbols: ReadonlyMap<string, GroupedSymbol>,
  at: Instant,
): Instant | null {
  const openings = groups
    .flatMap((group) => calendarsOf(group, symbols.values()))
    .map((calendar) => nextOpen(calendar, at))
    .filter((opening) => opening > at)
  return openings.length > 0 ? Math.min(...openings) : null
}
