/** The town's holder with orders of his own, as he asks for them over HTTP and is shown them. */
import { expect } from 'vitest'
import type { OperationName } from '../../../src/contract/index.ts'
import { call, resultsOf } from '../../support/http.ts'
import { apple, buildTown, holderAccount } from './town.ts'

export interface ListedOrder {
  readonly OrderId: string
  readonly SignalId: number
  readonly SignalType: number
  readonly OrderStatus: string
  readonly OpenClose: string
  readonly OrderQuantity: number
  readonly Limit?: number
  readonly Stop?: number
  readonly RejectMessage?: string
}

export async function buildHolder() {
  const town = await buildTown()
  const own = () => ({ Account: holderAccount, PersonId: town.people.holder.personId })
  const held = (operation: OperationName, params: object) =>
    town.ask(operation, params, { key: town.people.holder.key })
  const owned = (operation: OperationName, params: object) =>
    town.ask(operation, params, { key: town.people.owner.key })
  const closing = (terms: object = {}) => ({
    ...own(),
    Order: {
      OrderType: '2',
      Limit: 110,
      Side: '2',
      OrderQuantity: 40,
      TIF: '1',
      PlatformSymbol: apple,
      ...terms,
    },
  })
  const orders = async (): Promise<ListedOrder[]> =>
    resultsOf<ListedOrder>(await held('GetAutotradeHistoricalOrders', own()))
  const place = async (terms: object = {}): Promise<ListedOrder> => {
    const answer = await held('NewAutotradeOrder', closing(terms))
    const [{ SignalId } = { SignalId: 0 }] = resultsOf<{ SignalId: number }>(answer)
    const found = (await orders()).filter((order) => order.SignalId === SignalId)
    expect(found).toHaveLength(1)
    return found[0] as ListedOrder
  }
  /** An order of the strategy's; answers its signal. */
  const signal = async (terms: object): Promise<number> => {
    const Order = { StrategyId: town.strategyId, TIF: '1', PlatformSymbol: apple, ...terms }
    const placed = await owned('NewStrategyOrder', { Order })
    return resultsOf<{ SignalId: number }>(placed)[0]?.SignalId ?? 0
  }
  const copyOf = async (signalId: number) =>
    (await orders()).findLast(({ SignalId }) => SignalId === signalId)
  /** The holder wants another price for his copy of the signal. */
  const reprice = async (signalId: number, Price: number): Promise<void> => {
    const { OrderId } = (await copyOf(signalId)) ?? {}
    expect((await held('ReplaceAutotradeOrder', { ...own(), OrderId, Price })).status).toBe(200)
  }
  const bid = (price: number) =>
    town.door('/quotes', [{ symbol: apple.FullSymbol, bid: price, ask: price + 0.1 }])
  const position = async () =>
    resultsOf<{ Quantity: number }>(await held('GetAutoTradeOpenPositions', { Account: holderAccount }))
  const audit = async () =>
    expect((await call(town.platform.url, '/test/audit')).json).toEqual({ violations: [] })
  return { town, own, held, owned, closing, orders, place, signal, copyOf, reprice, bid, position, audit }
}
