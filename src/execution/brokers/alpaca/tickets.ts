/**
 * Orders in Alpaca's words, and what of ours it can take at all: US stocks and single options, as market, limit and
 * (stocks alone) stop orders of whole quantities. What it cannot take is refused here, with the reason, before
 * anything is sent. Pure. Sources: Alpaca's Trading API, orders; OCC option symbols.
 */
import type { OrdType, SecurityType, Side, TimeInForce } from '../../../domain/codes.ts'
import { type Decimal, dec } from '../../../domain/decimal.ts'
import { formatSymbol, parseSymbol } from '../../../domain/market/symbol.ts'
import { isTradedAt, type Trades } from '../../../domain/mirror/tradable.ts'
import type { OrderTicket } from '../broker.ts'

/** What Alpaca must know of an instrument. */
export interface AlpacaInstrument {
  readonly securityType: SecurityType
  readonly currency: string
}

/** The body of a new order. */
export interface AlpacaRequest {
  readonly clientOrderId: string
  readonly symbol: string
  readonly side: 'buy' | 'sell'
  readonly type: 'market' | 'limit' | 'stop'
  readonly timeInForce: 'day' | 'gtc'
  readonly qty: string
  readonly limitPrice?: string
  readonly stopPrice?: string
  readonly positionIntent?: 'buy_to_open' | 'buy_to_close' | 'sell_to_open' | 'sell_to_close'
}

/** What Alpaca takes of each class; classes that are not here it does not trade. */
export const capabilities: Readonly<
  Partial<Record<SecurityType, { ordTypes: readonly OrdType[]; timesInForce: readonly TimeInForce[] }>>
> = {
  CS: { ordTypes: ['1', '2', '3'], timesInForce: ['0', '1'] },
  OPT: { ordTypes: ['1', '2'], timesInForce: ['0'] },
}

/** What Alpaca trades at all. */
export const trades: Trades = {
  securityTypes: Object.keys(capabilities) as SecurityType[],
  currency: 'USD',
}

export const typeNames = { '1': 'market', '2': 'limit', '3': 'stop' } as const satisfies Record<
  OrdType,
  string
>
const timeNames = { '0': 'day', '1': 'gtc' } as const satisfies Record<TimeInForce, string>
const sideNames = { '1': 'buy', '2': 'sell' } as const satisfies Record<Side, string>
const effectNames = { O: 'open', C: 'close' } as const

/** The order as Alpaca takes it, or why it cannot. */
export function requestOf(
  ticket: OrderTicket,
  instrument: AlpacaInstrument | undefined,
): AlpacaRequest | { readonly refusal: string } {
  const refusal = refusalOf(ticket, instrument)
  const symbol = instrument && alpacaSymbolOf(ticket.symbol, instrument.securityType)
  if (refusal !== null || symbol === undefined || symbol === null)
    return { refusal: refusal ?? `Alpaca has no symbol for ${ticket.symbol}` }
  const side = sideNames[ticket.side]
  return {
    clientOrderId: ticket.clientOrderId,
    symbol,
    side,
    qty: dec(ticket.quantity).toFixed(),
    type: typeNames[ticket.ordType],
    timeInForce: timeNames[ticket.timeInForce],
    ...(ticket.limitPx !== null && { limitPrice: dec(ticket.limitPx).toFixed() }),
    ...(ticket.stopPx !== null && { stopPrice: dec(ticket.stopPx).toFixed() }),
    ...(instrument?.securityType === 'OPT' && {
      positionIntent: `${side}_to_${effectNames[ticket.positionEffect]}` as const,
    }),
  }
}

function refusalOf(ticket: OrderTicket, instrument: AlpacaInstrument | undefined): string | null {
  const able = instrument && capabilities[instrument.securityType]
  if (!able || !isTradedAt(trades, instrument)) return 'Alpaca trades US stocks and options on them alone'
  if (!able.ordTypes.includes(ticket.ordType)) return 'Alpaca takes no stop orders for options'
  if (!able.timesInForce.includes(ticket.timeInForce)) return 'Alpaca takes day orders alone for options'
  const quantity = dec(ticket.quantity)
  if (!quantity.isInteger() || !quantity.greaterThan(0)) return 'Alpaca is sent whole quantities alone'
  if (needsLimit(ticket) !== (ticket.limitPx !== null))
    return 'the limit price does not fit the type of the order'
  if ((ticket.ordType === '3') !== (ticket.stopPx !== null))
    return 'the stop price does not fit the type of the order'
  const prices = [ticket.limitPx, ticket.stopPx].flatMap((price) => (price === null ? [] : [dec(price)]))
  return prices.every(isPriced)
    ? null
    : 'Alpaca takes prices in cents, below a dollar in hundredths of a cent'
}

const needsLimit = ({ ordType }: OrderTicket): boolean => ordType === '2'

/** SEC Rule 612: no increment below a cent from a dollar on, below it none under 0.0001. */
const isPriced = (price: Decimal): boolean =>
  price.greaterThan(0) && price.decimalPlaces() <= (price.lessThan(1) ? 4 : 2)

const occPattern = /^([A-Z]{1,6}\d?)(\d{2})(\d{2})(\d{2})([CP])(\d{8})$/
const occDigits = 8

/** Our symbol as Alpaca writes it, options as OCC does; null when it has no such form. */
function alpacaSymbolOf(symbol: string, securityType: SecurityType): string | null {
  const parts = parseSymbol(symbol, securityType, 0)
  if (parts === 'InvalidSymbol') return null
  if (parts.securityType !== 'OPT') return symbol
  const strike = parts.strike.times(1000)
  const right = parts.putOrCall === '1' ? 'C' : 'P'
  const written = `${parts.root}${parts.expiry.slice(2).replaceAll('-', '')}${right}${strike.toFixed().padStart(occDigits, '0')}`
  return strike.isInteger() && occPattern.test(written) ? written : null
}

/** Alpaca's symbol as ours. */
export function symbolOf(symbol: string): string {
  const [, root = '', year, month, day, right, strike = ''] = occPattern.exec(symbol) ?? []
  if (root === '') return symbol
  return formatSymbol({
    securityType: 'OPT',
    root,
    expiry: `20${year}-${month}-${day}`,
    putOrCall: right === 'C' ? '1' : '0',
    strike: dec(strike).dividedBy(1000),
  })
}
