/**
 * The two spellings of an instrument: the platform's symbol and the exchange's. A request names one of them;
 * an answer shows both. What an answer adds may be echoed back and is not read.
 */
import {
  array,
  Bool,
  code,
  echoed,
  I64,
  i32,
  inCompat,
  Money,
  maybe,
  Num,
  OpenCode,
  object,
  PositiveNum,
  Price,
  Str,
  withDefault,
  zeroIsNone,
} from '../schema.ts'

const SymbolType = code('stock', 'option', 'future', 'forex')

export const SecurityType = code('CS', 'FUT', 'OPT', 'FOR')

export const PlatformSymbol = object({
  FullSymbol: Str,
  SymbolType,
  Underlying: maybe(Str),
  Expiry: maybe(Str),
  PutOrCall: maybe(code('put', 'call')),
  StrikePrice: maybe(Price),
  Description: Str,
})

export const ExchangeSymbol = object({
  Symbol: Str,
  Currency: Str,
  SecurityExchange: Str,
  SecurityType,
  MaturityMonthYear: maybe(Str),
  PutOrCall: maybe(code('0', '1')),
  StrikePrice: maybe(Price),
  PriceMultiplier: Num,
})

/** As a request names it: the full symbol and its type decide. */
export const PlatformSymbolInput = object({
  FullSymbol: Str,
  SymbolType,
  Underlying: echoed(Str),
  Expiry: echoed(Str),
  PutOrCall: echoed(Str),
  StrikePrice: echoed(Num),
  Description: echoed(Str),
})

export const ExchangeSymbolInput = object({
  Symbol: Str,
  Currency: Str,
  SecurityExchange: withDefault(Str, 'DEFAULT'),
  SecurityType,
  MaturityMonthYear: maybe(OpenCode),
  PutOrCall: maybe(code('0', '1')),
  StrikePrice: zeroIsNone(maybe(PositiveNum)),
  PriceMultiplier: zeroIsNone(withDefault(PositiveNum, 1)),
})

const MarginRequirements = { Initial: Money, Maintenance: Money }

export const SupportedSymbol = object({
  Id: I64,
  Currency: Str,
  Description: Str,
  PointValue: Num,
  TickSize: Num,
  DecimalPrecision: i32(),
  PlatformSymbol: inCompat('C2Symbol', PlatformSymbol),
  ExchangeSymbol,
  MarginRequirements: maybe(object(MarginRequirements)),
  BrokerMarginRequirements: array(object({ BrokerId: i32(), BrokerName: Str, ...MarginRequirements })),
})

/** Class name to whether the strategy may trade it. */
export const SecurityTypesEnabled = object({ Stocks: Bool, Options: Bool, Futures: Bool, Forex: Bool })
