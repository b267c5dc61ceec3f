/**
 * Combination rules of orders: which price goes with which type, where exits may stand, which symbol names
 * the instrument. All of it is decided from the request alone; what needs the book is the platform's.
 */
import { type Fault, faultOf, type Refusal } from './errors.ts'
import type { AccountOrderInput, StrategyOrderInput } from './resources/order.ts'
import type { Given, Need } from './row.ts'
import type { Dialect, ReadOf } from './schema.ts'

type OrderRead = Partial<ReadOf<typeof StrategyOrderInput>> | Partial<ReadOf<typeof AccountOrderInput>>

/** Runs a rule on the order of the request, and drops what was refused already. */
function orderNeed(says: string, find: (order: OrderRead, say: Say, dialect: Dialect) => void): Need {
  return {
    says,
    faults({ params, refused, dialect }: Given) {
      const order = params.Order as OrderRead | undefined
      const faults: Fault[] = []
      const say: Say = (refusal, name, message) => {
        if (!refused(`Order.${name}`)) faults.push(faultOf(refusal, `Order.${name}`, message))
      }
      if (order !== undefined) find(order, say, dialect)
      return faults
    },
  }
}

type Say = (refusal: Refusal, name: string, message?: string) => void

const priceNeed = orderNeed(
  'Limit goes with OrderType 2 and Stop with OrderType 3; no other price is allowed.',
  (order, say) => {
    if (order.OrderType === undefined) return
    for (const [name, type] of [
      ['Limit', '2'],
      ['Stop', '3'],
    ] as const) {
      if (order.OrderType === type && order[name] === undefined) say('MissingValue', name)
      if (order.OrderType !== type && order[name] !== undefined)
        say('BadCombination', name, `${name} goes with OrderType ${type}`)
    }
  },
)

const symbolNeed = orderNeed(
  'Either PlatformSymbol or ExchangeSymbol names the instrument.',
  (order, say, dialect) => oneSymbol(order, say, dialect),
)

function oneSymbol(holder: OrderRead, say: Say, dialect: Dialect): void {
  const name = dialect === 'compat' ? 'C2Symbol' : 'PlatformSymbol'
  const { PlatformSymbol, ExchangeSymbol } = holder
  if (PlatformSymbol === undefined && ExchangeSymbol === undefined) say('MissingValue', name)
  if (PlatformSymbol !== undefined && ExchangeSymbol !== undefined && dialect === 'native')
    say('BadCombination', 'ExchangeSymbol', 'Send one of PlatformSymbol and ExchangeSymbol')
}

const exits = ['ProfitTarget', 'StopLoss'] as const

const exitNeed = orderNeed(
  'ProfitTarget and StopLoss belong to new opening orders: long StopLoss < entry price < ProfitTarget, short the mirror image.',
  (order, say) => {
    const given = exits.filter((name) => order[name] !== undefined)
    if (order.CancelReplaceSignalId !== undefined)
      for (const name of given) say('BadCombination', name, 'A replacement takes over the exits')
    else if (order.OpenClose === 'C')
      for (const name of given) say('BadCombination', name, 'A closing order has no exits')
    else checkExitPrices(order, say)
  },
)

function checkExitPrices(
  { OrderType, Limit, Stop, Side, ProfitTarget, StopLoss }: OrderRead,
  say: Say,
): void {
  if (Side === undefined) return
  const direction = Side === '1' ? 1 : -1
  const entry = OrderType === '2' ? Limit : OrderType === '3' ? Stop : undefined
  const isAbove = (a: number, b: number): boolean => (a - b) * direction > 0
  const side = direction === 1 ? 'a long' : 'a short'
  if (ProfitTarget !== undefined && entry !== undefined && !isAbove(ProfitTarget, entry))
    say('BadCombination', 'ProfitTarget', `On the wrong side of the entry price of ${side} position`)
  if (StopLoss !== undefined && entry !== undefined && !isAbove(entry, StopLoss))
    say('BadCombination', 'StopLoss', `On the wrong side of the entry price of ${side} position`)
  if (
    ProfitTarget !== undefined &&
    StopLoss !== undefined &&
    entry === undefined &&
    !isAbove(ProfitTarget, StopLoss)
  )
    say('BadCombination', 'StopLoss', `On the wrong side of ProfitTarget for ${side} position`)
}

const replaceNeed = orderNeed('CancelReplaceSignalId names the signal to replace.', (order, say) => {
  if (order.CancelReplaceSignalId === undefined) say('MissingValue', 'CancelReplaceSignalId')
})

const accountNeed = orderNeed(
  'An account order has no exits, parent, parking or replaced signal.',
  (order, say) => {
    for (const name of [...exits, 'CancelReplaceSignalId', 'ParentSignalId', 'ParkedUntilDate'] as const)
      if (order[name] !== undefined) say('BadCombination', name, 'Not for account orders')
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
    faults({ params, refused, dialect }) {
      const faults: Fault[] = []
      const positions = (params.Positions ?? []) as readonly (OrderRead | undefined)[]
      positions.forEach((position, index) => {
        if (position === undefined) return
        const say: Say = (refusal, name, message) => {
          const path = `Positions[${index}].${name}`
          if (!refused(path)) faults.push(faultOf(refusal, path, message))
        }
        oneSymbol(position, say, dialect)
        if (position.StrategyId !== undefined && params.StrategyId !== undefined)
          if (position.StrategyId !== params.StrategyId)
            say('BadCombination', 'StrategyId', 'Must equal the StrategyId of the request')
      })
      return faults
    },
  },
]
