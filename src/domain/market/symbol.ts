/**
 * Symbols: the native spelling (`AAPL`, `@ESM26`, `EURUSD`, `MSFT1220J30.5`), the platform form around it and
 * the exchange form. One value, SymbolParts, stands between all three, so that formatting what was parsed
 * gives the canonical spelling. What is malformed comes back as a refusal; whether an instrument of that name
 * exists is decided elsewhere.
 */
import type { PutOrCall, SecurityType } from '../codes.ts'
import { type Decimal, dec } from '../decimal.ts'
import { type Day, dayOf, partsOfDay, readDay } from '../time.ts'
import { contractMonths } from './tables/contract-months.ts'

type StockParts = { securityType: 'CS'; ticker: string }
export type FutureParts = { securityType: 'FUT'; root: string; year: number; month: number }
type ForexParts = { securityType: 'FOR'; base: string; quote: string }
/** `expiry` as YYYY-MM-DD. */
export type OptionParts = {
  securityType: 'OPT'
  root: string
  expiry: string
  putOrCall: PutOrCall
  strike: Decimal
}
export type SymbolParts = StockParts | FutureParts | ForexParts | OptionParts
export type SymbolRefusal = 'InvalidSymbol'
/** The SymbolType of the platform form. */
export type SymbolType = 'stock' | 'option' | 'future' | 'forex'

/** What an exchange form must hold to name an instrument. */
export type ExchangeSymbolInput = {
  Symbol: string
  SecurityType: SecurityType
  MaturityMonthYear?: string | undefined
  PutOrCall?: PutOrCall | undefined
  StrikePrice?: Decimal | undefined
  PriceMultiplier?: Decimal | undefined
}

const futureMonths = 'FGHJKMNQUVXZ'
const optionMonths = 'ABCDEFGHIJKLMNOPQRSTUVWX'
const monthNames = [
  'Jan',
  'Feb',
  'Mar',
  'Apr',
  'May',
  'Jun',
  'Jul',
  'Aug',
  'Sep',
  'Oct',
  'Nov',
  'Dec',
] as const
const typeNames = { CS: 'stock', OPT: 'option', FUT: 'future', FOR: 'forex' } as const satisfies Record<
  SecurityType,
  SymbolType
>
const typeCodes = { stock: 'CS', option: 'OPT', future: 'FUT', forex: 'FOR' } as const satisfies Record<
  SymbolType,
  SecurityType
>

const stockPattern = /^[A-Z0-9]{1,12}(?:[.-][A-Z0-9]{1,4})?$/
const futurePattern = /^@([A-Z0-9]{1,5})([FGHJKMNQUVXZ])(\d{1,2})$/
const futureRootPattern = /^[A-Z0-9]{1,5}$/
const forexPattern = /^([A-Z]{3})\/?([A-Z]{3})$/
const optionPattern = /^([A-Z]{1,6}(?:\.[A-Z]{1,2})?\d?)(\d{2})(\d{2})([A-X])(\d{1,7}(?:\.\d{1,4})?)$/
const optionRootPattern = /^[A-Z]{1,6}(?:\.[A-Z]{1,2})?\d?$/

/** The SymbolType of a security type. */
export const symbolTypeOf = (securityType: SecurityType): SymbolType => typeNames[securityType]

/** The security type of a SymbolType. */
export const securityTypeOf = (symbolType: SymbolType): SecurityType => typeCodes[symbolType]

/**
 * Reads a native symbol as what `securityType` says it is. `today` gives a one- or two-digit year of a future
 * its decade or century: the first such contract month that is not before the month of today, except that
 * two digits also reach back half a century.
 */
export function parseSymbol(
  symbol: string,
  securityType: SecurityType,
  today: Day,
): SymbolParts | SymbolRefusal {
  if (securityType === 'FUT') return parseFuture(symbol, today)
  if (securityType === 'OPT') return parseOption(symbol)
  if (securityType === 'FOR') return parseForex(symbol)
  return stockPattern.test(symbol) ? { securityType: 'CS', ticker: symbol } : 'InvalidSymbol'
}

/**
 * What a bare native symbol is: `@` marks a future, an option's tail an option, a slash or two known
 * currencies a pair; everything else is a stock.
 */
export function guessSecurityType(symbol: string, isCurrency: (code: string) => boolean): SecurityType {
  if (symbol.startsWith('@')) return 'FUT'
  if (optionPattern.test(symbol)) return 'OPT'
  const [, base = '', quote = ''] = forexPattern.exec(symbol) ?? []
  return symbol.includes('/') || (isCurrency(base) && isCurrency(quote)) ? 'FOR' : 'CS'
}

/** The canonical native symbol: two-digit years, no slash, no idle zeros in a strike. */
export function formatSymbol(parts: SymbolParts): string {
  if (parts.securityType === 'CS') return parts.ticker
  if (parts.securityType === 'FOR') return parts.base + parts.quote
  if (parts.securityType === 'FUT')
    return `@${parts.root}${futureMonths[parts.month - 1]}${twoDigits(parts.year % 100)}`
  const [year, month, day] = parts.expiry.split('-')
  const letter = optionMonths[Number(month) - 1 + (parts.putOrCall === '1' ? 0 : 12)]
  return `${parts.root}${year?.slice(2)}${day}${letter}${parts.strike.toFixed()}`
}

