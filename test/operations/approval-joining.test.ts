/** What the page of a request says of what its strategy holds already. */
import { expect, test } from 'vitest'
import { resultsOf } from '../support/http.ts'
import { buildTown } from './support/town.ts'

const town = await buildTown()
const { db } = town.platform
const { key, personId } = town.people.neighbour
const account = { Account: 'J1', PersonId: personId }
await town.door('/accounts', [{ account: 'J1', personId, cash: 10_000 }])

/** Asks for the strategy; answers the address of the page. */
async function ask(): Promise<string> {
  const wish = { ...account, StrategyId: town.strategyId, StocksEnabled: true }
  const asked = await town.ask('StartAutotrade', wish, { key, host: 'WL' })
  const RequestId = String(asked.headers['x-approval-request-id'])
  const status = await town.ask('GetAutotradeApprovalStatus', { RequestId }, { key, host: 'WL' })
  return resultsOf<{ ApprovalUrl?: string }>(status)[0]?.ApprovalUrl ?? ''
}

const read = async (page: string): Promise<string> => (await fetch(page)).text()

test('no joining is promised to who follows already, nor while AutoSync is off', async () => {
  const first = await ask()
  expect(await read(first)).toContain('are joined at the market, at once or when it opens')
  await db.write.run`update account set is_sync_enabled = false where account = 'J1'`
  expect(await read(first)).toContain('are joined at the market when AutoSync of the account is switched on')
  const body = new URLSearchParams({ answer: 'approve' })
  expect((await fetch(first, { method: 'POST', body })).status).toBe(200)
  const page = await read(await ask())
  expect(page).toContain('asks you to change how the orders')
  expect(page).not.toContain('joined')
})
