/** The end of a person: not before everything in its name has ended, and then for good. */
import { beforeAll, describe, expect, test } from 'vitest'
import type { HostName, OperationName } from '../../src/contract/index.ts'
import { isRefused } from '../../src/operations/context.ts'
import { issueKey } from '../../src/operations/keys.ts'
import { issueUserToken } from '../../src/operations/user-tokens.ts'
import { changeRole } from '../../src/storage/operating/administration.ts'
import { removePerson } from '../../src/storage/people/person-removal.ts'
import { insertVariant } from '../../src/storage/strategies/variants.ts'
import { faultsOf, resultsOf } from '../support/http.ts'
import { holdLocks, untilWaiting } from '../support/locks.ts'
import { keyEnvironment, secrets } from '../support/platform.ts'
import { buildTown, type CitizenName, holderAccount } from './support/town.ts'

const { platform, people, strategyId, lonelyStrategyId, userToken, door, ask } = await buildTown()
const { db } = platform
const now = Date.parse('2024-03-12T15:00:00Z')
const remove = (personId: number) => db.transaction((tx) => removePerson(tx, personId, now))
const mine = (key: string) => ({ key, host: 'WL' }) as const

const wishOf = (personId: number, Account: string) => ({
  Account,
  PersonId: personId,
  StrategyId: strategyId,
  StocksEnabled: true,
})

describe('what runs is named and goes on', () => {
  const asking = people.neighbour
  beforeAll(async () => {
    await door('/accounts', [{ account: 'N1', personId: asking.personId, cash: 10_000 }])
    await door('/subscriptions', [
      { personId: asking.personId, strategyId: lonelyStrategyId, kind: 'simulated' },
    ])
    const asked = await ask('StartAutotrade', wishOf(asking.personId, 'N1'), mine(asking.key))
    expect(asked.status).toBe(200)
  })

  test.each([
    ['strategies', people.owner, [`strategy ${strategyId} is alive`]],
    ['what it follows', people.holder, [`account ${holderAccount} follows strategy ${strategyId}`]],
    [
      'what it asked for and simulates',
      asking,
      [`account N1 asks to follow strategy ${strategyId}`, `strategy ${lonelyStrategyId} is simulated`],
    ],
  ])('%s', async (_, { personId, key }, says) => {
    expect(await remove(personId)).toEqual(expect.arrayContaining(says))
    expect((await ask('GetAccessKey', {}, { key })).status).toBe(200)
  })
})

describe('who is being removed begins nothing', () => {
  const { personId, key } = people.eastAdmin

  test('neither a strategy of his own nor a variant in his name', async () => {
    const letGo = await holdLocks(db, (tx) => removePerson(tx, personId, now))
    const adding = ask('AddStrategy', { StrategyName: 'Late', StartingCapital: 1_000 }, { key })
    const wanted = { ownerPersonId: personId, name: 'Late', scalingPercentage: 50, createdAt: now } as const
    const varying = db.transaction((tx) =>
      insertVariant(tx, { parentId: strategyId, securityTypes: ['CS'], startingCash: undefined, ...wanted }),
    )
    await untilWaiting(db.read, 2)
    await letGo()
    const answer = await adding
    expect([answer.status, ...faultsOf(answer)]).toEqual([409, '3016 PersonId'])
    expect(await varying).toBe('owner')
    expect(await db.read.rows`select from strategy where owner_person_id = ${personId}`).toEqual([])
  })
})

