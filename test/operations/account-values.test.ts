/** What an account is worth and what a setup in it has earned, after what brokers and issuers do to it. */
import { expect, test } from 'vitest'
import { resultsOf } from '../support/http.ts'
import { buildTown, holderAccount } from './support/town.ts'

const town = await buildTown()
const { personId, key } = town.people.holder
const own = { Account: holderAccount, PersonId: personId }
const rowOf = async (operation: 'GetAutotradeSettings' | 'GetDashBoard', params = own) =>
  resultsOf<Record<string, unknown>>(await town.ask(operation, params, { key }))[0]

test('what a broker takes back of the holder’s own trades is worth nothing', async () => {
  const other = { ...own, Account: 'U102' }
  await town.door('/accounts', [{ account: other.Account, personId, cash: 10_000 }])
  await town.ask(
    'StartAutotrade',
    { ...other, StrategyId: town.strategyId, DoNotJoinCurrentSystemPositions: true },
    { key },
  )
  const execution = {
    account: other.Account,
    symbol: 'AAPL',
    side: '1',
    qty: 10,
    px: 90,
    clientOrderId: null,
  }
  await town.door('/quotes', [{ symbol: 'AAPL', bid: 100, ask: 100 }])
  const { execId } = await town.door<{ execId: string }>('/broker', { execution })
  expect(await rowOf('GetAutotradeSettings', other)).toMatchObject({ NetLiquidationValue: 10_100 })
  await town.door('/broker', { bust: execId })
  expect(await rowOf('GetAutotradeSettings', other)).toMatchObject({ NetLiquidationValue: 10_000 })
})

test('dividends and fractions of a split are earned, and a split loses nothing', async () => {
  // 100 shares bought at 100 in an account of 50,000.
  await town.door('/quotes', [{ symbol: 'AAPL', bid: 100, ask: 100 }])
  expect(await rowOf('GetDashBoard')).toMatchObject({ TodayReturn: 0, TotalReturn: 0 })
  await town.door('/clock', { now: '2024-03-12T22:00:00Z' })
  await town.door('/corporate-actions', [
    { kind: 'dividend', symbol: 'AAPL', date: '2024-03-13', amount: 1 },
    { kind: 'split', symbol: 'AAPL', date: '2024-03-14', new: 1, old: 3 },
  ])
  await town.door('/clock', { now: '2024-03-13T14:00:00Z' })
  expect(await rowOf('GetDashBoard')).toMatchObject({ TodayReturn: 0.2, TotalReturn: 0.2 })
  await town.door('/clock', { now: '2024-03-14T14:00:00Z' })
  await town.door('/quotes', [{ symbol: 'AAPL', bid: 300, ask: 300 }])
  // 33 shares at 300, and 100 for the third of a share.
  expect(await rowOf('GetAutotradeSettings')).toMatchObject({ NetLiquidationValue: 50_100 })
  expect(await rowOf('GetDashBoard')).toMatchObject({ TodayReturn: 0, TotalReturn: 0.2 })
})
