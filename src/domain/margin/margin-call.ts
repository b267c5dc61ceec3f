/**
 * Which positions a margin call closes. What is margined together is closed together, so that no call leaves
 * a short option without its bound. One step closes one such unit, as much of it as is needed; the caller
 * fills it, marks again, and asks again until buying power is no longer negative.
 */
import { directionOf, type Side } from '../codes.ts'
import { type Decimal, min, one, quantityPlaces, roundTo, sign, sum, zero } from '../decimal.ts'
import { groupBy } from '../group.ts'
import { marginUsed } from './margin.ts'
import { matchOptions, type OptionMatch } from './margin-options.ts'
import type { MarginPosition } from './margin-position.ts'

/** A market order that closes `quantity` (unsigned) of a position. */
export interface MarginCallOrder {
  readonly symbol: string
  readonly side: Side
  readonly quantity: Decimal
}

/** Closed together, in this order; `perCount` is what one count of the unit closes of a leg. */
interface Unit {
  readonly count: Decimal
  readonly legs: readonly { readonly position: MarginPosition; readonly perCount: Decimal }[]
}

/**
 * The next orders of a margin call, a spread's short leg first: whole counts of the unit whose closing frees
 * the most margin, among those with every market open, the first of equals. Empty when buying power is not
 * negative, or nothing that can be closed frees any.
 */
export function marginCall(
  positions: readonly MarginPosition[],
  modelAccountValue: Decimal,
  isMarketOpen: (symbol: string) => boolean,
): MarginCallOrder[] {
  const used = marginUsed(positions)
  const shortfall = used.minus(modelAccountValue)
  if (!shortfall.greaterThan(0)) return []
  const freedBy = (unit: Unit, count: Decimal): Decimal =>
    used.minus(marginUsed(afterClosing(positions, unit, count)))
  let best: { readonly unit: Unit; readonly freed: Decimal } | undefined
  for (const unit of unitsOf(positions)) {
    if (!unit.legs.every(({ position }) => isMarketOpen(position.symbol))) continue
    const freed = freedBy(unit, unit.count)
    if (freed.greaterThan(best?.freed ?? zero)) best = { unit, freed }
  }
  if (!best) return []
  const { unit } = best
  const count = leastCount(unit.count, (tried) => freedBy(unit, tried).greaterThanOrEqualTo(shortfall))
  return unit.legs.map(({ position, perCount }) => ({
    symbol: position.symbol,
    side: position.quantity.isNegative() ? '1' : '2',
    quantity: roundTo(perCount.times(count), quantityPlaces),
  }))
}

/**
 * All orders of a margin call at these marks: steps one after the other until buying power is no longer
 * negative or nothing more frees margin. Closing at the mark leaves the account value as it is.
 */
export function wholeMarginCall(
  positions: readonly MarginPosition[],
  modelAccountValue: Decimal,
  isMarketOpen: (symbol: string) => boolean,
): MarginCallOrder[] {
  const orders: MarginCallOrder[] = []
  let held = positions
  for (;;) {
    const next = marginCall(held, modelAccountValue, isMarketOpen)
    if (next.length === 0) return merged(orders)
    orders.push(...next)
    held = held
      .map((position) => ({ ...position, quantity: position.quantity.plus(signedOf(next, position.symbol)) }))
      .filter(({ quantity }) => !quantity.isZero())
  }
}

const signedOf = (orders: readonly MarginCallOrder[], symbol: string): Decimal =>
  sum(
    orders
      .filter((order) => order.symbol === symbol)
      .map(({ side, quantity }) => quantity.times(directionOf(side))),
  )

/** One order per position. */
const merged = (orders: readonly MarginCallOrder[]): MarginCallOrder[] =>
  [...groupBy(orders, ({ symbol }) => symbol)].map(([symbol, [first]]) => ({
    ...first,
    quantity: signedOf(orders, symbol).abs(),
  }))

/** Pairs, covered options with their stock, and whatever is left of each position. */
function unitsOf(positions: readonly MarginPosition[]): Unit[] {
  const matches = matchOptions(positions)
  const others = positions
    .filter(({ securityType }) => securityType !== 'OPT')
    .map((position) => {
      const covering = matches.filter((match) => match.kind === 'covered' && match.stock === position)
      const bound = sum(covering.map(stockUnits))
      return { count: position.quantity.abs().minus(bound), legs: [{ position, perCount: one }] }
    })
  return [...others, ...matches.map(unitOf)].filter(({ count }) => count.greaterThan(0))
}

const stockUnits = (match: OptionMatch): Decimal =>
  match.kind === 'covered' ? match.contracts.times(match.short.pointValue) : zero

function unitOf(match: OptionMatch): Unit {
  const legs =
    match.kind === 'single'
      ? [{ position: match.option, perCount: one }]
      : [
          { position: match.short, perCount: one },
          match.kind === 'pair'
            ? { position: match.long, perCount: one }
            : { position: match.stock, perCount: match.short.pointValue },
        ]
  return { count: match.contracts, legs }
}

function afterClosing(positions: readonly MarginPosition[], unit: Unit, count: Decimal): MarginPosition[] {
  return positions.map((position) => {
    const leg = unit.legs.find((candidate) => candidate.position === position)
    if (!leg) return position
    const closed = leg.perCount.times(count)
    return { ...position, quantity: position.quantity.minus(closed.times(sign(position.quantity))) }
  })
}

/** The least whole count that is enough, by bisection; all of it when nothing less is. */
function leastCount(all: Decimal, isEnough: (count: Decimal) => boolean): Decimal {
  let tooFew = zero
  let enough = all.ceil()
  while (enough.minus(tooFew).greaterThan(1)) {
    const middle = tooFew.plus(enough).div(2).floor()
    if (isEnough(middle)) enough = middle
    else tooFew = middle
  }
  return min(enough, all)
}
