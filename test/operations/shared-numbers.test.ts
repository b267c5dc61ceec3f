/** A number that two brokers gave to accounts of one person: whoever names it alone is asked for the broker. */
import { expect, test } from 'vitest'
import type { HostName, OperationName } from '../../src/contract/index.ts'
import { faultsOf, resultsOf } from '../support/http.ts'
import { buildTown, type CitizenName, holderAccount } from './support/town.ts'

const town = await buildTown()
const { people, strategyId } = town
const { personId } = people.holder
const own = { Account: holderAccount, PersonId: personId }
const asked = async (who: CitizenName, operation: OperationName, params: object, host?: HostName) => {
  const answer = await town.ask(operation, params, { key: people[who].key, ...(host && { host }) })
  return [answer.status, ...(answer.status === 200 ? resultsOf(answer) : faultsOf(answer))]
}
const other = 7
await town.door('/accounts', [{ account: holderAccount, personId, kind: 'live', cash: 1, brokerId: other }])

test.each<[OperationName, object]>([
  ['SetAutotradeSettings', { ...own, IsAutoSyncEnabled: true }],
  ['StartAutotrade', { ...own, StrategyId: strategyId, StocksEnabled: true }],
  ['StopAutotrade', { ...own, StrategyId: strategyId }],
])('%s', async (operation, params) => {
  expect(await asked('holder', operation, params)).toEqual([400, '1128 BrokerId'])
})

test('the one that is named is switched alone', async () => {
  const off = { ...own, BrokerId: other, IsAutoSyncEnabled: false }
  expect(await asked('holder', 'SetAutotradeSettings', off)).toEqual([200, true])
  const kept = await town.platform.db.read.rows`
    select broker_id as id, is_sync_enabled as "isSynced" from account where account = ${holderAccount} order by broker_id`
  expect(kept).toEqual([
    { id: 1, isSynced: true },
    { id: other, isSynced: false },
  ])
})

test('an approval is withdrawn of the one that is named', async () => {
  const approval = { Account: 'BOTH', PersonId: people.holder.personId }
  for (const BrokerId of [1, other]) {
    const answer = await asked('northAdmin', 'ApprovedAutotradeAccount', { ...approval, BrokerId }, 'Geo')
    expect(answer[0]).toBe(200)
  }
  const withdraw = (more = {}) =>
    asked('northAdmin', 'DeleteApprovedAutotradeAccount', { ...approval, ...more }, 'Geo')
  expect(await withdraw()).toEqual([400, '1128 BrokerId'])
  expect((await withdraw({ BrokerId: other }))[0]).toBe(200)
  expect((await withdraw())[0]).toBe(200)
})
