/** A holder's own exit beside a close of AutoSync that waits for the market to open: they may both find it there. */
import { expect, test } from 'vitest'
import { buildHolder } from './support/holder.ts'

const { town, own, held, orders, place, signal, reprice, bid, position, audit } = await buildHolder()
const until = (now: string) => town.door('/clock', { now })
const scale = async (ScalingPercentage: number) => {
  const terms = { StrategyId: town.strategyId, StocksEnabled: true, ScalingPercentage }
  expect((await held('StartAutotrade', { ...own(), ...terms })).status).toBe(200)
}
/** Over the night the account is scaled to half; in the morning the market opens beyond the price of his exit. */
async function halveOverNight(evening: string, morning: string, signalType: number, price: number) {
  await until(evening)
  await scale(50)
  const closing = (await orders()).filter(
    ({ OrderStatus, OpenClose }) => OrderStatus === '0' && OpenClose === 'C',
  )
  expect(closing.map(({ SignalType, OrderQuantity }) => [SignalType, OrderQuantity])).toEqual([
    [1, 50],
    [signalType, 50],
  ])
  await until(morning)
  await bid(price)
  expect(await position()).toEqual([])
  await audit()
}

test('one placed by hand works for what that leaves', async () => {
  await place({ OrderQuantity: 80 })
  await halveOverNight('2024-03-12T21:00:00Z', '2024-03-13T13:30:00Z', 4, 111)
})

test('one of its strategy at his price does so too', async () => {
  await signal({ OrderType: '1', Side: '2', OrderQuantity: 100 })
  await scale(100)
  await signal({ OrderType: '1', Side: '1', OrderQuantity: 100 })
  await reprice(await signal({ OrderType: '2', Side: '2', OrderQuantity: 100, Limit: 130 }), 120)
  await halveOverNight('2024-03-13T21:00:00Z', '2024-03-14T13:30:00Z', 5, 121)
})
