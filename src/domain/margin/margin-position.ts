/**
 * What margin and leverage must know of a position: its size, its mark, and what its class is margined by.
 * A strategy has at most one position per symbol. Prices are in quote currency, `fx` turns them into account
 * currency.
 */
import type { PutOrCall } from '../codes.ts'
import { type Decimal, dec, one } from '../decimal.ts'
import type { Instrument } from '../market/instrument.ts'

interface Held {
  readonly symbol: string
  /** Signed. */
  readonly quantity: Decimal
  /** The mark; before a fill its reference price. */
  readonly price: Decimal
  /** Account currency per unit of quote currency. */
  readonly fx: Decimal
}

export interface StockHeld extends Held {
  readonly securityType: 'CS'
  readonly pointValue: Decimal
  /** Null where it is not known. */
  readonly avgPx: Decimal | null
}

interface FutureHeld extends Held {
  readonly securityType: 'FUT'
  readonly pointValue: Decimal
  /** Per contract, in quote currency. */
  readonly initialMargin: Decimal
}

interface ForexHeld extends Held {
  readonly securityType: 'FOR'
  /** Account currency per unit of base currency; `fx` is 1 beside a rate that already is in it. */
  readonly baseRate: Decimal
  readonly leverage: Decimal
}

export interface OptionHeld extends Held {
  readonly securityType: 'OPT'
  /** Units of the underlying per contract. */
  readonly pointValue: Decimal
  readonly underlyingSymbol: string
  readonly underlyingPrice: Decimal
  readonly putOrCall: PutOrCall
  readonly strike: Decimal
  /** YYYYMMDD. */
  readonly expiry: string
  /** On a broad index. */
  readonly indexOption: boolean
}

export type MarginPosition = StockHeld | FutureHeld | ForexHeld | OptionHeld

/** Base currency units in one forex unit. */
const forexUnit = dec(1000)

/** Currencies whose pairs among each other are major: NFA Financial Requirements, section 12. */
const majorCurrencies = new Set('USD EUR GBP JPY CHF CAD AUD NZD SEK NOK DKK'.split(' '))

/** 50 for a pair of two major currencies, otherwise 20; `pair` as `EURUSD` or `EUR/USD`. */
export function forexLeverage(pair: string): Decimal {
  const currencies = [pair.slice(0, 3), pair.slice(-3)]
  return dec(currencies.every((currency) => majorCurrencies.has(currency)) ? 50 : 20)
}

/** The first currency of a pair; null for what is none. */
export const baseCurrencyOf = ({
  securityType,
  root,
}: Pick<Instrument, 'securityType' | 'root'>): string | null =>
  securityType === 'FOR' ? root.slice(0, 3) : null

/** Absolute market value in account currency; of a forex position that of its base currency. */
export function nominalValue(position: MarginPosition): Decimal {
  const size = position.quantity.abs()
  return position.securityType === 'FOR'
    ? size.times(forexUnit).times(position.baseRate)
    : size.times(position.price.abs()).times(position.pointValue).times(position.fx)
}

/** What margin must know of an instrument. */
export type MarginInstrument = Pick<
  Instrument,
  | 'symbol'
  | 'securityType'
  | 'root'
  | 'pointValue'
  | 'initialMargin'
  | 'underlying'
  | 'putOrCall'
  | 'strike'
  | 'expiry'
  | 'indexOption'
>

/** What is held of an instrument, or would be after a fill. */
export interface HeldFacts {
  readonly quantity: Decimal
  readonly avgPx: Decimal | null
  readonly price: Decimal
  readonly fx: Decimal
  /** For options: the current price of the underlying. */
  readonly underlyingPrice?: Decimal | undefined
  /** For pairs: account currency per unit of base currency, where it is known. */
  readonly baseRate?: Decimal | undefined
}

/**
 * The position as margin sees it. A future whose margin nobody entered is charged its full value, an option
 * whose underlying has no price is taken at the money: nothing smaller is proven.
 */
export function marginPositionOf(instrument: MarginInstrument, held: HeldFacts): MarginPosition {
  const { symbol, pointValue, strike } = instrument
  const { quantity, price, fx } = held
  const common = { symbol, quantity, price, fx }
  switch (instrument.securityType) {
    case 'CS':
      return { securityType: 'CS', pointValue, avgPx: held.avgPx, ...common }
    case 'FUT': {
      const initialMargin = instrument.initialMargin ?? price.abs().times(pointValue)
      return { securityType: 'FUT', pointValue, initialMargin, ...common }
    }
    case 'FOR': {
      // A pair's price is quote currency per base currency, so price times fx is nearly the base rate.
      const baseRate = held.baseRate ?? price.times(fx)
      return { securityType: 'FOR', baseRate, leverage: forexLeverage(instrument.root), ...common, fx: one }
    }
    case 'OPT':
      return {
        securityType: 'OPT',
        pointValue,
        underlyingSymbol: instrument.underlying ?? instrument.root,
        underlyingPrice: held.underlyingPrice ?? strike ?? price,
        putOrCall: instrument.putOrCall ?? '1',
        strike: strike ?? price,
        expiry: (instrument.expiry ?? '').replaceAll('-', ''),
        indexOption: instrument.indexOption,
        ...common,
      }
  }
}
