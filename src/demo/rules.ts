/**
 * The demo's strategies as rules: what each orders after a day's close, from the closes up to that day and its
 * own books. A rule sees no later price: what it orders meets the next day's bar. Averages are statistics and
 * so doubles; prices and quantities are decimals.
 */
import type { OrdType, Side } from '../domain/codes.ts'
import { type Decimal, dec, roundTo, zero } from '../domain/decimal.ts'
import { type Day, partsOfDay, weekdayOf } from '../domain/time.ts'

/** The index and a stock as they were recorded; a future on gold and the euro on synthetic prices. */
export type DemoSymbol = 'SPX' | 'AAPL' | '@MGCZ30' | 'EURUSD'

/** A strategy's books and the market as they are known after a day's close. */
export interface RuleView {
  /** The trade date of the bar that an order placed now will meet. */
  readonly nextDay: Day
  /** The day of the last bar seen; undefined before the first. */
  readonly day: Day | undefined
  /** The last closes up to now, oldest first; fewer where history is shorter. */
  closes(symbol: DemoSymbol, count: number): readonly number[]
  /** The last close; undefined before the first. */
  price(symbol: DemoSymbol): Decimal | undefined
  /** Signed. */
  position(symbol: DemoSymbol): Decimal
  /** Average price of what is held; undefined when nothing is. */
  entry(symbol: DemoSymbol): Decimal | undefined
  readonly cash: Decimal
  readonly working: readonly WorkingWish[]
}

export interface WorkingWish {
  readonly signalId: number
  readonly symbol: string
  readonly ordType: OrdType
  readonly side: Side
}

export interface OrderWish {
  readonly symbol: DemoSymbol
  readonly side: Side
  readonly quantity: Decimal
  readonly limit?: Decimal
  readonly stop?: Decimal
  /** Good till canceled; otherwise for the next session. */
  readonly isLasting?: boolean
}

/** Cancels first; the orders follow when these are done. */
export interface Wishes {
  readonly cancels: readonly number[]
  readonly orders: readonly OrderWish[]
}

export type Rule = (view: RuleView) => Wishes

export const nothing: Wishes = { cancels: [], orders: [] }

/** Wishes that place orders and cancel none. */
export const order = (...orders: OrderWish[]): Wishes => ({ cancels: [], orders })

/** The rule, asked once a week: after the week's last close. */
export const weekly =
  (rule: Rule): Rule =>
  (view) =>
    view.day !== undefined && isWeekOver(view.day, view.nextDay) ? rule(view) : nothing

const isWeekOver = (day: Day, nextDay: Day): boolean =>
  weekdayOf(nextDay) <= weekdayOf(day) || nextDay - day > 6

/** Shares that the first strategy buys at the first open and keeps. */
export const holdQuantity = dec(60)

/** Buys once, before the first bar, and never trades again. */
export const buyAndHold: Rule = (view) =>
  view.position('SPX').isZero() && view.working.length === 0
    ? order({ symbol: 'SPX', side: '1', quantity: holdQuantity })
    : nothing

/** Holds the index while it closes above its average of 200 days, with 95 percent of the account. */
export const trend200: Rule = (view) => {
  const closes = view.closes('SPX', 200)
  const price = view.price('SPX')
  if (!price || closes.length < 200 || view.working.length > 0) return nothing
  const isUp = price.toNumber() > mean(closes)
  const held = view.position('SPX')
  if (isUp && held.isZero()) return buyIndex(view, view.cash.times('0.95'))
  return !isUp && held.greaterThan(0) ? sellIndex(held) : nothing
}

/** Buys the index for so much money, whole units; nothing where it buys none. */
export function buyIndex(view: RuleView, money: Decimal): Wishes {
  const price = view.price('SPX')
  const quantity = price === undefined ? zero : money.div(price).floor()
  return quantity.greaterThan(0) ? order({ symbol: 'SPX', side: '1', quantity }) : nothing
}

/** Sells so much of the index. */
export const sellIndex = (quantity: Decimal): Wishes => order({ symbol: 'SPX', side: '2', quantity })

const shares: readonly [DemoSymbol, string][] = [
  ['SPX', '0.6'],
  ['AAPL', '0.35'],
]
/** The last month that Apple's recorded prices reach into; later the positions are kept as they are. */
const lastRebalancing = { year: 2012, month: 4 }

/** On the last day of each month back to 60 percent index and 35 percent Apple; the rest stays in cash. */
export const monthlyRebalance: Rule = (view) => {
  if (view.day === undefined || view.working.length > 0) return nothing
  const { year, month } = partsOfDay(view.day)
  const isMonthEnd = partsOfDay(view.nextDay).month !== month
  const isOver =
    year > lastRebalancing.year || (year === lastRebalancing.year && month > lastRebalancing.month)
  if (!isMonthEnd || isOver) return nothing
  const prices = shares.map(([symbol]) => view.price(symbol))
  const value = shares.reduce(
    (sum, [symbol], place) => sum.plus(view.position(symbol).times(prices[place] ?? zero)),
    view.cash,
  )
  const changes = shares.flatMap(([symbol, share], place) => {
    const price = prices[place]
    return price
      ? [{ symbol, change: value.times(share).div(price).floor().minus(view.position(symbol)) }]
      : []
  })
  const orders = changes
    .filter(({ change }) => !change.isZero())
    .sort((a, b) => a.change.comparedTo(b.change)) // what is sold pays for what is bought
    .map(
      ({ symbol, change }): OrderWish => ({
        symbol,
        side: change.isNegative() ? '2' : '1',
        quantity: change.abs(),
      }),
    )
  return order(...orders)
}

const reversionMoney = dec(60_000)

/**
 * After five lower closes in a row bids half a percent below the last one, for a day. Protects what it got with
 * a stop four percent below, and sells at market when the index closes above its average of five days.
 */
export const meanReversion: Rule = (view) => {
  const price = view.price('SPX')
  const closes = view.closes('SPX', 6)
  if (!price || closes.length < 6) return nothing
  const held = view.position('SPX')
  if (held.greaterThan(0)) return protectOrSell(view, held, price, closes.slice(1))
  const isFalling = closes.every((close, place) => place === 0 || close < (closes[place - 1] ?? close))
  if (!isFalling || view.working.length > 0) return nothing
  const quantity = reversionMoney.div(price).floor()
  return order({ symbol: 'SPX', side: '1', quantity, limit: roundTo(price.times('0.995'), 2) })
}

function protectOrSell(view: RuleView, held: Decimal, price: Decimal, closes: readonly number[]): Wishes {
  const stops = view.working.filter(({ ordType }) => ordType === '3')
  if (price.toNumber() > mean(closes)) {
    const sale: OrderWish = { symbol: 'SPX', side: '2', quantity: held }
    return { cancels: stops.map(({ signalId }) => signalId), orders: [sale] }
  }
  if (stops.length > 0) return nothing
  const stop = roundTo(price.times('0.96'), 2)
  return order({ symbol: 'SPX', side: '2', quantity: held, stop, isLasting: true })
}

/** The mean of at least one value. */
export const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length
