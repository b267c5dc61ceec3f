/** Positions, trades, cash and commissions over plain JSON. */

import type { SecurityType, Side } from '../../../src/domain/codes.ts'
import { cents, dec } from '../../../src/domain/decimal.ts'
import { completeInstrument } from '../../../src/domain/market/derive-instrument.ts'
import {
  type AccountBook,
  bookDividend,
  bookFill,
  equityOf,
  markSymbol,
  modelAccountValue,
  openBook,
  type TradedInstrument,
} from '../../../src/domain/positions/account-book.ts'
import {
  addTurnover,
  type CommissionRates,
  fillCommission,
  noTurnover,
  orderCommission,
} from '../../../src/domain/positions/commission.ts'
import { inferredFillPrice } from '../../../src/domain/positions/position.ts'
import type { CommissionPlan } from '../../../src/domain/positions/tables/commission-plans.ts'
import { commissionPlans } from '../../../src/domain/positions/tables/commission-plans.ts'
import type { FinishedTrade } from '../../../src/domain/positions/trade.ts'
import { classOf, oneOf, sideOf } from './codes.ts'
import { type Num, optional, print, printOptional, type Time } from './numbers.ts'
import type { KernelOp } from './types.ts'

interface AccountingEvent {
  type: 'fill' | 'mark' | 'dividend'
  symbol: string
  side: Side
  qty: Num
  px: Num
  perUnit: Num
  t: Time
  commission?: Num
  fx?: Num | null
}

interface AccountingInput {
  cash: Num
  instruments?: { symbol: string; cls?: SecurityType; pointValue?: Num | null }[]
  events: AccountingEvent[]
}

/** Times are echoed as they came, so an event's place in the list stands for its instant. */
function accountingRun({ cash, instruments = [], events }: AccountingInput) {
  const known = new Map(instruments.map((row) => [row.symbol, tradedInstrument(row)]))
  const finished: FinishedTrade[] = []
  let book = openBook(dec(cash))
  let tradeId = 1
  events.forEach((event, at) => {
    const instrument = known.get(event.symbol) ?? tradedInstrument({ symbol: event.symbol })
    const rate = event.fx === undefined || event.fx === null ? {} : { fx: dec(event.fx) }
    const type = oneOf('type', event.type, ['fill', 'mark', 'dividend'])
    if (type === 'mark') {
      book = markSymbol(book, instrument, { price: dec(event.px), at, ...rate })
    } else if (type === 'dividend') {
      book = bookDividend(book, instrument, dec(event.perUnit), rate.fx)
    } else {
      const fill = { side: sideOf(event.side), quantity: dec(event.qty), price: dec(event.px) }
      const result = bookFill(book, instrument, {
        ...fill,
        at,
        commission: dec(event.commission ?? 0),
        signalId: tradeId,
        ...rate,
      })
      book = result.book
      if (book.holdings.get(event.symbol)?.trade?.tradeId === tradeId) tradeId += 1
      if (result.finished) finished.push(result.finished)
    }
  })
  const timeOf = (at: number): Time => events[at]?.t ?? at
  return { ...printBook(book), trades: finished.map((trade) => printTrade(trade, timeOf)) }
}

function tradedInstrument(row: {
  symbol: string
  cls?: SecurityType
  pointValue?: Num | null
}): TradedInstrument {
  const pointValue = optional(row.pointValue)
  const entered = pointValue === null ? {} : { pointValue }
  return completeInstrument({ symbol: row.symbol, securityType: classOf(row.cls ?? 'CS'), ...entered }, 0)
}

function printBook(book: AccountBook) {
  const held = [...book.holdings].filter(([, { position }]) => !position.quantity.isZero())
  return {
    cash: print(cents(book.cash)),
    equity: print(cents(equityOf(book))),
    modelAccountValue: print(cents(modelAccountValue(book))),
    cashDividends: print(cents(book.cashDividends)),
    positions: Object.fromEntries(
      held.map(([symbol, { position }]) => [
        symbol,
        { quantity: print(position.quantity), avgPx: printOptional(position.avgPx) },
      ]),
    ),
  }
}

const printTrade = (trade: FinishedTrade, timeOf: (at: number) => Time) => ({
  symbol: trade.symbol,
  tradeId: trade.tradeId,
  openDate: timeOf(trade.openedAt),
  closeDate: timeOf(trade.closedAt),
  openSide: trade.openSide,
  closeSide: trade.closeSide,
  openedQuantity: print(trade.openedQuantity),
  closedQuantity: print(trade.closedQuantity),
  avgOpenFillPrice: print(trade.avgOpenFillPrice),
  avgCloseFillPrice: print(trade.avgCloseFillPrice),
  commission: print(trade.commission),
  profitLoss: print(trade.profitLoss),
  maxDrawdown: trade.worst ? print(cents(trade.worst.drawdown)) : 0,
  worstPrice: trade.worst && print(trade.worst.price),
  worstPriceDate: trade.worst && timeOf(trade.worst.at),
  drawdownStrategyEquity: trade.worst && print(cents(trade.worst.strategyEquity)),
  drawdownEntryPrice: trade.worst && print(trade.worst.entryPrice),
  drawdownOpenQuantity: trade.worst && print(trade.worst.openQuantity),
})

interface InferenceInput {
  position: Num
  avgPx?: Num | null
  targetQuantity: Num
  targetAvgPx?: Num | null
}

const inferred = (input: InferenceInput) => ({
  price: printOptional(
    inferredFillPrice(
      { quantity: dec(input.position), avgPx: optional(input.avgPx) },
      { quantity: dec(input.targetQuantity), avgPx: optional(input.targetAvgPx) },
    ),
  ),
})

interface CommissionInput {
  plan: Partial<Record<keyof CommissionRates, Num | null>> | CommissionPlan | `${CommissionPlan}`
  cls?: SecurityType
  fills: { qty: Num; price: Num; pointValue?: Num | null }[]
}

function commissionCompute({ plan, cls = 'CS', fills }: CommissionInput) {
  const rates = typeof plan === 'object' ? ratesOf(plan) : commissionPlans[plan][cls]
  let turnover = noTurnover
  const perFill = fills.map((fill) => {
    const before = turnover
    const pointValue = dec(fill.pointValue ?? 1)
    turnover = addTurnover(before, { quantity: dec(fill.qty), price: dec(fill.price), pointValue })
    return print(fillCommission(rates, before, turnover))
  })
  return { perFill, total: print(orderCommission(rates, turnover)) }
}

const ratesOf = (plan: Partial<Record<keyof CommissionRates, Num | null>>): CommissionRates => ({
  perUnit: optional(plan.perUnit),
  minPerOrder: optional(plan.minPerOrder),
  pctOfNotional: optional(plan.pctOfNotional),
  maxPctOfNotional: optional(plan.maxPctOfNotional),
})

export const moneyOps: Record<string, KernelOp> = {
  'accounting.run': accountingRun,
  'accounting.inferredFillPrice': inferred,
  'commission.compute': commissionCompute,
}
