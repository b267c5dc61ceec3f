/** What GetAutotradeStats counts as signals by the platform: what an owner trades of his own. */
import { expect, test } from 'vitest'
import { resultsOf } from '../support/http.ts'
import { buildTown } from './support/town.ts'

const town = await buildTown()
const { owner, westAdmin } = town.people

test('a strategy that its owner trades in an account of his own counts as sent by the platform', async () => {
  const stats = async () =>
    resultsOf<Record<string, unknown>>(
      await town.ask('GetAutotradeStats', {}, { key: westAdmin.key, host: 'WL' }),
    )
  await town.door('/accounts', [{ account: 'U200', personId: owner.personId, cash: 50_000 }])
  const counted = async () => (await stats()).find(({ Account }) => Account === 'U200')
  const own = { Account: 'U200', PersonId: owner.personId, StrategyId: town.strategyId, StocksEnabled: true }
  expect((await town.ask('StartAutotrade', own, { key: owner.key })).status).toBe(200)
  const expected = {
    UniqueAutotradedStrategies: 1,
    UniquePlatformtransmitStrategies: 1,
    PlatformtransmitStocksStrategies: 1,
    PlatformtransmitFuturesStrategies: 0,
    PlatformtransmitOptionsStrategies: 0,
    PlatformtransmitForexStrategies: 0,
  }
  expect(await counted()).toMatchObject(expected)
  // The same strategy in another's account is a follower's; of two classes each is counted, the strategy once.
  expect((await stats())[0]).toMatchObject({ PlatformtransmitStocksStrategies: 0 })
  const modified = { ...own, FuturesEnabled: true }
  expect((await town.ask('StartAutotrade', modified, { key: owner.key })).status).toBe(200)
  expect(await counted()).toMatchObject({ ...expected, PlatformtransmitFuturesStrategies: 1 })
})
