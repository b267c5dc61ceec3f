/** The demo's instruments, and the simulation that carries their prices on after the recorded history. */

import { dec } from '../domain/decimal.ts'
import { completeInstrument, deriveInstrument } from '../domain/market/derive-instrument.ts'
import type { Instrument } from '../domain/market/instrument.ts'
import { runningDay } from '../domain/market/trading-day.ts'
import { type Day, dayIn, dayLength, type Instant, newYork, partsOfDay, readDay } from '../domain/time.ts'
import {
  type SimulatedInstrument,
  type SimulationPlan,
  simulationSwitch,
} from '../execution/market/simulated.ts'
import { saveDailyMarks } from '../storage/accounts/daily-marks.ts'
import type { Sql, Transaction } from '../storage/database/sql.ts'
import { insertInstruments } from '../storage/market/instruments.ts'
import { loadQuotedInstruments, saveQuotes } from '../storage/market/quotes.ts'
import { relistInstrument } from '../storage/operating/provision.ts'
import { saveIndexCloses } from '../storage/strategies/strategy-statistics.ts'
import { setSwitch } from '../storage/work/switches.ts'
import type { DemoSymbol } from './rules.ts'
import { firstPrices } from './synthetic.ts'
import type { Tape } from './tape.ts'

const descriptions = {
  SPX: 'S&P 500 index (an index, traded as a stock of point value 1)',
  AAPL: 'Apple Inc.',
} as const
/** Every price of these is made up; what is said of them says so. */
const synthetic = {
  '@MGCZ30': 'Micro Gold Futures, December 2030 (synthetic prices, then simulated)',
  EURUSD: 'EUR/USD (synthetic prices, then simulated)',
} as const
const seed = 20_200_417
const stepMs = 250

/** The instruments of the history; the currency pair of it is there already and gets its description. */
export async function insertPlayed(tx: Transaction, today: Day): Promise<void> {
  const recorded = Object.entries(descriptions).map(([symbol, description]) =>
    completeInstrument({ symbol, securityType: 'CS', description }, today),
  )
  const future = { securityType: 'FUT', root: 'MGC', year: 2030, month: 12 } as const
  const gold = deriveInstrument(future)
  if (typeof gold === 'string') throw new Error('the tables know no future on gold')
  await insertInstruments(tx, [...recorded, { ...gold, description: synthetic['@MGCZ30'] }])
  await relistInstrument(tx, { symbol: 'EURUSD', calendar: 'FOREX', description: synthetic.EURUSD })
}

/** Enters the closes of all days: on days on which nobody traded no bar was published. */
export async function enterMarks(sql: Sql, tape: Tape): Promise<void> {
  const known = await loadQuotedInstruments(sql, Object.keys({ ...descriptions, ...synthetic }), [])
  const idOf = new Map(known.map(({ symbol, id }) => [symbol, id]))
  const marks = tape.days.flatMap(({ day, bars }) =>
    bars.flatMap((bar) => {
      const instrumentId = 'symbol' in bar ? idOf.get(bar.symbol) : bar.instrumentId
      return instrumentId === undefined ? [] : [{ instrumentId, day, bid: bar.close, ask: bar.close }]
    }),
  )
  await saveDailyMarks(sql, marks)
}

/** Enters the recorded index as what strategies are compared with. */
export async function enterIndex(sql: Sql, { days }: Tape): Promise<void> {
  const closes = days.flatMap(({ day, bars }) =>
    bars.flatMap((bar) =>
      'symbol' in bar && bar.symbol === 'SPX' ? [{ day, close: bar.close.toFixed() }] : [],
    ),
  )
  await saveIndexCloses(sql, closes)
}

/** Instruments that are simulated from the start, with plausible first prices in the middle of bid and ask. */
function simulated(future: string): readonly (SimulatedInstrument & { price?: string })[] {
  return [
    { symbol: 'SPX', volatility: 0.16, loading: 0.95, spreadTicks: 30, size: 500 },
    { symbol: 'AAPL', volatility: 0.3, loading: 0.7, spreadTicks: 5, size: 1_000 },
    { symbol: future, price: '2874.5', volatility: 0.16, loading: 0.96, spreadTicks: 2, size: 200 },
    { symbol: '@MGCZ30', volatility: 0.16, loading: 0.05, spreadTicks: 2, size: 100 },
    { symbol: 'EURUSD', volatility: 0.07, loading: 0.2, spreadTicks: 12, size: 1_000 },
    {
      symbol: 'USDJPY',
      price: firstPrices.USDJPY.toFixed(),
      volatility: 0.08,
      loading: 0.25,
      spreadTicks: 12,
      size: 1_000,
    },
  ]
}

/**
 * Opens the market that goes on: every instrument has a mark at `now`, the recorded ones their last closes, and
 * is labelled as simulated; SPX and AAPL trade round the clock.
 */
export async function openSimulation(
  tx: Transaction,
  now: Instant,
  lastPrices: Record<DemoSymbol, string>,
): Promise<void> {
  const today = dayIn(now, newYork)
  const future = currentFuture(today)
  await insertInstruments(tx, [future])
  await relist(tx, future)
  const instruments = simulated(future.symbol)
  const known = await loadQuotedInstruments(
    tx,
    instruments.map(({ symbol }) => symbol),
    [],
  )
  const quotes = known.map(({ id, symbol }) => {
    const started = instruments.find((instrument) => instrument.symbol === symbol)?.price
    const price = dec(started ?? lastPrices[symbol as DemoSymbol])
    return {
      instrumentId: id,
      bid: price,
      ask: price,
      hasBid: true,
      bidSize: null,
      askSize: null,
      at: now,
      day: runningDay(now),
    }
  })
  // Marks, not quotes to trade on: the first of those comes from the simulation.
  await saveQuotes(tx, quotes, false, now)
  const plan: SimulationPlan = {
    seed,
    stepMs,
    instruments: instruments.map(({ price: _, ...instrument }) => instrument),
  }
  await setSwitch(tx, simulationSwitch, plan, now)
}

async function relist(tx: Transaction, future: Instrument): Promise<void> {
  const recorded = (symbol: keyof typeof descriptions, last: string) => ({
    symbol,
    calendar: 'CONTINUOUS' as const,
    description: `${descriptions[symbol]}; recorded prices to ${last}, then simulated round the clock`,
  })
  const { symbol, calendar, description } = future
  await relistInstrument(tx, recorded('SPX', '2020-04-17'))
  await relistInstrument(tx, recorded('AAPL', '2012-05-01'))
  const yen = { symbol: 'USDJPY', calendar: 'FOREX', description: 'USD/JPY (simulated)' } as const
  await relistInstrument(tx, yen)
  await relistInstrument(tx, { symbol, calendar, description: `${description} (simulated)` })
}

/** The quarterly future on the index that still trades for a week or more. */
function currentFuture(today: Day): Instrument {
  const { year, month } = partsOfDay(today)
  for (let ahead = 0; ahead < 12; ahead++) {
    const at = new Date(Date.UTC(year, month - 1 + ahead, 1))
    const [ofYear, ofMonth] = [at.getUTCFullYear(), at.getUTCMonth() + 1]
    if (ofMonth % 3 !== 0) continue
    const future = deriveInstrument({ securityType: 'FUT', root: 'ES', year: ofYear, month: ofMonth })
    if (typeof future === 'string') throw new Error('the tables know no future on the index')
    if ((readDay(future.lastTradingDay ?? '') ?? 0) >= today + 7) return future
  }
  throw new Error(`no future on the index trades after ${new Date(today * dayLength).toISOString()}`)
}
