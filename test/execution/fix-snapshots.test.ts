/** What a FIX broker is asked of its accounts, at a counterparty that says of each what the test wants. */
import { expect, test } from 'vitest'
import { BrokerUnreachable } from '../../src/execution/brokers/broker.ts'
import { Desk } from '../../src/execution/brokers/fix/desk.ts'
import { readFixSettings } from '../../src/execution/brokers/fix/settings.ts'
import { snapshotsOf } from '../../src/execution/brokers/fix/snapshots.ts'
import { UntoldAccounts } from '../../src/execution/brokers/fix/untold.ts'
import { testDatabase } from '../support/database.ts'
import { fixMessage } from '../support/fix-message.ts'
import { addBroker, addFollowers } from '../support/followers.ts'
import { addStrategy, makeWorld } from './world.ts'

const { db } = await testDatabase()
const { ctx, clock } = makeWorld(db)

type Manner = 'tells' | 'refuses' | 'is silent'

/** Accounts by age at a broker that tells everything of all, until the test says otherwise. */
async function manyAccounts(count: number) {
  const [brokerId, strategyId] = [await addBroker(db), await addStrategy(db)]
  const setupIds = await addFollowers(db, { strategyId, brokerId, count })
  const accounts = await db.read.rows<{ id: number; account: string }>`
    select a.id, a.account from account a join setup on setup.account_id = a.id
    where setup.id = any(${setupIds}::bigint[]) order by a.id`
  const ids = accounts.map(({ id }) => id)
  const manners = new Map<string, Manner>()
  const set = (manner: Manner, some: readonly number[]): void => {
    for (const { id, account } of accounts) if (some.includes(id)) manners.set(account, manner)
  }
  let asked: string[] = []
  const settings = readFixSettings({
    host: 'exchange',
    port: 1,
    senderCompId: 'LOCKSTEP',
    targetCompId: 'EXCHANGE',
    tellsPositions: true,
  })
  const desk: Desk = new Desk(({ fields }, sent) => {
    const { PosReqID: id, Account: account } = fields as Record<string, string>
    sent(1)
    asked.push(account!)
    const manner = manners.get(account!) ?? 'tells'
    if (manner === 'refuses') desk.tell(id!, { message: fixMessage('35=AO|728=99|58=not yours') })
    if (manner === 'tells') desk.tell(id!, { message: fixMessage('35=AO|728=2') })
  }, 20)
  const untold = new UntoldAccounts()
  /** Asks for all of them; who was asked and who was told. */
  const ask = async () => {
    asked = []
    const told = await snapshotsOf(ctx, desk, settings, untold, ids).catch((error: unknown) => {
      if (error instanceof BrokerUnreachable) return undefined
      throw error
    })
    const askedIds = accounts.filter(({ account }) => asked.includes(account)).map(({ id }) => id)
    return { asked: askedIds, told: told?.map(({ accountId }) => accountId).sort((a, b) => a - b) }
  }
  /** Who was named to the operator, and why. */
  const named = () =>
    db.read.rows<{ id: number; why: string }>`
      select (detail->>'accountId')::bigint as id, detail->>'why' as why from incident
      where kind = 'AccountNotTold' and (detail->>'brokerId')::int = ${brokerId} order by id`
  return { ids, set, ask, named }
}

test('accounts that the broker refuses, however many, keep none of the others from being told', async () => {
  const { ids, set, ask, named } = await manyAccounts(200)
  const [refused, others] = [ids.slice(0, 45), ids.slice(45)]
  set('refuses', refused)
  expect((await ask()).told).toEqual(others)
  expect(await named()).toEqual([])
  for (let times = 0; times < 3; times += 1) expect((await ask()).told).toEqual(others)
  const why = 'it refuses to say: not yours'
  expect(await named()).toEqual(refused.map((id) => ({ id, why })))
  // Each has been asked twice in vain and rests.
  expect((await ask()).asked).toEqual(others)
})

test('nor do those of whom it says nothing at all, which are asked a few at once and last', async () => {
  const { ids, set, ask, named } = await manyAccounts(70)
  const [silent, others] = [ids.slice(0, 25), ids.slice(25)]
  set('is silent', silent)
  // With nothing heard at all the broker is left alone; whoever was asked in vain is not the first to be asked again.
  expect(await ask()).toEqual({ asked: ids.slice(0, 20), told: undefined })
  expect((await ask()).told).toEqual(others)
  for (let times = 0; times < 3; times += 1) {
    const { asked, told } = await ask()
    expect(told).toEqual(others)
    expect(asked.length).toBeLessThanOrEqual(others.length + 20)
  }
  expect(await named()).toEqual(silent.map((id) => ({ id, why: 'it does not answer' })))
  expect((await ask()).asked).toEqual(others)
})

test('a broker that is silent is silent, whoever it says nothing of', async () => {
  const { ids, set, ask, named } = await manyAccounts(30)
  set('is silent', ids)
  for (let times = 0; times < 5; times += 1) expect((await ask()).told).toBeUndefined()
  expect(await named()).toEqual([])
  set('tells', ids)
  expect((await ask()).told).toEqual(ids)
})

test('an account whose number cannot be said is named at once and never asked for, each day anew', async () => {
  const { ids, ask, named } = await manyAccounts(21)
  await db.write
    .run`update account set account = account || 'é' where id = any(${ids.slice(0, 20)}::bigint[])`
  expect((await ask()).told).toEqual(ids.slice(20))
  expect(await named()).toHaveLength(20)
  await ask()
  expect(await named()).toHaveLength(20)
  clock.time += 86_400_000
  await ask()
  expect(await named()).toHaveLength(40)
})

test('one that is told again is like any other', async () => {
  const { ids, set, ask } = await manyAccounts(2)
  set('refuses', ids.slice(0, 1))
  await ask()
  set('tells', ids)
  expect((await ask()).told).toEqual(ids)
  set('refuses', ids.slice(0, 1))
  await ask()
  expect((await ask()).asked).toEqual(ids)
})
