/**
 * More rules of the demo: crossings of averages, channels, a calendar effect, and a band round an average. They
 * are textbook rules in plain form, here to make records of every kind, not to recommend them.
 */
import { type Decimal, dec } from '../domain/decimal.ts'
import { partsOfDay, readDay } from '../domain/time.ts'
import {
  buyIndex,
  type DemoSymbol,
  mean,
  nothing,
  order,
  type Rule,
  sellIndex,
  type Wishes,
} from './rules.ts'

/** Holds the index while its average of 50 days is above that of 200. */
export const goldenCross: Rule = (view) => {
  const closes = view.closes('SPX', 200)
  if (closes.length < 200 || view.working.length > 0) return nothing
  const isUp = mean(closes.slice(-50)) > mean(closes)
  const held = view.position('SPX')
  if (isUp && held.isZero()) return buyIndex(view, view.cash.times('0.95'))
  return !isUp && held.greaterThan(0) ? sellIndex(held) : nothing
}

/** Buys the highest close of 50 days, sells the lowest of 25. */
export const breakout: Rule = (view) => {
  const closes = view.closes('SPX', 50)
  const last = closes.at(-1)
  if (last === undefined || closes.length < 50 || view.working.length > 0) return nothing
  const held = view.position('SPX')
  if (held.isZero()) return last >= Math.max(...closes) ? buyIndex(view, view.cash.times('0.9')) : nothing
  return last <= Math.min(...closes.slice(-25)) ? sellIndex(held) : nothing
}

/** Holds the index from the last close of a quarter to the close of the next one's fourth day or later. */
export const turnOfQuarter: Rule = (view) => {
  if (view.day === undefined || view.working.length > 0) return nothing
  const [today, next] = [partsOfDay(view.day), partsOfDay(view.nextDay)]
  const held = view.position('SPX')
  if (today.month !== next.month && today.month % 3 === 0)
    return held.isZero() ? buyIndex(view, view.cash.times('0.9')) : nothing
  return held.greaterThan(0) && today.dayOfMonth >= 4 ? sellIndex(held) : nothing
}

/** The last week of the synthetic prices: what is held before is closed in it, so that no position outlives them. */
const syntheticEnd = readDay('2020-04-13') ?? 0
const goldContracts = dec(10)

/** Gold in a channel: with the highest close of 40 days long, with the lowest short, out at the other end of 20. */
export const goldChannel: Rule = (view) => {
  const symbol = '@MGCZ30'
  const closes = view.closes(symbol, 40)
  const last = closes.at(-1)
  if (last === undefined || closes.length < 40 || view.working.length > 0) return nothing
  const held = view.position(symbol)
  const half = closes.slice(-20)
  const isOver = view.nextDay >= syntheticEnd
  if (held.isZero()) {
    if (isOver) return nothing
    if (last >= Math.max(...closes)) return lasting(symbol, '1', goldContracts)
    return last <= Math.min(...closes) ? lasting(symbol, '2', goldContracts) : nothing
  }
  const isDone = held.isNegative() ? last >= Math.max(...half) : last <= Math.min(...half)
  return isDone || isOver ? lasting(symbol, held.isNegative() ? '1' : '2', held.abs()) : nothing
}

const euroUnits = dec(100)

/** The euro round its average of 20 days: against moves of more than 1.5 deviations, out at the average. */
export const euroBand: Rule = (view) => {
  const symbol = 'EURUSD'
  const closes = view.closes(symbol, 20)
  const last = closes.at(-1)
  if (last === undefined || closes.length < 20 || view.working.length > 0) return nothing
  const held = view.position(symbol)
  const middle = mean(closes)
  const isOver = view.nextDay >= syntheticEnd
  if (held.isZero()) {
    const band = 1.5 * Math.sqrt(mean(closes.map((close) => (close - middle) ** 2)))
    if (isOver || Math.abs(last - middle) <= band) return nothing
    return lasting(symbol, last < middle ? '1' : '2', euroUnits)
  }
  const isBack = held.isNegative() ? last <= middle : last >= middle
  return isBack || isOver ? lasting(symbol, held.isNegative() ? '1' : '2', held.abs()) : nothing
}

/** These markets are open when the index closes: a day order would end an hour later, with their day. */
const lasting = (symbol: DemoSymbol, side: '1' | '2', quantity: Decimal): Wishes =>
  order({ symbol, side, quantity, isLasting: true })
