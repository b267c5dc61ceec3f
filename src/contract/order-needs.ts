/**
 * Combination rules of orders: which price goes with which type, where exits may stand, which symbol names
 * the instrument. All of it is decided from the request alone; what needs the book is the platform's.
 */
import { type Faults, faultOnce } from './faults.ts'
import type { AccountOrderInput, StrategyOrderInput } from './resources/order.ts'
import type { Need } from './row.ts'
import type { Dialect, ReadOf } from './schema.ts'

/** An order as far as it could be read. */
type OrderRead = Partial<ReadOf<typeof StrategyOrderInput>> | Partial<ReadOf<typeof AccountOrderInput>>

/** A rule on the order of the request. */
function orderNeed(says: string, check: (order: OrderRead, faults: Faults, dialect: Dialect) => void): Need {
  return {
    says,
    check({ params, dialect }, faults) {
      if (params.Order !== undefined) check(params.Order as OrderRead, faults, dialect)
    },
  }
}

/** `price` is needed with this type and allowed with no other. */
function checkPrice(order: OrderRead, price: 'Limit' | 'Stop', type: '2' | '3', faults: Faults): void {
  if (order.OrderType === type && order[price] === undefined)
    faultOnce(faults, 'MissingValue', `Order.${price}`)
  if (order.OrderType !== type && order.OrderType !== undefined && order[price] !== undefined)
    faultOnce(faults, 'BadCombination', `Order.${price}`, `${price} goes with OrderType ${type}`)
}

const priceNeed = orderNeed(
  'Limit goes with OrderType 2 and Stop with OrderType 3; no other price is allowed.',
  (order, faults) => {
    checkPrice(order, 'Limit', '2', faults)
    checkPrice(order, 'Stop', '3', faults)
  },
)

/** The compat dialect lets both symbols name the instrument, as the programs written for it do. */
function checkSymbol(holder: OrderRead, at: string, faults: Faults, dialect: Dialect): void {
  const { PlatformSymbol, ExchangeSymbol } = holder
  const platformPath = `${at}.${dialect === 'compat' ? 'C2Symbol' : 'PlatformSymbol'}`
  const exchangePath = `${at}.ExchangeSymbol`
  if (PlatformSymbol === undefined && ExchangeSymbol === undefined) {
    if (!faults.some(({ FieldName }) => FieldName.startsWith(exchangePath)))
      faultOnce(faults, 'MissingValue', platformPath)
  } else if (PlatformSymbol !== undefined && ExchangeSymbol !== undefined && dialect === 'native')
    faultOnce(faults, 'BadCombination', exchangePath, 'Send one of PlatformSymbol and ExchangeSymbol')
}

const symbolNeed = orderNeed(
  'Either PlatformSymbol or ExchangeSymbol names the instrument.',
  (order, faults, dialect) => checkSymbol(order, 'Order', faults, dialect),
)

const exits = ['ProfitTarget', 'StopLoss'] as const

const exitNeed = orderNeed(
  'ProfitTarget and StopLoss belong to new opening orders. Of a long entry StopLoss is below and ProfitTarget above the entry price, of a short one the other way round; the entry price of a market order is the last quote.',
  (order, faults) => {
    if (order.ProfitTarget === undefined && order.StopLoss === undefined) return
    const words =
      order.CancelReplaceSignalId !== undefined
        ? 'A replacement takes over the exits'
        : order.OpenClose === 'C'
          ? 'A closing order has no exits'
          : undefined
    if (words === undefined) checkExitPrices(order, faults)
    else
      for (const name of exits)
        if (order[name] !== undefined) faultOnce(faults, 'BadCombination', `Order.${name}`, words)
  },
)

/** Exits against the entry price, or against each other where the entry has none. */
function checkExitPrices(order: OrderRead, faults: Faults): void {
  const { OrderType, Limit, Stop, Side, ProfitTarget, StopLoss } = order
  if (Side === undefined || OrderType === undefined) return
  const entry = OrderType === '2' ? Limit : OrderType === '3' ? Stop : undefined
  const misplaced = (exit: (typeof exits)[number], other?: string): void =>
    faultOnce(faults, 'BadCombination', `Order.${exit}`, exitWords(exit, Side, other))
  if (!isAhead(ProfitTarget, entry, Side)) misplaced('ProfitTarget')
  if (!isAhead(entry, StopLoss, Side)) misplaced('StopLoss')
  if (entry === undefined && !isAhead(ProfitTarget, StopLoss, Side)) misplaced('StopLoss', 'ProfitTarget')
}

/** Where an exit has to be; `other` is what it was compared with. */
export function exitWords(exit: (typeof exits)[number], side: '1' | '2', other = 'the entry price'): string {
  const isAbove = (exit === 'ProfitTarget') === (side === '1')
  return `Must be ${isAbove ? 'above' : 'below'} ${other} of a ${side === '1' ? 'long' : 'short'} position`
}

/** Whether the first price is better than the second for a position of this side; unknown prices never offend. */
function isAhead(better: number | undefined, worse: number | undefined, side: '1' | '2'): boolean {
  if (better === undefined || worse === undefined) return true
  return side === '1' ? better > worse : better < worse
}

const replaceNeed = orderNeed('CancelReplaceSignalId names the signal to replace.', (order, faults) => {
  if (order.CancelReplaceSignalId === undefined)
    faultOnce(faults, 'MissingValue', 'Order.CancelReplaceSignalId')
})

const strategyOnly = [...exits, 'CancelReplaceSignalId', 'ParentSignalId', 'ParkedUntilDate'] as const

const accountNeed = orderNeed(
  'An account order has no exits, parent, parking or replaced signal.',
  (order, faults) => {
    for (const name of strategyOnly)
      if (order[name] !== undefined)
        faultOnce(faults, 'BadCombination', `Order.${name}`, 'Not for account orders')
  },
)

/** A new strategy order. With CancelReplaceSignalId it means the same as a replacement. */
export const newOrderNeeds: readonly Need[] = [priceNeed, symbolNeed, exitNeed]
export const replaceOrderNeeds: readonly Need[] = [replaceNeed, priceNeed, symbolNeed, exitNeed]
export const accountOrderNeeds: readonly Need[] = [priceNeed, symbolNeed, accountNeed]

/** Each desired position names one instrument, and no other strategy. */
export const positionNeeds: readonly Need[] = [
  {
    says: 'Each position has either PlatformSymbol or ExchangeSymbol; its StrategyId, if sent, equals the outer one.',
    check({ params, dialect }, faults) {
      const positions = (params.Positions ?? []) as readonly (OrderRead | undefined)[]
      for (const [index, position] of positions.entries()) {
        if (position === undefined) continue
        const at = `Positions[${index}]`
        checkSymbol(position, at, faults, dialect)
        const { StrategyId } = position
        if (StrategyId !== undefined && params.StrategyId !== undefined && StrategyId !== params.StrategyId)
          faultOnce(faults, 'BadCombination', `${at}.StrategyId`, 'Must equal the outer StrategyId')
      }
    },
  },
]
