/**
 * Synthetic days for what no package records: gold and the euro as seeded random walks that start from one real
 * snapshot of rates (`rates.json`). Nothing here happened; every instrument that trades on it says so in its
 * description. The same seed makes the same days.
 */
import { readFileSync } from 'node:fs'
import { type Decimal, dec, one, roundTo } from '../domain/decimal.ts'
import type { Day } from '../domain/time.ts'
import { normal } from '../execution/market/chance.ts'
import type { DailyBar } from './prices.ts'

interface Rates {
  /** Dollars for a euro, yen for a dollar, ounces of gold for a dollar. */
  readonly EURUSD: string
  readonly USDJPY: string
  readonly USDXAU: string
}

const rates = JSON.parse(readFileSync(new URL('rates.json', import.meta.url), 'utf8')) as Rates

/** Prices where nothing is known yet: the snapshot's, gold in dollars an ounce; plain ones of what is recorded. */
export const firstPrices = {
  SPX: dec(100),
  AAPL: dec(100),
  '@MGCZ30': roundTo(one.div(dec(rates.USDXAU)), 1),
  EURUSD: roundTo(dec(rates.EURUSD), 5),
  USDJPY: roundTo(dec(rates.USDJPY), 3),
} as const

interface WalkPlan {
  readonly start: Decimal
  /** Digits after the point. */
  readonly places: number
  /** Deviation of a day's return. */
  readonly volatility: number
}

/** Gold moves about 16 percent a year, the euro about 8. */
const plans: Record<'@MGCZ30' | 'EURUSD', WalkPlan> = {
  '@MGCZ30': { start: firstPrices['@MGCZ30'], places: 1, volatility: 0.01 },
  EURUSD: { start: firstPrices.EURUSD, places: 5, volatility: 0.005 },
}
const seed = 20_240_306

/** One bar a day: it opens where the day before closed. */
export function syntheticBars(symbol: keyof typeof plans, days: readonly Day[]): DailyBar[] {
  const { start, places, volatility } = plans[symbol]
  let price = start.toNumber()
  return days.map((day) => {
    const chance = (what: string): number => normal(seed, day, `${symbol} ${what}`) * volatility
    const open = price
    price = open * Math.exp(chance('close'))
    const [low, high] = [Math.min(open, price), Math.max(open, price)]
    const rounded = (value: number): Decimal => roundTo(dec(value.toFixed(8)), places)
    return {
      day,
      open: rounded(open),
      high: rounded(high * (1 + Math.abs(chance('high')) / 2)),
      low: rounded(low * (1 - Math.abs(chance('low')) / 2)),
      close: rounded(price),
      volume: null,
    }
  })
}