describe('somebody of whom nothing runs any more', () => {
  const { personId, key } = people.holder

  beforeAll(async () => {
    const info = {
      UserToken: userToken,
      FirstName: 'H',
      LastName: 'H',
      Email: 'h@x.org',
      Phone: '+12125550100',
    }
    const where = { Street: 'S', City: 'C', Province: 'P', PostCode: '1', Country: 'US' }
    const entrusted = await ask(
      'AddKYCInfo',
      { ...info, ...where, IsPhoneVerified: true },
      mine(people.westAdmin.key),
    )
    expect(entrusted.status).toBe(200)
    const stop = {
      Account: holderAccount,
      PersonId: personId,
      StrategyId: strategyId,
      LeavePositionsOpen: true,
    }
    expect((await ask('StopAutotrade', stop, { key })).status).toBe(200)
    expect(await remove(personId)).toEqual([])
  })

  test('comes in no more', async () => {
    // Processes that know the key are told of its end.
    const knock = async () => (await ask('GetAccessKey', {}, { key })).status
    await expect.poll(knock, { timeout: 5_000 }).toBe(401)
    const order = { personId, keyEnvironment, now, expiresAt: now + 1000 }
    expect(isRefused(await db.transaction((tx) => issueKey(tx, secrets, order)))).toBe(true)
    expect(isRefused(await issueUserToken(db.write, secrets, personId, now))).toBe(true)
    expect(await changeRole(db.write, { personId, role: 'platform_admin', permissions: null })).toBe(false)
  })

  test('is found as not alive', async () => {
    for (const [IsAlive, found] of [
      [false, [personId]],
      [true, []],
    ] as const) {
      const rows = resultsOf<{ Id: number; IsAlive: boolean }>(
        await ask('SearchProfiles', { PersonId: personId, IsAlive }, mine(people.westAdmin.key)),
      )
      expect(rows.map(({ Id }) => Id)).toEqual(found)
    }
  })

  test('leaves nothing that was entrusted, and no term that begins anew', async () => {
    expect(
      await db.read.one`
        select (select count(*)::int from kyc_info where person_id = ${personId}::bigint) as sealed,
          (select count(*)::int from kyc where person_id = ${personId}::bigint and token_hash is not null) as tokens,
          (select count(*)::int from subscription where person_id = ${personId}::bigint and ended_at is null
            and not is_cancel_pending) as recurring`,
    ).toEqual({ sealed: 0, tokens: 0, recurring: 0 })
  })

  test.each<[string, OperationName, CitizenName, HostName, object]>([
    ['no simulation', 'StartSim', 'westAdmin', 'WL', { PersonId: personId, StrategyIds: [lonelyStrategyId] }],
    ['no Autotrade', 'StartAutotrade', 'operator', 'Gen', wishOf(personId, holderAccount)],
    ['no wish for it', 'StartAutotrade', 'operator', 'WL', wishOf(personId, holderAccount)],
  ])('begins %s', async (_, operation, citizen, host, params) => {
    const answer = await ask(operation, params, { key: people[citizen].key, host })
    expect([answer.status, ...faultsOf(answer)]).toEqual([409, '3016 PersonId'])
  })

  test('leaves its address and number to who comes back', async () => {
    await db.write.run`update person set phone = '+12125550188' where id = ${personId}`
    const isKnown = async () =>
      resultsOf(await ask('GetPhoneAlreadyExists', { Phone: '+12125550188' }, mine(people.westAdmin.key)))
    expect(await isKnown()).toEqual([false])
    const { email } = await db.read.one<{ email: string }>`select email from person where id = ${personId}`
    const profile = {
      FirstName: 'H',
      LastName: 'H',
      ScreenName: 'again',
      Email: email.toUpperCase(),
      Language: 'eng',
      Password: 'a long sentence of hers',
      CountryCode: 'US',
      DivisionCode: 'US-NY',
    }
    const add = async () => (await ask('AddProfile', profile, mine(people.westAdmin.key))).status
    expect(await add()).toBe(200)
    expect(await add()).toBe(409)
  })

  test('hears no more of its accounts: who has the address now is somebody else', async () => {
    const mails = [...platform.mails]
    await db.write.run`update account set is_sync_enabled = true where account = ${holderAccount}`
    const execution = {
      account: holderAccount,
      symbol: 'AAPL',
      side: '1',
      qty: 1,
      px: 10,
      clientOrderId: null,
    }
    await door('/broker', { execution })
    expect(
      await db.read.one`select sync_disabled_reason as reason from account where account = ${holderAccount}`,
    ).toEqual({ reason: 'ExternalExecution' })
    expect(platform.mails).toEqual(mails)
  })

  test('is not there to be removed again', async () => {
    expect(await remove(personId)).toBeUndefined()
    expect(await remove(999_999)).toBeUndefined()
  })
})
