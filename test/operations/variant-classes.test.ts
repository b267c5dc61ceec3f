/** A variant may trade what it copies, wherever a strategy is shown and looked for by class. */
import { beforeAll, expect, test } from 'vitest'
import { endVariant, insertVariant } from '../../src/storage/strategies/variants.ts'
import { resultsOf } from '../support/http.ts'
import { buildTown, type Town, townStart } from './support/town.ts'

let town: Town
beforeAll(async () => {
  town = await buildTown()
})

type Row = Record<string, unknown>
const all = { Stocks: true, Options: true, Futures: true, Forex: true }

const ask = (operation: Parameters<Town['ask']>[0], params: object) =>
  town.ask(operation, params, { key: town.people.operator.key, host: 'WL' })
const details = (StrategyId: number) => ask('GetStrategyDetails', { StrategyId })

/** What every view says alike. */
async function enabled(id: number): Promise<unknown> {
  const shown = [
    ...resultsOf<Row>(await details(id)),
    ...resultsOf<Row>(await ask('GetStrategyHistoricalDailyEquity', { StrategyId: id })),
    ...resultsOf<Row>(await ask('SearchStrategies', {})).filter(({ StrategyId }) => StrategyId === id),
    ...resultsOf<Row>(await ask('GetLeaderBoard', {})).filter(({ StrategyId }) => StrategyId === id),
  ].map(({ SecurityTypesEnabled }) => JSON.stringify(SecurityTypesEnabled))
  expect([shown.length, new Set(shown).size]).toEqual([4, 1])
  return JSON.parse(shown[0] ?? '{}')
}

/** Whether a search and the leader board of a class name it. */
async function isFound(id: number, SecurityType: string): Promise<boolean[]> {
  const lists = [
    await ask('SearchStrategies', { SecurityType }),
    await ask('GetLeaderBoard', { SecurityType }),
  ]
  return lists.map((list) => resultsOf<Row>(list).some(({ StrategyId }) => StrategyId === id))
}

test('the classes of a variant are those that it copies, as long as it follows', async () => {
  const variant = {
    parentId: town.strategyId,
    ownerPersonId: town.people.westAdmin.personId,
    name: 'Some',
    scalingPercentage: 50,
    startingCash: undefined,
    createdAt: Date.parse(townStart),
  }
  const securityTypes = ['FUT', 'FOR'] as const
  const id = Number(
    await town.platform.db.transaction((tx) => insertVariant(tx, { ...variant, securityTypes })),
  )
  expect(await enabled(id)).toEqual({ ...all, Stocks: false, Options: false })
  expect(await enabled(town.strategyId)).toEqual(all)
  expect(await isFound(id, 'CS')).toEqual([false, false])
  expect(await isFound(id, 'FUT')).toEqual([true, true])
  expect(resultsOf<Row>(await details(id))[0]?.PrimarySecurityTypes).toBe('Futures')

  await town.door('/clock', { now: '2024-03-12T15:13:00Z' })
  await town.platform.db.transaction((tx) => endVariant(tx, id, Date.parse('2024-03-12T15:13:00Z')))
  expect(await enabled(id)).toEqual(all)
  expect(await isFound(id, 'CS')).toEqual([true, true])
  expect((await details(id)).headers['last-modified']).toBe('Tue, 12 Mar 2024 15:13:00 GMT')
})
