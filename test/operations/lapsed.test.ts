/** Whose subscription has lapsed is followed out of his positions, never into new ones, until it is paid again. */
import { expect, test } from 'vitest'
import { call, resultsOf } from '../support/http.ts'
import { apple, buildTown, holderAccount } from './support/town.ts'

const town = await buildTown()
const { holder, owner } = town.people

const trade = (Side: '1' | '2', OrderQuantity: number) =>
  town.ask(
    'NewStrategyOrder',
    {
      Order: {
        StrategyId: town.strategyId,
        OrderType: '1',
        Side,
        OrderQuantity,
        TIF: '0',
        PlatformSymbol: apple,
      },
    },
    { key: owner.key },
  )
const held = async (): Promise<number> => {
  const asked = await town.ask('GetAutoTradeOpenPositions', { Account: holderAccount }, { key: holder.key })
  return resultsOf<{ Quantity: number }>(asked)[0]?.Quantity ?? 0
}
const setStatus = (status: string) =>
  town.platform.db.write.run`
    update subscription set status = ${status} where person_id = ${holder.personId}
      and strategy_id = ${town.strategyId}`
const syncToOpen = async () => {
  const asked = { Account: holderAccount, PersonId: holder.personId, StrategyId: town.strategyId }
  expect((await town.ask('SyncPositionsToOpen', asked, { key: holder.key })).status).toBe(200)
}
const minute = (now: string) => town.door('/clock', { now })

test('closing goes on, opening waits for the payment', async () => {
  expect(await held()).toBe(100)
  await setStatus('suspended')
  await trade('1', 50)
  expect(await held()).toBe(100)
  await minute('2024-03-12T14:02:00Z')
  expect(await held()).toBe(100)
  await town.door('/quotes', [{ symbol: 'AAPL', bid: 99.99, ask: 100 }])
  await trade('2', 90)
  await minute('2024-03-12T14:04:00Z')
  expect(await held()).toBe(60)
  await town.door('/quotes', [{ symbol: 'AAPL', bid: 99.99, ask: 100 }])
  await trade('1', 10)
  await minute('2024-03-12T14:06:00Z')
  expect(await held()).toBe(60)
  await syncToOpen()
  expect(await held()).toBe(60)
  await setStatus('active')
  await syncToOpen()
  await town.door('/quotes', [{ symbol: 'AAPL', bid: 99.99, ask: 100 }])
  await minute('2024-03-12T14:08:00Z')
  expect(await held()).toBe(70)
  expect((await call(town.platform.url, '/test/audit')).json).toEqual({ violations: [] })
})
