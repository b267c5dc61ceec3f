/** Orders that wait for their strategy while what they name is split: they name prices and quantities of before it. */
import { expect, test } from 'vitest'
import { faultsOf, resultsOf } from '../support/http.ts'
import { holdLocks, untilWaiting } from '../support/locks.ts'
import { apple, buildTown } from './support/town.ts'

const town = await buildTown()
const { key } = town.people.owner
const { db } = town.platform
const StrategyId = town.lonelyStrategyId

const terms = { StrategyId, OrderType: '2', Side: '1', OrderQuantity: 10, TIF: '1', PlatformSymbol: apple }
const order = () => town.ask('NewStrategyOrder', { Order: { ...terms, Limit: 20 } }, { key })
const desired = () =>
  town.ask(
    'SetDesiredPositions',
    { StrategyId, Positions: [{ PlatformSymbol: apple, Quantity: 10 }] },
    { key },
  )

/** What is asked for at a moment, and waits for its strategy until a second after the opening. */
async function waiting(ask: typeof order, date: string, askedAt: string) {
  await town.door('/clock', { now: `${date}T${askedAt}Z` })
  const letGo = await holdLocks(
    db,
    (tx) => tx.run`select from strategy where id = ${StrategyId} for no key update`,
  )
  const asked = ask()
  await untilWaiting(db.read)
  await town.door('/clock', { now: `${date}T13:30:01Z` })
  await letGo()
  return asked
}

const split = (date: string) =>
  town.door('/corporate-actions', [{ kind: 'split', symbol: 'AAPL', date, new: 2, old: 1 }])

test.each([
  ['an order', '2024-03-14', order],
  ['a position that is desired', '2024-03-15', desired],
])('%s of before a split is not taken after it', async (_, date, ask) => {
  await split(date)
  const answer = await waiting(ask, date, '13:29:59')
  expect([answer.status, ...faultsOf(answer)]).toEqual([409, '3016 Symbol'])
  const active = await town.ask('GetStrategyActiveOrders', { StrategyIds: StrategyId }, { key })
  expect(resultsOf(active)).toEqual([])
})

test('what comes at it, or waits over a dividend, is taken', async () => {
  await split('2024-03-18')
  expect((await waiting(order, '2024-03-18', '13:30:00')).status).toBe(200)
  const dividend = { kind: 'dividend', symbol: 'AAPL', date: '2024-03-19', amount: 1 }
  await town.door('/corporate-actions', [dividend])
  expect((await waiting(order, '2024-03-19', '13:29:59')).status).toBe(200)
})
