/** Accounts that wait for an approval: what the last word on each of them was. */
import { beforeEach, expect, test } from 'vitest'
import { resultsOf } from '../support/http.ts'
import { buildTown } from './support/town.ts'

const town = await buildTown()
const { people, strategyId } = town
const { personId } = people.neighbour
let account = ''
let made = 0

interface Pending {
  readonly Account: string
  readonly Status: string
  readonly StrategyId?: number
  readonly DeclinedUTC?: string
}

beforeEach(async () => {
  made += 1
  account = `P${made}`
  await town.door('/accounts', [{ account, personId, cash: 10_000 }])
})

const pending = async () =>
  resultsOf<Pending>(
    await town.ask('GetPendingAccounts', {}, { key: people.northAdmin.key, host: 'Geo' }),
  ).filter(({ Account }) => Account === account)

const start = (host: 'Gen' | 'WL', StrategyId = strategyId) => {
  const wish = { Account: account, PersonId: personId, StrategyId, StocksEnabled: true }
  return town.ask('StartAutotrade', wish, { key: people.neighbour.key, host })
}

/** Asks the holder on the white-label host, and answers for him. */
async function decline(): Promise<void> {
  const RequestId = String((await start('WL')).headers['x-approval-request-id'])
  const asked = await town.ask(
    'GetAutotradeApprovalStatus',
    { RequestId },
    { key: people.neighbour.key, host: 'WL' },
  )
  const [request] = resultsOf<{ ApprovalUrl: string }>(asked)
  await fetch(request?.ApprovalUrl ?? '', {
    method: 'POST',
    body: new URLSearchParams({ answer: 'decline' }),
  })
}

test('a holder is asked anew about an account whose approval was withdrawn', async () => {
  const own = { key: people.northAdmin.key, host: 'Geo' } as const
  const approval = { Account: account, PersonId: personId, BrokerId: 1 }
  await town.ask('ApprovedAutotradeAccount', approval, own)
  await town.ask('DeleteApprovedAutotradeAccount', { Account: account }, own)
  expect(await pending()).toMatchObject([{ Status: 'Declined', DeclinedUTC: '2024-03-12T14:00:00Z' }])
  await start('WL')
  const [row] = await pending()
  expect(row).toMatchObject({ Status: 'Pending', StrategyId: strategyId })
  expect(row).not.toHaveProperty('DeclinedUTC')
})

test('what was declined is past once the strategy is autotraded without asking', async () => {
  await decline()
  const declined = { Status: 'Declined', StrategyId: strategyId, DeclinedUTC: '2024-03-12T14:00:00Z' }
  expect(await pending()).toMatchObject([declined])
  expect((await start('Gen')).status).toBe(200)
  expect(await pending()).toEqual([])
})

test('a request that has expired waits no more, also where no worker has written that down', async () => {
  await start('WL')
  expect(await pending()).toMatchObject([{ StrategyId: strategyId }])
  await town.platform.db.write.run`
    update approval_request set expires_at = created_at where account_id = (
      select id from account where account = ${account})`
  const [row, ...more] = await pending()
  expect([row?.Status, more]).toEqual(['Pending', []])
  expect(row).not.toHaveProperty('StrategyId')
})

test('an account waits for each strategy that its holder is asked about', async () => {
  await start('WL')
  await start('WL', town.lonelyStrategyId)
  expect((await pending()).map(({ StrategyId }) => StrategyId)).toEqual([strategyId, town.lonelyStrategyId])
})
