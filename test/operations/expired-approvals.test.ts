/** A request for approval that nobody answered in time, before any worker has written that down. */
import { expect, test } from 'vitest'
import { faultsOf, resultsOf } from '../support/http.ts'
import { buildTown } from './support/town.ts'

const town = await buildTown()
const { neighbour } = town.people
const named = { Account: 'E1', PersonId: neighbour.personId, StrategyId: town.strategyId }
const start = async (): Promise<string> => {
  const wish = { ...named, StocksEnabled: true }
  const asked = await town.ask('StartAutotrade', wish, { key: neighbour.key, host: 'WL' })
  return String(asked.headers['x-approval-request-id'])
}
const shown = async (RequestId: string) =>
  resultsOf<{ Status: string; SupersededByRequestId?: string }>(
    await town.ask('GetAutotradeApprovalStatus', { RequestId }, { key: neighbour.key, host: 'WL' }),
  )[0]

test('is replaced by nothing and leaves nothing to stop', async () => {
  await town.door('/accounts', [{ account: 'E1', personId: neighbour.personId, cash: 10_000 }])
  const id = await start()
  await town.platform.db.write.run`
    update approval_request set expires_at = created_at where id = ${id}::uuid`
  expect((await shown(id))?.Status).toBe('Expired')
  const stop = await town.ask('StopAutotrade', named, neighbour)
  expect([stop.status, ...faultsOf(stop)]).toEqual([404, '2013 StrategyId'])
  expect((await shown(await start()))?.Status).toBe('PendingCustomer')
  expect(await shown(id)).toMatchObject({ Status: 'Expired' })
  expect(await shown(id)).not.toHaveProperty('SupersededByRequestId')
})
