/**
 * Portfolios as a trader writes them: `+100 S -1 C105@2/0717` is 100 shares and a short call of strike 105 at a
 * price of 2 that expires on 17 July. Everything is on a stock at 100 unless a prefix names another (`B.C50@1`);
 * `x150` is the size of a contract, `S40` a stock at 40, `S4<6` one at 4 that was bought at 6.
 */
import type { PutOrCall } from '../../src/domain/codes.ts'
import { type Decimal, dec, one } from '../../src/domain/decimal.ts'
import type {
  MarginInstrument,
  MarginPosition,
  OptionHeld,
  StockHeld,
} from '../../src/domain/margin/margin-position.ts'

const spot = dec(100)

export const portfolio = (text: string): MarginPosition[] =>
  text
    .trim()
    .split(/\s+(?=[+-])/)
    .map((line) => {
      const [quantity = '', what = ''] = line.split(' ')
      const [underlying, kind] =
        what.includes('.S') || /^\w\.[CP]/.test(what) ? what.split(/\.(.*)/) : ['A', what]
      return (kind ?? '').startsWith('S')
        ? stock(underlying ?? 'A', dec(quantity), kind ?? '')
        : option(underlying ?? 'A', dec(quantity), kind ?? '')
    })

function stock(symbol: string, quantity: Decimal, kind: string): StockHeld {
  const [, price, paid] = /^S([\d.]*)(?:<([\d.]+))?$/.exec(kind) ?? []
  const avgPx = paid === undefined ? null : dec(paid)
  const common = { symbol, quantity, price: price ? dec(price) : spot, fx: one, pointValue: one, avgPx }
  return { securityType: 'CS', ...common }
}

function option(underlyingSymbol: string, quantity: Decimal, kind: string): OptionHeld {
  const [, right, strike = '', price = '', day = '0619', size = '100'] =
    /^([CP])([\d.]+)@([\d.]+)(?:\/(\d{4}))?(?:x([\d.]+))?$/.exec(kind) ?? []
  if (right === undefined) throw new Error(`no option: ${kind}`)
  const putOrCall: PutOrCall = right === 'C' ? '1' : '0'
  return {
    securityType: 'OPT',
    symbol: `${underlyingSymbol} ${right}${strike}/${day}x${size}`,
    quantity,
    price: dec(price),
    fx: one,
    pointValue: dec(size),
    underlyingSymbol,
    underlyingPrice: spot,
    putOrCall,
    strike: dec(strike),
    expiry: `2026${day}`,
    indexOption: false,
  }
}

/** A listed instrument, a stock unless `more` says otherwise. */
export const listed = (symbol: string, more: Partial<MarginInstrument> = {}): MarginInstrument => ({
  symbol,
  securityType: 'CS',
  root: symbol,
  pointValue: one,
  initialMargin: null,
  underlying: null,
  putOrCall: null,
  strike: null,
  expiry: null,
  indexOption: false,
  ...more,
})

export const future = (symbol: string, quantity: number, initialMargin: number): MarginPosition => ({
  securityType: 'FUT',
  symbol,
  quantity: dec(quantity),
  price: dec(5000),
  fx: one,
  pointValue: dec(50),
  initialMargin: dec(initialMargin),
})

export const forex = (symbol: string, quantity: number, baseRate: number, leverage = 50): MarginPosition => ({
  securityType: 'FOR',
  symbol,
  quantity: dec(quantity),
  price: dec(baseRate),
  fx: one,
  baseRate: dec(baseRate),
  leverage: dec(leverage),
})
