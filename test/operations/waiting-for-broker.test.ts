/** What an account's settings say of its broker once nothing is asked of that broker any more. */
import { expect, test } from 'vitest'
import { settleAtBroker } from '../../src/operations/approvals.ts'
import { resultsOf } from '../support/http.ts'
import { buildTown } from './support/town.ts'

const town = await buildTown()
const { db } = town.platform
const { key, personId } = town.people.neighbour
const own = { Account: 'W1', PersonId: personId }
const asHolder = { key, host: 'WL' } as const
await town.door('/accounts', [{ account: 'W1', personId, cash: 10_000 }])
await town.ask('StartAutotrade', { ...own, StrategyId: town.strategyId }, { key, host: 'Geo' })
await db.write.run`update broker set needs_authorization = true where name = 'Scripted'`

const another = async (): Promise<{ StrategyId: number }> => {
  const params = { StrategyName: 'Another', StartingCapital: 1000 }
  const [added] = resultsOf<{ StrategyId: number }>(
    await town.ask('AddStrategy', params, { key: town.people.owner.key }),
  )
  return { StrategyId: added?.StrategyId ?? 0 }
}

/** Asks for a strategy and approves it; the broker has to enable the account then. */
async function approved(strategy: { StrategyId: number }): Promise<string> {
  const asked = await town.ask('StartAutotrade', { ...own, ...strategy }, asHolder)
  const RequestId = String(asked.headers['x-approval-request-id'])
  const status = await town.ask('GetAutotradeApprovalStatus', { RequestId }, asHolder)
  const [{ ApprovalUrl = '' } = {}] = resultsOf<{ ApprovalUrl?: string }>(status)
  const body = new URLSearchParams({ answer: 'approve' })
  expect((await fetch(ApprovalUrl, { method: 'POST', body })).status).toBe(200)
  return RequestId
}

const shown = async (): Promise<unknown[]> =>
  resultsOf<{ BrokerAuthorizationStatus: string }>(await town.ask('GetAutotradeSettings', own, asHolder)).map(
    (row) => row.BrokerAuthorizationStatus,
  )

const refuse = (id: string) =>
  settleAtBroker(db, id, { isEnabled: false, reason: 'no permission' }, Date.parse('2024-03-12T14:00:00Z'))

test('a broker that has refused is not waited for, as long as it is asked nothing else', async () => {
  const first = await approved(await another())
  const second = await approved(await another())
  expect(await shown()).toEqual(['Pending'])
  await refuse(first)
  expect(await shown()).toEqual(['Pending'])
  await refuse(second)
  expect(await shown()).toEqual(['NotRequired'])
})

test('what was stopped before the broker has answered is not waited for', async () => {
  const strategy = await another()
  await approved(strategy)
  expect(await shown()).toEqual(['Pending'])
  expect((await town.ask('StopAutotrade', { ...own, ...strategy }, asHolder)).status).toBe(200)
  expect(await shown()).toEqual(['NotRequired'])
})

test('an account that the broker has enabled stays so, also where a request about it is replaced', async () => {
  const strategy = await another()
  await settleAtBroker(db, await approved(strategy), { isEnabled: true }, Date.parse('2024-03-12T14:00:00Z'))
  expect(new Set(await shown())).toEqual(new Set(['Authorized']))
  const next = await another()
  for (let times = 0; times < 2; times++) await town.ask('StartAutotrade', { ...own, ...next }, asHolder)
  expect(new Set(await shown())).toEqual(new Set(['Authorized']))
})
