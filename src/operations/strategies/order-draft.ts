/** An order of a strategy as it was sent: in the domain's words, and what is refused about it in the wire's. */
import { exitWords } from '../../contract/order-needs.ts'
import type { StrategyOrderInput } from '../../contract/resources/order.ts'
import type { ReadOf } from '../../contract/schema.ts'
import type { OrdType, PositionEffect, Side, TimeInForce } from '../../domain/codes.ts'
import { type Decimal, dec } from '../../domain/decimal.ts'
import type { BookRefusal } from '../../domain/orders/order-book.ts'
import { type OrderPrices, offTick } from '../../domain/orders/placing.ts'
import { type Context, type Refused, refuse } from '../context.ts'
import { type NamedInstrument, namedInstrument, offTickWords } from '../symbols.ts'

export type OrderInput = ReadOf<typeof StrategyOrderInput>
export interface OrderCall {
  ctx: Context
  order: OrderInput
}

/** The order in the domain's words. Quantities are unsigned. */
export interface OrderDraft extends OrderPrices {
  side: Side
  ordType: OrdType
  timeInForce: TimeInForce
  positionEffect: PositionEffect | undefined
  quantity: Decimal
  doNotSyncToOpen: boolean
}

/** The instrument that the order names. */
export const readOrder = ({ ctx, order }: OrderCall): NamedInstrument | Refused =>
  namedInstrument(order, ctx.now) ?? refuse('InvalidSymbol', 'Symbol')

const priceOf = (value: number | undefined): Decimal | undefined =>
  value === undefined ? undefined : dec(value)

/** Prices and quantities by their shortest exact text. */
export const draftOf = (order: OrderInput): OrderDraft => ({
  side: order.Side,
  ordType: order.OrderType,
  timeInForce: order.TIF,
  positionEffect: order.OpenClose,
  quantity: dec(order.OrderQuantity),
  // A price of another order type than the one sent is not part of the order.
  limitPx: order.OrderType === '2' ? priceOf(order.Limit) : undefined,
  stopPx: order.OrderType === '3' ? priceOf(order.Stop) : undefined,
  profitTarget: priceOf(order.ProfitTarget),
  stopLoss: priceOf(order.StopLoss),
  doNotSyncToOpen: order.DoNotSyncToOpen ?? false,
})

const fieldOf: Record<keyof OrderPrices, string> = {
  limitPx: 'Order.Limit',
  stopPx: 'Order.Stop',
  profitTarget: 'Order.ProfitTarget',
  stopLoss: 'Order.StopLoss',
}

/** Refuses a price that the instrument cannot be quoted at. */
export function refusedPrice(prices: OrderPrices, tick: string): Refused | undefined {
  const name = offTick(prices, dec(tick))
  return name && refuse('InvalidParameter', fieldOf[name], offTickWords(tick))
}

const noParent = (words: string): Refused => refuse('InvalidParameter', 'Order.ParentSignalId', words)

/** What the book refuses leaves nothing behind. */
export const refusalOf: Record<BookRefusal, (order: OrderInput) => Refused> = {
  duplicateId: () => refuse('Unknown'),
  unknownOrder: () => refuse('NotFound', 'SignalId'),
  notAllowedNow: () => refuse('OrderRejected', 'SignalId'),
  quantityNotPositive: () => refuse('InvalidParameter', 'Order.OrderQuantity'),
  unknownParent: () => noParent('The strategy has no such signal'),
  parentEnded: () => noParent('The parent has ended without being filled'),
  tooManyAncestors: () => noParent('The parent has too many ancestors'),
  exitsOfClosingOrder: ({ ProfitTarget }) =>
    refuse(
      'BadCombination',
      `Order.${ProfitTarget === undefined ? 'StopLoss' : 'ProfitTarget'}`,
      'A closing order has no exits',
    ),
  profitTargetOnWrongSide: ({ Side: side }) => misplaced('ProfitTarget', side),
  stopLossOnWrongSide: ({ Side: side }) => misplaced('StopLoss', side),
}

const misplaced = (exit: 'ProfitTarget' | 'StopLoss', side: Side): Refused =>
  refuse('BadCombination', `Order.${exit}`, exitWords(exit, side))

/** Only an opening order that rests can be missing in an account later; elsewhere the wish means nothing. */
export const staysUnsynced = (draft: OrderDraft, positionEffect: PositionEffect): boolean =>
  draft.doNotSyncToOpen && positionEffect === 'O' && draft.ordType !== '1'
