/** Positions as answers show them, and the positions a caller wants a strategy to hold. */
import {
  array,
  Dt,
  echoed,
  I64,
  maybe,
  NonzeroNum,
  Num,
  object,
  Price,
  Quantity,
  Str,
  signal,
  sinceVersion2,
} from '../schema.ts'
import { DesiredSignal, symbolInputs, symbols } from './order.ts'

export const Position = object({
  StrategyName: Str,
  Currency: Str,
  OpenedDate: Dt,
  StrategyId: I64,
  Quantity,
  AvgPx: Price,
  ...symbols,
})

/** Quantity is net and signed. */
export const PositionInput = object({
  Quantity: NonzeroNum,
  ...symbolInputs,
  StrategyId: maybe(I64),
  AvgPx: echoed(Num),
})

const DesiredSignals = array(signal(DesiredSignal))

/** RejectedSignals is shown by version 2 of the route alone. */
export const DesiredPositions = object({
  NewSignals: DesiredSignals,
  CanceledSignals: DesiredSignals,
  RejectedSignals: sinceVersion2(array(DesiredSignal)),
})
