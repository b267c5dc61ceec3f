/** What a holder does to an order while the worker hands the same order on: one after the other, whoever comes first. */
import { expect, test } from 'vitest'
import { resultsOf, told } from '../support/http.ts'
import { holdTable, untilWaiting } from '../support/locks.ts'
import { buildHolder } from './support/holder.ts'
import { apple } from './support/town.ts'

const { town, own, held, orders, audit } = await buildHolder()
const { db } = town.platform

/** The owner's exit at this price, in the place of another. */
const exit = (limit: number, replaces?: number) => ({
  StrategyId: town.strategyId,
  OrderType: '2',
  Side: '2',
  OpenClose: 'C',
  OrderQuantity: 100,
  TIF: '1',
  Limit: limit,
  PlatformSymbol: apple,
  ...(replaces && { CancelReplaceSignalId: replaces }),
})

test('a price that its strategy changes at the same moment is not changed a second time', async () => {
  const { key } = town.people.owner
  const placed = await town.ask('NewStrategyOrder', { Order: exit(120) }, { key })
  const [{ SignalId } = { SignalId: 0 }] = resultsOf<{ SignalId: number }>(placed)
  const copy = (await orders()).find((order) => order.SignalId === SignalId)
  const letGo = await holdTable(db, 'account_order')
  const replacing = town.ask('ReplaceStrategyOrder', { Order: exit(121, SignalId) }, { key })
  await untilWaiting(db.read)
  const asking = held('ReplaceAutotradeOrder', { ...own(), OrderId: copy?.OrderId, Price: 125 })
  await untilWaiting(db.read, 2)
  const [replaced, answer] = await Promise.all([replacing, asking, letGo()])
  expect(replaced.status).toBe(200)
  expect(told(answer)).toEqual([409, '2010 OrderId'])
  const exits = (await orders()).filter(({ Limit }) => Limit && Limit >= 120)
  expect(exits.map(({ OrderStatus, Limit }) => [OrderStatus, Limit])).toEqual([
    ['5', 120],
    ['0', 121],
  ])
  await audit()
})
