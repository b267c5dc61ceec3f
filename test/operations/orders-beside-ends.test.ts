/** An order that waits for its strategy while the contract it names ends: nothing would ever end it. */
import { expect, test } from 'vitest'
import { faultsOf, resultsOf } from '../support/http.ts'
import { holdLocks, untilWaiting } from '../support/locks.ts'
import { buildTown } from './support/town.ts'

const town = await buildTown()
const { owner } = town.people
const { db } = town.platform
const StrategyId = town.lonelyStrategyId

const order = () =>
  town.ask(
    'NewStrategyOrder',
    {
      Order: {
        StrategyId,
        OrderType: '2',
        Limit: 1,
        Side: '1',
        OrderQuantity: 1,
        TIF: '1',
        PlatformSymbol: { FullSymbol: 'AAPL2421F190', SymbolType: 'option' },
      },
    },
    { key: owner.key },
  )

test('an order is not taken in a contract that has ended meanwhile', async () => {
  await town.door('/clock', { now: '2024-06-21T19:59:00Z' })
  const [{ SignalId = 0 } = {}] = resultsOf<{ SignalId: number }>(await order())
  await town.ask('CancelStrategyOrder', { StrategyId, SignalId }, { key: owner.key })
  await town.door('/clock', { now: '2024-06-21T19:59:59Z' })
  const letGo = await holdLocks(
    db,
    (tx) => tx.run`select from strategy where id = ${StrategyId} for no key update`,
  )
  const asked = order()
  await untilWaiting(db.read)
  await town.door('/clock', { now: '2024-06-21T20:00:01Z' })
  await letGo()
  const answer = await asked
  expect([answer.status, ...faultsOf(answer)]).toEqual([400, '1121 Symbol'])
})
