/**
 * Orders as answers show them (strategy signals and account orders alike), the order of a request, and what
 * new, cancel and replace answer. Codes are FIX codes as text.
 */
import {
  Bool,
  code,
  Dt,
  I64,
  i32,
  inCompat,
  LocalDt,
  LongStr,
  maybe,
  object,
  optional,
  PositiveNum,
  Price,
  Quantity,
  Str,
  zeroIsNone,
} from '../schema.ts'
import { ExchangeSymbol, ExchangeSymbolInput, PlatformSymbol, PlatformSymbolInput } from './symbol.ts'

export const OrderType = code('1', '2', '3')
const Side = code('1', '2')
const OpenClose = code('O', 'C')
const TIF = code('0', '1')
export const OrderStatus = code('A', '0', '1', '2', '4', '5', '6', '8', 'C', 'E')

/** The pair of symbols of an answer. */
export const symbols = { PlatformSymbol: inCompat('C2Symbol', PlatformSymbol), ExchangeSymbol }

export const Order = object({
  OrderStatus,
  FilledQuantity: Quantity,
  AvgFillPrice: Price,
  PostedDate: Dt,
  SignalType: i32(),
  Id: I64,
  OrderId: Str,
  StrategyId: I64,
  StrategyName: Str,
  SignalId: I64,
  AvgPx: Price,
  OrderType,
  Side,
  OpenClose,
  OrderQuantity: Quantity,
  Limit: maybe(Price),
  Stop: maybe(Price),
  TIF,
  ProfitTarget: maybe(Price),
  StopLoss: maybe(Price),
  DoNotCreateOCAGroup: maybe(Bool),
  CancelReplaceSignalId: maybe(I64),
  ParentSignalId: maybe(I64),
  ParkedUntilDate: maybe(Dt),
  DoNotSyncToOpen: maybe(Bool),
  ...symbols,
  RejectMessage: maybe(LongStr),
  BrokerId: maybe(i32()),
  Info: maybe(LongStr),
})

/** The pair of symbols of a request. */
export const symbolInputs = {
  PlatformSymbol: inCompat('C2Symbol', optional(PlatformSymbolInput)),
  ExchangeSymbol: optional(ExchangeSymbolInput),
}

const orderInput = {
  OrderQuantity: PositiveNum,
  Limit: zeroIsNone(maybe(PositiveNum)),
  Stop: zeroIsNone(maybe(PositiveNum)),
  TIF,
  ProfitTarget: maybe(PositiveNum),
  StopLoss: maybe(PositiveNum),
  DoNotCreateOCAGroup: maybe(Bool),
  CancelReplaceSignalId: zeroIsNone(maybe(I64)),
  ParentSignalId: zeroIsNone(maybe(I64)),
  ParkedUntilDate: maybe(LocalDt),
  DoNotSyncToOpen: maybe(Bool),
  ...symbolInputs,
}

/** An order of a strategy, as a request states it. */
export const StrategyOrderInput = object({
  StrategyId: I64,
  OrderType,
  Side,
  OpenClose: maybe(OpenClose),
  ...orderInput,
})

/** A closing order in one account: limit or stop only. */
export const AccountOrderInput = object({
  StrategyId: maybe(I64),
  OrderType: code('2', '3'),
  Side,
  OpenClose: maybe(code('C')),
  ...orderInput,
})

export const SignalIds = object({
  SignalId: maybe(I64),
  ProfitTargetSignalId: maybe(I64),
  StopLossSignalId: maybe(I64),
  ExitSignalsOCAGroupId: maybe(I64),
  ParkedUntilDate: maybe(Dt),
})

/** A signal in the answer of SetDesiredPositions, version 2. */
export const DesiredSignal = object({
  SignalId: I64,
  OrderStatus,
  OrderType,
  Side,
  OpenClose,
  OrderQuantity: Quantity,
  Limit: maybe(Price),
  Stop: maybe(Price),
  TIF,
  FilledQuantity: Quantity,
  AvgFillPrice: Price,
  PostedDate: Dt,
  ...symbols,
  RejectMessage: maybe(LongStr),
})
