/**
 * Options are margined by what bounds their loss. Short options are matched with stock first, then by expiry
 * and strike with the long option of the nearest strike; what stays alone is charged alone.
 * Invariants: every contract is in exactly one match; a pair is never charged more than its two legs would be.
 */
import { type Decimal, dec, max, min, quantityPlaces, roundTo, zero } from '../decimal.ts'
import type { MarginPosition, OptionHeld, StockHeld } from './margin-position.ts'

/** `contracts` is unsigned; `stock` covers `contracts` times the point value in units. */
export type OptionMatch =
  | {
      readonly kind: 'covered'
      readonly short: OptionHeld
      readonly stock: StockHeld
      readonly contracts: Decimal
    }
  | {
      readonly kind: 'pair'
      readonly short: OptionHeld
      readonly long: OptionHeld
      readonly contracts: Decimal
    }
  | { readonly kind: 'single'; readonly option: OptionHeld; readonly contracts: Decimal }

const shareOfUnderlying = dec('0.20')
const shareOfIndex = dec('0.15')
const leastShare = dec('0.10')

/** Something not yet matched: contracts of a long option, or units of a stock. */
interface Unmatched<Source> {
  readonly source: Source
  left: Decimal
}

const unmatched = <Source extends MarginPosition>(source: Source): Unmatched<Source> => ({
  source,
  left: source.quantity.abs(),
})

const isCall = (option: OptionHeld): boolean => option.putOrCall === '1'

/** Matches the options of a portfolio with its stocks and with each other. */
export function matchOptions(positions: readonly MarginPosition[]): OptionMatch[] {
  const options = positions.filter((position) => position.securityType === 'OPT')
  if (options.length === 0) return []
  const stocks = positions.filter((position) => position.securityType === 'CS').map(unmatched)
  const longs = options.filter(({ quantity }) => quantity.greaterThan(0)).map(unmatched)
  const shorts = options.filter(({ quantity }) => quantity.lessThan(0)).sort(byExpiryAndStrike)
  const matches = shorts.flatMap((short) => matchShort(short, stocks, longs))
  for (const { source, left } of longs) {
    if (left.greaterThan(0)) matches.push({ kind: 'single', option: source, contracts: left })
  }
  return matches
}

/** Equity requirement of a match in account currency, never negative. */
export function matchRequirement(match: OptionMatch): Decimal {
  switch (match.kind) {
    case 'covered':
      return zero
    case 'single':
      return match.option.quantity.isNegative()
        ? nakedRequirement(match.option, match.contracts)
        : marketValue(match.option, match.contracts)
    case 'pair': {
      const { short, long, contracts } = match
      const value = marketValue(long, contracts)
      const width = max(zero, widthOf(short, long)).times(contracts).times(short.pointValue).times(short.fx)
      const asPair = width.plus(value).minus(marketValue(short, contracts))
      return min(max(zero, asPair), nakedRequirement(short, contracts).plus(value))
    }
  }
}

const byText = (a: string, b: string): number => (a === b ? 0 : a < b ? -1 : 1)

/** Ends with the symbol, which no other has, so that the order in which positions are listed never matters. */
const byExpiryAndStrike = (a: OptionHeld, b: OptionHeld): number =>
  byText(a.expiry, b.expiry) || a.strike.comparedTo(b.strike) || byText(a.symbol, b.symbol)

function matchShort(
  short: OptionHeld,
  stocks: Unmatched<StockHeld>[],
  longs: Unmatched<OptionHeld>[],
): OptionMatch[] {
  const matches: OptionMatch[] = []
  let left = short.quantity.abs()
  const stock = stocks.find(({ source }) => canCover(source, short))
  const coverable = stock ? min(left, coveredBy(stock.left, short)) : zero
  if (stock && coverable.greaterThan(0)) {
    matches.push({ kind: 'covered', short, stock: stock.source, contracts: coverable })
    stock.left = stock.left.minus(coverable.times(short.pointValue))
    left = left.minus(coverable)
  }
  while (left.greaterThan(0)) {
    const long = bestLong(short, longs)
    if (!long) return [...matches, { kind: 'single', option: short, contracts: left }]
    const contracts = min(left, long.left)
    matches.push({ kind: 'pair', short, long: long.source, contracts })
    long.left = long.left.minus(contracts)
    left = left.minus(contracts)
  }
  return matches
}

/**
 * Whole contracts that so much stock covers. The size of a contract is rounded where a split has left it without an
 * end, and must not take the last share of what covered it before.
 */
const coveredBy = (units: Decimal, { pointValue }: OptionHeld): Decimal =>
  roundTo(units.div(pointValue), quantityPlaces).floor()

/** Long stock covers short calls, short stock short puts. */
const canCover = (stock: StockHeld, short: OptionHeld): boolean =>
  stock.symbol === short.underlyingSymbol && stock.quantity.isNegative() !== isCall(short)

/**
 * The long option with the nearest strike; at equal distance the one that leaves the smaller width, then the
 * earlier expiry, which keeps later ones for later shorts. Contracts of another size do not bound the loss.
 */
function bestLong(
  short: OptionHeld,
  longs: readonly Unmatched<OptionHeld>[],
): Unmatched<OptionHeld> | undefined {
  const [best] = longs
    .filter(({ source, left }) => left.greaterThan(0) && canBound(source, short))
    .sort(
      ({ source: a }, { source: b }) =>
        distanceOf(short, a).comparedTo(distanceOf(short, b)) ||
        widthOf(short, a).comparedTo(widthOf(short, b)) ||
        byExpiryAndStrike(a, b),
    )
  return best
}

const canBound = (long: OptionHeld, short: OptionHeld): boolean =>
  long.putOrCall === short.putOrCall &&
  long.underlyingSymbol === short.underlyingSymbol &&
  long.expiry >= short.expiry &&
  long.pointValue.equals(short.pointValue)

/** What the pair can lose per unit between its strikes; below 0 the long leg is the nearer to the money. */
const widthOf = (short: OptionHeld, long: OptionHeld): Decimal =>
  isCall(short) ? long.strike.minus(short.strike) : short.strike.minus(long.strike)

const distanceOf = (short: OptionHeld, long: OptionHeld): Decimal => long.strike.minus(short.strike).abs()

const marketValue = (option: OptionHeld, contracts: Decimal): Decimal =>
  contracts.times(option.price).times(option.pointValue).times(option.fx)

/**
 * A short option alone: 20 % of the underlying (15 % of a broad index) less what it is out of the money, at
 * least 10 % of the underlying for calls and of the strike for puts (Cboe margin manual). The premium is
 * excluded: it sits in cash, and the option counts negative in the account value.
 */
function nakedRequirement(option: OptionHeld, contracts: Decimal): Decimal {
  const { underlyingPrice, strike } = option
  const distance = isCall(option) ? strike.minus(underlyingPrice) : underlyingPrice.minus(strike)
  const share = underlyingPrice.times(option.indexOption ? shareOfIndex : shareOfUnderlying)
  const least = (isCall(option) ? underlyingPrice : strike).times(leastShare)
  const perUnit = max(share.minus(max(zero, distance)), least)
  return contracts.times(option.pointValue).times(perUnit).times(option.fx)
}
