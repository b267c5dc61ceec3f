/** Orders of a holder stay within his own account and the strategies that it follows. */
import { expect, test } from 'vitest'
import type { OperationName } from '../../src/contract/index.ts'
import { resultsOf, told } from '../support/http.ts'
import { buildHolder } from './support/holder.ts'
import { holderAccount } from './support/town.ts'

const { town, own, held, closing, orders, place, position, audit } = await buildHolder()

test('an account of somebody else, of the same number and strategy, is out of reach, and so are its orders', async () => {
  const { personId, key } = town.people.neighbour
  await town.door('/accounts', [{ account: holderAccount, brokerId: 77, personId, cash: 50_000 }])
  const other = { Account: holderAccount, PersonId: personId }
  const ask = (operation: OperationName, params: object) =>
    town.ask(operation, { ...other, ...params }, { key })
  const terms = { StrategyId: town.strategyId, StocksEnabled: true, DoNotJoinCurrentSystemPositions: true }
  expect((await ask('StartAutotrade', terms)).text).toBe('true')
  const theirs = await place({ StrategyId: town.strategyId, Limit: 120, OrderQuantity: 1 })
  for (const [operation, more] of [
    ['CancelAutotradeOrder', {}],
    ['ReplaceAutotradeOrder', { Price: 121 }],
  ] as const)
    expect(told(await ask(operation, { OrderId: theirs.OrderId, ...more }))).toEqual([404, '2013 OrderId'])
  expect(await orders()).toContainEqual(theirs)
  expect(resultsOf(await ask('GetAutotradeActiveOrders', {}))).toEqual([])
  // What the other one holds is nothing to close here.
  const answer = await ask('NewAutotradeOrder', {
    ...closing({ StrategyId: town.strategyId }),
    ...other,
  })
  expect(answer.status).toBe(200)
  expect(resultsOf(await ask('GetAutotradeHistoricalOrders', {}))).toMatchObject([
    { OrderStatus: '8', RejectMessage: 'no position to close' },
  ])
  await audit()
})

test('a strategy that was stopped takes no orders, also for what it left open', async () => {
  const stop = { ...own(), StrategyId: town.strategyId, LeavePositionsOpen: true }
  const kept = { ...stop, TerminateStrategySubscription: false }
  expect((await held('StopAutotrade', kept)).status).toBe(200)
  expect(await position()).toContainEqual(expect.objectContaining({ Quantity: 100 }))
  expect(told(await held('NewAutotradeOrder', closing({ StrategyId: town.strategyId })))).toEqual([
    409,
    '2010 Order.StrategyId',
  ])
})