/** Whether the year survives the two digits of the native symbol; one of another century names nothing. */
export function isWithinCentury(parts: SymbolParts, today: Day): boolean {
  const named = parseSymbol(formatSymbol(parts), parts.securityType, today)
  return typeof named !== 'string' && maturityOf(named) === maturityOf(parts)
}

/**
 * Every native spelling that names the same instrument, the canonical one first: instruments that were
 * entered by hand may be stored under another.
 */
export function spellingsOf(parts: SymbolParts): string[] {
  const canonical = formatSymbol(parts)
  if (parts.securityType === 'FOR') return [canonical, `${parts.base}/${parts.quote}`]
  if (parts.securityType === 'FUT') return [canonical, `${canonical.slice(0, -2)}${parts.year % 10}`]
  return [canonical]
}

/** Reads an exchange form; a price multiplier other than 1 names no instrument of ours. */
export function parseExchangeSymbol(input: ExchangeSymbolInput): SymbolParts | SymbolRefusal {
  if (input.PriceMultiplier && !input.PriceMultiplier.equals(1)) return 'InvalidSymbol'
  const { Symbol: root, MaturityMonthYear: maturity = '' } = input
  const [, year, month, day] = /^(\d{4})(\d{2})(\d{2})?$/.exec(maturity) ?? []
  const isMonth = dayOf(Number(year), Number(month), Number(day ?? '1')) !== undefined
  // What never matures needs no month; one that is none says that something else was meant.
  if (!isMonth && (maturity !== '' || input.SecurityType === 'FUT' || input.SecurityType === 'OPT'))
    return 'InvalidSymbol'
  if (input.SecurityType === 'CS')
    return stockPattern.test(root) ? { securityType: 'CS', ticker: root } : 'InvalidSymbol'
  if (input.SecurityType === 'FOR') return parseForex(root)
  if (input.SecurityType === 'FUT') {
    if (!futureRootPattern.test(root)) return 'InvalidSymbol'
    return { securityType: 'FUT', root, year: Number(year), month: Number(month) }
  }
  const { StrikePrice: strike, PutOrCall: putOrCall } = input
  if (
    day === undefined ||
    !optionRootPattern.test(root) ||
    !putOrCall ||
    !strike?.isPositive() ||
    strike.isZero()
  )
    return 'InvalidSymbol'
  return { securityType: 'OPT', root, expiry: `${year}-${month}-${day}`, putOrCall, strike }
}

/** FIX 200: `YYYYMM` of a future, `YYYYMMDD` of an option, null for what has no maturity. */
export function maturityOf(parts: FutureParts | OptionParts): string
export function maturityOf(parts: SymbolParts): string | null
export function maturityOf(parts: SymbolParts): string | null {
  if (parts.securityType === 'FUT') return `${parts.year}${twoDigits(parts.month)}`
  return parts.securityType === 'OPT' ? parts.expiry.replaceAll('-', '') : null
}

/** `Oct25`: month and year of a `YYYYMM` or `YYYYMMDD` maturity. */
export const expiryLabelOf = (maturity: string): string =>
  `${monthNames[Number(maturity.slice(4, 6)) - 1]}${maturity.slice(2, 4)}`

/** Whether the exchange lists the future for its month. */
export const isListedMonth = ({ root, month }: FutureParts): boolean =>
  contractMonths.get(root)?.includes(futureMonths.charAt(month - 1)) ?? true

/** What the exchange form calls the symbol: ticker, root of a future or option, or `EUR/USD`. */
export function rootOf(parts: SymbolParts): string {
  if (parts.securityType === 'CS') return parts.ticker
  return parts.securityType === 'FOR' ? `${parts.base}/${parts.quote}` : parts.root
}

function parseFuture(symbol: string, today: Day): FutureParts | SymbolRefusal {
  const [, root, letter = '', digits = ''] = futurePattern.exec(symbol) ?? []
  if (root === undefined) return 'InvalidSymbol'
  const month = futureMonths.indexOf(letter) + 1
  return {
    securityType: 'FUT',
    root,
    month,
    year: yearOfContract(Number(digits), digits.length, month, today),
  }
}

function yearOfContract(written: number, digits: number, month: number, today: Day): number {
  const now = partsOfDay(today)
  const span = 10 ** digits
  const earliest = digits === 1 ? now.year + (month < now.month ? 1 : 0) : now.year - span / 2
  return earliest + ((((written - earliest) % span) + span) % span)
}

function parseForex(symbol: string): ForexParts | SymbolRefusal {
  const [, base = '', quote = ''] = forexPattern.exec(symbol) ?? []
  return base === quote ? 'InvalidSymbol' : { securityType: 'FOR', base, quote }
}

function parseOption(symbol: string): OptionParts | SymbolRefusal {
  const [, root = '', year, day, letter = '', strikeText = '0'] = optionPattern.exec(symbol) ?? []
  const index = optionMonths.indexOf(letter)
  const strike = dec(strikeText)
  const expiry = `20${year}-${twoDigits((index % 12) + 1)}-${day}`
  if (letter === '' || strike.isZero() || readDay(expiry) === undefined) return 'InvalidSymbol'
  return { securityType: 'OPT', root, expiry, putOrCall: index < 12 ? '1' : '0', strike }
}

const twoDigits = (value: number): string => String(value).padStart(2, '0')
