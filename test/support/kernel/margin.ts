/** Margin, acceptance and leverage over plain JSON. What a position leaves out follows from its symbol. */
import type { PositionEffect, SecurityType } from '../../../src/domain/codes.ts'
import { dec } from '../../../src/domain/decimal.ts'
import { summarizeLeverage } from '../../../src/domain/margin/leverage.ts'
import { isAffordable, marginUsed } from '../../../src/domain/margin/margin.ts'
import { type MarginPosition, marginPositionOf } from '../../../src/domain/margin/margin-position.ts'
import { completeInstrument } from '../../../src/domain/market/derive-instrument.ts'
import type { InstrumentInput } from '../../../src/domain/market/instrument.ts'
import { classOf, openCloseOf, putOrCallOf } from './codes.ts'
import { type Num, optional, print, printOptional } from './numbers.ts'
import type { KernelOp } from './types.ts'

type Maybe = Num | null

interface PositionInput {
  cls?: SecurityType
  symbol?: string
  quantity: Num
  price: Num
  avgPx?: Maybe
  fx?: Maybe
  pointValue?: Maybe
  initialMargin?: Maybe
  baseToAccount?: Maybe
  leverage?: Maybe
  underlyingSymbol?: string | null
  right?: string | number | null
  strike?: Maybe
  underlying?: Maybe
  expiry?: string | number | null
  indexOption?: boolean | null
}

function instrumentOf(input: PositionInput) {
  const entered: InstrumentInput = { symbol: input.symbol ?? '', securityType: classOf(input.cls ?? 'CS') }
  if (isGiven(input.pointValue)) entered.pointValue = dec(input.pointValue)
  if (isGiven(input.initialMargin)) entered.initialMargin = dec(input.initialMargin)
  if (isGiven(input.underlyingSymbol)) entered.underlying = input.underlyingSymbol
  if (isGiven(input.right)) entered.putOrCall = putOrCallOf(input.right)
  if (isGiven(input.strike)) entered.strike = dec(input.strike)
  if (isGiven(input.expiry)) entered.expiry = String(input.expiry)
  if (isGiven(input.indexOption)) entered.indexOption = input.indexOption
  const instrument = completeInstrument({ ...entered, lastTradingDay: '' }, 0)
  return { ...instrument, underlying: instrument.underlying ?? '' }
}

const isGiven = <Value>(value: Value | null | undefined): value is Value =>
  value !== null && value !== undefined

function positionOf(input: PositionInput): MarginPosition {
  const fx = dec(input.fx ?? 1)
  const position = marginPositionOf(instrumentOf(input), {
    quantity: dec(input.quantity),
    avgPx: optional(input.avgPx),
    price: dec(input.price),
    fx,
    underlyingPrice: optional(input.underlying) ?? undefined,
  })
  if (position.securityType !== 'FOR') return position
  const rate = isGiven(input.baseToAccount) ? { baseRate: dec(input.baseToAccount), fx } : {}
  return { ...position, ...rate, leverage: optional(input.leverage) ?? position.leverage }
}

function marginCompute(input: { positions: PositionInput[]; modelAccountValue?: Maybe }) {
  const used = marginUsed(input.positions.map(positionOf))
  return { marginUsed: print(used), buyingPower: print(dec(input.modelAccountValue ?? 0).minus(used)) }
}

const marginAccept = (input: {
  modelAccountValue: Num
  positionsAfter: PositionInput[]
  openClose?: PositionEffect
  commission?: Maybe
}) => ({
  accepted: isAffordable({
    positionEffect: openCloseOf(input.openClose) ?? 'O',
    modelAccountValue: dec(input.modelAccountValue),
    positionsAfter: input.positionsAfter.map(positionOf),
    commission: dec(input.commission ?? 0),
  }),
})

function marginLeverage(input: { days: { positions?: PositionInput[]; modelAccountValue: Num }[][] }) {
  const days = input.days.map((snapshots) =>
    snapshots.map(({ positions = [], modelAccountValue }) => ({
      positions: positions.map(positionOf),
      modelAccountValue: dec(modelAccountValue),
    })),
  )
  const { daily, average, highest } = summarizeLeverage(days)
  return {
    daily: daily.map(printOptional),
    avgLeverage: printOptional(average),
    maxLeverage: printOptional(highest),
  }
}

export const marginOps: Record<string, KernelOp> = {
  'margin.compute': marginCompute,
  'margin.accept': marginAccept,
  'margin.leverage': marginLeverage,
}
