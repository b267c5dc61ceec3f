/**
 * What new orders meet: their instruments with the last quotes, and everything their strategies hold. Read under the
 * strategies' locks it cannot change before the commit.
 */
import type { Side } from '../../domain/codes.ts'
import type { CalendarName } from '../../domain/market/calendar.ts'
import type { Instant } from '../../domain/time.ts'
import { distinct } from '../database/places.ts'
import { type Sql, uncounted } from '../database/sql.ts'
import { type InstrumentQuestion, listedAsAsked } from '../market/instruments.ts'
import { lastSplit } from '../market/units-since-splits.ts'
import { type HoldingRow, holdingColumns, holdingTables } from './model-accounts.ts'
import { newSignalIds } from './signals.ts'

/** One order's question: what would it trade, and what does its strategy hold of it? */
export interface PlacingQuestion extends InstrumentQuestion {
  readonly strategyId: number | bigint
  /** How many ids the order needs beside its own. */
  readonly moreIds?: number
  /** A reversal of the position needs one more. Absent: it cannot be one. */
  readonly reverses?: Side
}

export interface PlacingRow {
  /** The id the signal will have. */
  readonly signalId: number
  readonly moreIds: readonly number[]
  readonly instrumentId: number
  readonly calendar: CalendarName
  readonly tick: string
  /** Not of a contract that has ended, also for who came before its end and waited for his strategy. */
  readonly isTradable: boolean
  /** When its last split took effect: prices and quantities of before it are in other units. Null without one. */
  readonly splitAt: Instant | null
  /** YYYY-MM-DD; null where trading does not end. */
  readonly lastTradingDay: string | null
  readonly position: string
  readonly bid: string | null
  readonly ask: string | null
}

export interface Placing {
  /** The answers to the questions that have a known instrument, by the question's index. */
  readonly rows: ReadonlyMap<number, PlacingRow>
  /** What the strategies hold, and the instruments that were asked for. */
  readonly holdings: readonly HoldingRow[]
}

/** Answers the questions. Ids rise with them, so that of orders of one moment the one asked for first comes first. */
export async function loadPlacing(sql: Sql, questions: readonly PlacingQuestion[]): Promise<Placing> {
  if (questions.length === 0) return { rows: new Map(), holdings: [] }
  const { asked, places } = distinct(questions, nameOf)
  const wanted = questions.reduce((sum, { moreIds = 0 }) => sum + 1 + moreIds, 0)
  const [holdings, ids] = await Promise.all([loadMarkets(sql, asked), newSignalIds(sql, wanted)])
  const markets = new Map(holdings.map((row) => [row.place, row]))
  const reversals = questions.filter(({ reverses }, index) =>
    isReversed(reverses, markets.get(places[index] as number)),
  )
  const others = reversals.length === 0 ? [] : await newSignalIds(sql, reversals.length)
  const rows = new Map<number, PlacingRow>()
  let used = 0
  questions.forEach(({ moreIds = 0, reverses }, index) => {
    const [signalId, more] = [ids[used] ?? 0, ids.slice(used + 1, used + 1 + moreIds)]
    used += 1 + moreIds
    const market = markets.get(places[index] as number)
    if (market === undefined) return
    if (isReversed(reverses, market)) more.push(...others.splice(0, 1))
    rows.set(index, placingRow(market, signalId, more))
  })
  return { rows, holdings }
}

const nameOf = ({ strategyId, securityType, spellings, currency, exchange, lastDay }: PlacingQuestion) =>
  `${strategyId} ${securityType} ${spellings.join(' ')} ${currency} ${exchange} ${lastDay}`

/** Whether an order of this side is against the position. */
const isReversed = (side: Side | undefined, market: MarketRow | undefined): boolean => {
  const position = Number(market?.quantity ?? 0)
  return side === '1' ? position < 0 : side === '2' && position > 0
}

const placingRow = (market: MarketRow, signalId: number, moreIds: readonly number[]): PlacingRow => ({
  signalId,
  moreIds,
  instrumentId: market.instrumentId,
  calendar: market.calendar,
  tick: market.tick,
  isTradable: market.isTradable,
  splitAt: market.splitAt,
  lastTradingDay: market.lastTradingDay,
  position: market.quantity,
  bid: market.bid,
  ask: market.ask,
})

/** What one strategy has of one instrument; `place` is null where no question asks for it. */
interface MarketRow extends HoldingRow {
  readonly place: number | null
  readonly tick: string
  readonly isTradable: boolean
  readonly splitAt: Instant | null
}

function loadMarkets(sql: Sql, questions: readonly PlacingQuestion[]): Promise<MarketRow[]> {
  const asked = questions.flatMap((question, place) =>
    question.spellings.map((symbol) => ({ place, symbol, ...question })),
  )
  const strategyIds = asked.map(({ strategyId }) => strategyId)
  return sql.rows<MarketRow>`
    select held.place, i.tick, i.is_tradable and i.ended_at is null as "isTradable", ${lastSplit} as "splitAt",
      ${holdingColumns}
    from (
      select asked.place, asked.strategy_id, i.id as instrument_id
      from unnest(${uncounted(strategyIds, 'bigint')}, ${asked.map(({ place }) => place)}::int[],
        ${asked.map(({ symbol }) => symbol)}::text[], ${asked.map(({ securityType }) => securityType)}::text[],
        ${asked.map(({ currency }) => currency)}::text[], ${asked.map(({ exchange }) => exchange)}::text[],
        ${asked.map(({ lastDay }) => lastDay)}::date[])
        asked (strategy_id, place, symbol, security_type, currency, exchange, last_day)
      join instrument i on i.symbol = asked.symbol and i.security_type = asked.security_type and ${listedAsAsked}
      union all
      select null, strategy_id, instrument_id from position
      where strategy_id = any(${uncounted(strategyIds, 'bigint')}::bigint[]) and quantity <> 0
    ) held ${holdingTables}`
}
