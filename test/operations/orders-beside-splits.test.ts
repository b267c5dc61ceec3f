/** Orders that wait for their strategy while what they name is split: they name prices and quantities of before it. */
import { expect, test } from 'vitest'
import { faultsOf, resultsOf } from '../support/http.ts'
import { holdLocks, untilWaiting } from '../support/locks.ts'
import { apple, buildTown } from './support/town.ts'

const town = await buildTown()
const { key } = town.people.owner
const { db } = town.platform
const StrategyId = town.lonelyStrategyId

const order = () =>
  town.ask(
    'NewStrategyOrder',
    {
      Order: {
        ...{ StrategyId, OrderType: '2', Limit: 80, Side: '1', OrderQuantity: 10, TIF: '1' },
        PlatformSymbol: apple,
      },
    },
    { key },
  )
const desired = () =>
  town.ask(
    'SetDesiredPositions',
    { StrategyId, Positions: [{ PlatformSymbol: apple, Quantity: 10 }] },
    { key },
  )

test.each([
  ['an order', '2024-03-14', order],
  ['a position that is desired', '2024-03-15', desired],
])('%s of before a split is not taken after it', async (_, date, ask) => {
  await town.door('/corporate-actions', [{ kind: 'split', symbol: 'AAPL', date, new: 2, old: 1 }])
  await town.door('/clock', { now: `${date}T13:29:59Z` })
  const letGo = await holdLocks(
    db,
    (tx) => tx.run`select from strategy where id = ${StrategyId} for no key update`,
  )
  const asked = ask()
  await untilWaiting(db.read)
  await town.door('/clock', { now: `${date}T13:30:01Z` })
  await letGo()
  const answer = await asked
  expect([answer.status, ...faultsOf(answer)]).toEqual([409, '3016 Symbol'])
  const active = await town.ask('GetStrategyActiveOrders', { StrategyIds: StrategyId }, { key })
  expect(resultsOf(active)).toEqual([])
})

test('what comes after it is taken', async () => {
  expect((await order()).status).toBe(200)
})
