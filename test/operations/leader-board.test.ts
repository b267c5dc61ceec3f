/** The leader board and the members of the details that judge a strategy, against the published formulas. */
import { expect, test } from 'vitest'
import { faultsOf, resultsOf } from '../support/http.ts'
import { buildTown, holderAccount } from './support/town.ts'

const { platform, people, door, ask, strategyId, lonelyStrategyId } = await buildTown()
const { write } = platform.db

const add = async (StrategyName: string): Promise<number> => {
  const answer = await ask(
    'AddStrategy',
    { StrategyName, StartingCapital: 50_000 },
    { key: people.stranger.key },
  )
  return resultsOf<{ StrategyId: number }>(answer)[0]?.StrategyId ?? 0
}
const strange = await add('Strange')
const hidden = await add('Hidden')
await door('/strategies', [{ strategyId: hidden, private: true }])
await door('/clock', { now: '2024-03-14T14:00:00Z' })

interface Figures {
  calmar: number | null
  sharpe: number | null
  age: number
  trades: number
}

/** Gives a strategy figures as if it had lived. */
async function live(id: number, { calmar, sharpe, age, trades }: Figures): Promise<void> {
  const changed = await write.run`
    update strategy_statistics set calmar = ${calmar}::float8, sharpe = ${sharpe}::float8,
      age_in_days = ${age}::int, trades = ${trades}::int, max_drawdown = 20, value = 120000
    where strategy_id = ${id}`
  expect(changed).toBe(1)
}

const board = async (params: object = {}, key = people.neighbour.key) =>
  resultsOf<{ Id: number; IsAlive: boolean }>(await ask('GetLeaderBoard', params, { key })).map(
    ({ Id }) => Id,
  )

test('the higher score comes first, the dead stay and are marked, the private are hidden', async () => {
  await live(strategyId, { calmar: 1.5, sharpe: 1.5, age: 365, trades: 30 })
  await live(strange, { calmar: 3, sharpe: 3, age: 365, trades: 30 })
  await live(hidden, { calmar: 3, sharpe: 3, age: 3650, trades: 300 })
  await write.run`update strategy set is_alive = false where id = ${strange}`
  expect(await board()).toEqual([strange, strategyId, lonelyStrategyId])
  expect(await board({}, people.stranger.key)).toEqual([hidden, strange, strategyId, lonelyStrategyId])
  expect(await board({}, people.operator.key)).toContain(hidden)
  const [first] = resultsOf(await ask('GetLeaderBoard', {}, { key: people.neighbour.key }))
  expect(first).toMatchObject({
    StrategyId: strange,
    StrategyName: 'Strange',
    IsAlive: false,
    IsPrivate: false,
  })
})

test('of a class: what has traded it or nothing yet', async () => {
  expect(await board({ SecurityType: 'CS' })).toEqual([strange, strategyId, lonelyStrategyId])
  expect(await board({ SecurityType: 'FUT' })).toEqual([strange, lonelyStrategyId])
})

test('refusals', async () => {
  expect((await ask('GetLeaderBoard', {})).status).toBe(401)
  const answer = await ask('GetLeaderBoard', { SecurityType: 'XX' }, { key: people.owner.key })
  expect([answer.status, faultsOf(answer)]).toEqual([400, ['1130 SecurityType']])
})

test('the details carry score, suggested capital and what live accounts follow with', async () => {
  const detailsOf = async (StrategyId: number) =>
    resultsOf(await ask('GetStrategyDetails', { StrategyId }, { key: people.owner.key }))[0]
  // The owner has one other strategy: 1000 x 3/6 x 1/2 x 1/2 / 1.1. The holder follows at 100 percent.
  expect(await detailsOf(strategyId)).toMatchObject({
    Score: 114,
    SuggestedCapital: 144_000,
    AUM: 120_000,
    AUM_NumberOfAccounts: 1,
  })
  expect(await detailsOf(lonelyStrategyId)).toMatchObject({
    Score: 0,
    SuggestedCapital: 100_000,
    AUM: 0,
    AUM_NumberOfAccounts: 0,
  })
})

test('an account whose Autotrade is off follows with nothing until it is on again', async () => {
  const { owner, holder } = people
  const facts = async (StrategyId: number) => {
    const read = async (operation: 'GetStrategyDetails' | 'SearchStrategies', params: object) =>
      resultsOf<Record<string, unknown>>(await ask(operation, params, { key: owner.key, host: 'Geo' }))
    const [details] = await read('GetStrategyDetails', { StrategyId })
    const found = await read('SearchStrategies', { StrategyOwnerPersonId: owner.personId })
    const listed = found.find((row) => row.StrategyId === StrategyId)
    return [
      [details?.AUM_NumberOfAccounts, details?.AUM, details?.TradeOwnSystemPercent],
      [details?.IsTradeOwnSystem, listed?.IsTradeOwnSystem],
      details?.LastModified,
    ]
  }
  await door('/accounts', [{ account: 'OWN1', personId: owner.personId, cash: 50_000 }])
  const own = { Account: 'OWN1', PersonId: owner.personId }
  const start = { ...own, StrategyId: strategyId, StocksEnabled: true, ScalingPercentage: 50 }
  expect((await ask('StartAutotrade', start, { key: owner.key })).json).toBe(true)
  const following = [
    [2, 180_000, 50],
    [true, true],
  ]
  expect(await facts(strategyId)).toEqual([...following, '2024-03-14T14:00:00Z'])
  await door('/clock', { now: '2024-03-14T14:10:00Z' })
  const turn = (IsAutotradeEnabled: boolean, account: object, key: string) =>
    ask('SetAutotradeSettings', { ...account, IsAutotradeEnabled }, { key })
  expect((await turn(false, own, owner.key)).status).toBe(200)
  expect(await facts(strategyId)).toEqual([[1, 120_000, undefined], [false, false], '2024-03-14T14:10:00Z'])
  await door('/clock', { now: '2024-03-14T14:20:00Z' })
  expect((await turn(true, own, owner.key)).status).toBe(200)
  expect(await facts(strategyId)).toEqual([...following, '2024-03-14T14:20:00Z'])
  await door('/broker', { delink: holderAccount })
  expect((await facts(strategyId))[0]).toEqual([1, 60_000, 50])
  expect((await turn(true, { Account: holderAccount, PersonId: holder.personId }, holder.key)).status).toBe(
    200,
  )
})

test('it ends with the hundredth', async () => {
  await write.run`
    insert into strategy (site_id, owner_person_id, name, started_at, starting_cash, cash)
    select site_id, owner_person_id, 'Many ' || place, started_at, starting_cash, cash
    from strategy, generate_series(1, 100) place where id = ${strategyId}`
  const shown = await board()
  expect(shown.slice(0, 3)).toEqual([strange, strategyId, lonelyStrategyId])
  expect(shown).toHaveLength(100)
})
