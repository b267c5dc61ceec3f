/** An admin of a white-label site who was given less sees less: members and what they pay are not everybody's. */
import { expect, test } from 'vitest'
import type { OperationName } from '../../src/contract/index.ts'
import { changeRole } from '../../src/storage/operating/administration.ts'
import { faultsOf, resultsOf } from '../support/http.ts'
import { buildTown, holderAccount } from './support/town.ts'

const town = await buildTown()
const { holder, westAdmin } = town.people
const ask = (operation: OperationName, params: object) =>
  town.ask(operation, params, { key: westAdmin.key, host: 'WL' })
const catalog = () => ask('GetSiteCatalog', {})
const plans = () => ask('GetAutotradePlans', {})

/** Gives the admin these, and waits until `proof` says that the platform knows. */
async function give(permissions: string[] | null, proof: () => Promise<boolean>): Promise<void> {
  const { db } = town.platform
  await changeRole(db.write, { personId: westAdmin.personId, role: 'whitelabel_admin', permissions })
  await expect.poll(proof).toBe(true)
}

const rows = ['SearchAccounts', 'GetSubscribers', 'GetAutotraders', 'GetSubscriptionRevenue'] as const
const counts = async () => {
  const params = { StrategyId: town.strategyId }
  const found: Record<string, number> = {}
  for (const name of rows)
    found[name] = resultsOf(await ask(name, name === 'SearchAccounts' ? {} : params)).length
  return found
}
const refused: readonly [OperationName, object][] = [
  ['SearchAutotradedAccounts', { StrategyId: town.strategyId }],
  ['GetAutotradeStats', {}],
  ['GetPendingAccounts', {}],
  ['GetAutotradeSettings', { PersonId: holder.personId }],
  ['GetSubscribedStrategies', { PersonId: holder.personId }],
  ['GetAutoTradeOpenPositions', { Account: holderAccount }],
  ['StartSim', { PersonId: holder.personId, StrategyIds: [town.lonelyStrategyId] }],
]

test('with the catalog alone there are no members, and with billing alone what they pay', async () => {
  await town.door('/strategies', [{ strategyId: town.lonelyStrategyId, monthlyCost: 10 }])
  const bought = { personId: holder.personId, strategyId: town.lonelyStrategyId, kind: 'paid' }
  await town.door('/subscriptions', [bought])
  const revenue = async () =>
    resultsOf(await ask('GetSubscriptionRevenue', { WhiteLabelSiteId: town.sites.west })).length
  expect(await counts()).toMatchObject({ SearchAccounts: 1, GetSubscribers: 1, GetAutotraders: 1 })
  expect(await revenue()).toBe(1)
  for (const [name, params] of refused) expect([name, (await ask(name, params)).status]).toEqual([name, 200])

  await give(['catalog'], async () => (await plans()).status === 403)
  expect((await catalog()).status).toBe(200)
  expect(new Set(Object.values(await counts()))).toEqual(new Set([0]))
  expect(await revenue()).toBe(0)
  for (const [name, params] of refused) {
    const answer = await ask(name, params)
    expect([name, answer.status, faultsOf(answer)[0]?.slice(0, 4)]).toEqual([name, 403, '1002'])
  }

  await give(['billing'], async () => (await catalog()).status === 403)
  expect(await revenue()).toBe(1)
  expect(await counts()).toMatchObject({ SearchAccounts: 0, GetSubscribers: 0 })
})
