/** What a replacement leaves behind that the strategy's account cannot carry, as its owner sees it. */
import { expect, test } from 'vitest'
import { resultsOf } from '../support/http.ts'
import { apple, buildTown, oneAtLimit } from './support/town.ts'

const town = await buildTown()
const { strategyId: StrategyId } = town
const { key } = town.people.owner

const send = async (operation: 'NewStrategyOrder' | 'ReplaceStrategyOrder', terms: object) => {
  const Order = {
    StrategyId,
    ...oneAtLimit,
    PlatformSymbol: apple,
    ...terms,
  }
  return resultsOf<{ SignalId: number }>(await town.ask(operation, { Order }, { key }))[0]
}
const order = async (SignalId: number | undefined) =>
  resultsOf(await town.ask('GetStrategyHistoricalOrders', { StrategyId, SignalId }, { key }))[0]

test.each<[string, object]>([
  ['at work', {}],
  ['parked', { ParkedUntilDate: '2024-03-12T19:00:00Z' }],
])('an order %s stays as it was', async (_, parking) => {
  const first = await send('NewStrategyOrder', parking)
  const before = await order(first?.SignalId)
  const CancelReplaceSignalId = first?.SignalId
  const second = await send('ReplaceStrategyOrder', { CancelReplaceSignalId, OrderQuantity: 100_000 })
  const rejected = await order(second?.SignalId)
  expect(rejected).toMatchObject({
    OrderStatus: '8',
    RejectMessage: 'insufficient buying power',
    CancelReplaceSignalId,
    OrderQuantity: 100_000,
    FilledQuantity: 0,
  })
  expect([second, rejected].filter((shown) => shown && 'ParkedUntilDate' in shown)).toEqual([])
  expect(await order(first?.SignalId)).toEqual(before)
})
