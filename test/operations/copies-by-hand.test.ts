/** What holders do by hand to copies of their strategy's orders: the copy becomes theirs, or its place is taken anew. */
import { describe, expect, test } from 'vitest'
import { resultsOf } from '../support/http.ts'
import { buildHolder, type ListedOrder } from './support/holder.ts'
import { apple } from './support/town.ts'

const { town, own, held, owned, orders, signal, audit } = await buildHolder()

describe('closing by hand', () => {
  test("a strategy's exit becomes the holder's own", async () => {
    const SignalId = await signal({ OrderType: '3', Stop: 80, Side: '2', OrderQuantity: 100 })
    const copy = (await orders()).find((order) => order.SignalId === SignalId)
    expect(copy).toMatchObject({ SignalType: 1, OrderStatus: '0', Stop: 80 })
    const moved = await held('ReplaceAutotradeOrder', { ...own(), OrderId: copy?.OrderId, Price: 85 })
    expect(moved.status).toBe(200)
    const copies = (await orders()).filter((order) => order.SignalId === SignalId)
    expect(copies.map(({ OrderStatus, Stop, SignalType }) => [OrderStatus, Stop, SignalType])).toEqual([
      ['5', 80, 1],
      ['0', 85, 5],
    ])
    await owned('CancelStrategyOrder', { StrategyId: town.strategyId, SignalId })
    await audit()
  })

  test('an exit with the price of its strategy again is one of the strategy', async () => {
    const sold = { StrategyId: town.strategyId, OrderType: '3', Side: '2', OrderQuantity: 100, TIF: '1' }
    const stop = { ...sold, PlatformSymbol: apple }
    const idOf = (answer: Parameters<typeof resultsOf>[0]) =>
      resultsOf<{ SignalId: number }>(answer)[0]?.SignalId
    const latest = async () => {
      const { OrderId, Stop, SignalType } = (await orders()).findLast(({ Stop }) => Stop) as ListedOrder
      return { OrderId, terms: [Stop, SignalType] }
    }
    const move = async (Price: number) => {
      await held('ReplaceAutotradeOrder', { ...own(), OrderId: (await latest()).OrderId, Price })
      expect((await latest()).terms).toEqual([Price, 5])
    }
    const placed = idOf(await owned('NewStrategyOrder', { Order: { ...stop, Stop: 80 } }))
    await move(75)
    await held('CancelAutotradeOrder', { ...own(), OrderId: (await latest()).OrderId })
    expect((await latest()).terms).toEqual([80, 1])
    await move(76)
    const next = { ...stop, Stop: 82, CancelReplaceSignalId: placed }
    const SignalId = idOf(await owned('ReplaceStrategyOrder', { Order: next }))
    expect((await latest()).terms).toEqual([82, 1])
    await owned('CancelStrategyOrder', { StrategyId: town.strategyId, SignalId })
    await audit()
  })

  test.each([
    ['works', false],
    ['no broker has seen', true],
  ])("a strategy's exit that %s is placed anew when it is canceled", async (_, down) => {
    await town.door('/broker', { down })
    const SignalId = await signal({ OrderType: '3', Stop: 80, Side: '2', OrderQuantity: 100 })
    const copies = async () => (await orders()).filter((order) => order.SignalId === SignalId)
    await held('CancelAutotradeOrder', { ...own(), OrderId: (await copies())[0]?.OrderId })
    await town.door('/broker', { down: false })
    expect((await copies()).map(({ OrderStatus }) => OrderStatus)).toEqual(['4', '0'])
    await owned('CancelStrategyOrder', { StrategyId: town.strategyId, SignalId })
    await audit()
  })

  test('an entry that its holder canceled before its broker had seen it stays away until he asks again', async () => {
    await town.door('/broker', { down: true })
    const SignalId = await signal({ OrderType: '2', Limit: 50, Side: '1', OrderQuantity: 10 })
    const copies = async () => (await orders()).filter((order) => order.SignalId === SignalId)
    const shown = async () => (await copies()).map(({ OrderStatus }) => OrderStatus)
    await held('SyncPositionsToOpen', own())
    await town.door('/clock', { now: '2024-03-12T14:01:00Z' })
    await held('CancelAutotradeOrder', { ...own(), OrderId: (await copies())[0]?.OrderId })
    await town.door('/broker', { down: false })
    expect(await shown()).toEqual(['4'])
    await held('SyncPositionsToOpen', own())
    expect(await shown()).toEqual(['4', '0'])
    await owned('CancelStrategyOrder', { StrategyId: town.strategyId, SignalId })
    await audit()
  })
})
