/**
 * Approvals beside what they exclude. Whoever comes second is judged by what the first has done, also when both waited
 * for the same account; and nobody's approval of a number is taken over by somebody else's admin.
 */
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type Answer, faultsOf, resultsOf } from '../support/http.ts'
import { untilWaiting } from '../support/locks.ts'
import { buildTown, type CitizenName } from './support/town.ts'

const town = await buildTown()
const { people, platform, strategyId } = town
const { db } = platform

const told = (answer: Answer) => [answer.status, ...faultsOf(answer)].join(' ')
const params = (Account: string, who: CitizenName) => ({
  Account,
  PersonId: people[who].personId,
  BrokerId: 1,
})
const approve = (Account: string, who: CitizenName, admin: CitizenName) =>
  town.ask('ApprovedBrokerTransmitAccount', params(Account, who), { key: people[admin].key, host: 'Geo' })
const withdraw = (Account: string) =>
  town.ask('DeleteApprovedBrokerTransmitAccount', params(Account, 'neighbour'), {
    key: people.northAdmin.key,
    host: 'Geo',
  })
const start = (Account: string) =>
  town.ask(
    'StartAutotrade',
    { ...params(Account, 'neighbour'), StrategyId: strategyId, ScalingPercentage: 100 },
    { key: people.neighbour.key },
  )
const feed = (Account: string) =>
  town.ask('AddStrategy', { StrategyName: 'Fed', Account }, { key: people.neighbour.key })
const keepInStep = (Account: string) =>
  town.ask(
    'SetAutotradeSettings',
    { ...params(Account, 'neighbour'), IsAutoSyncEnabled: true },
    { key: people.neighbour.key },
  )

/** What both are told that wait for the account's lock, the first of them first in the queue. */
async function sideBySide(account: string, first: () => Promise<Answer>, second: () => Promise<Answer>) {
  const answers = await db.transaction(async (tx) => {
    await tx.run`select from account where account = ${account} for no key update`
    const one = first()
    await untilWaiting(db.read)
    const other = second()
    await untilWaiting(db.read, 2)
    return [one, other]
  })
  return (await Promise.all(answers)).map(told)
}

let count = 0
let account = ''
beforeEach(async () => {
  account = `R${++count}`
  await town.door('/accounts', [{ account, personId: people.neighbour.personId, cash: 20_000 }])
})

describe('an account that feeds a strategy is never mirrored into, whoever is first', () => {
  test('a start, then the approval', async () => {
    expect(
      await sideBySide(
        account,
        () => start(account),
        () => approve(account, 'neighbour', 'northAdmin'),
      ),
    ).toEqual(['200', '409 3016 Account'])
  })

  test('the approval, then a start', async () => {
    expect(
      await sideBySide(
        account,
        () => approve(account, 'neighbour', 'northAdmin'),
        () => start(account),
      ),
    ).toEqual(['200', '409 3016 Account'])
  })

  test('the approval, then AutoSync', async () => {
    expect(
      await sideBySide(
        account,
        () => approve(account, 'neighbour', 'northAdmin'),
        () => keepInStep(account),
      ),
    ).toEqual(['200', '409 3016 IsAutoSyncEnabled'])
  })

  test('two strategies to be fed', async () => {
    expect((await approve(account, 'neighbour', 'northAdmin')).status).toBe(200)
    expect(
      await sideBySide(
        account,
        () => feed(account),
        () => feed(account),
      ),
    ).toEqual(['200', '409 3016 Account'])
  })
})

describe('an account feeds a strategy though', () => {
  test('it was mirrored into before', async () => {
    expect(told(await start(account))).toBe('200')
    expect(told(await approve(account, 'neighbour', 'northAdmin'))).toBe('409 3016 Account')
    const stopping = { ...params(account, 'neighbour'), StrategyId: strategyId }
    expect(told(await town.ask('StopAutotrade', stopping, people.neighbour))).toBe('200')
    expect(told(await approve(account, 'neighbour', 'northAdmin'))).toBe('200')
  })

  test('one of its number at another broker is mirrored into', async () => {
    const { personId } = people.neighbour
    await town.door('/accounts', [{ account, personId, cash: 20_000, kind: 'paper' }])
    const there = { ...params(account, 'neighbour'), BrokerId: 2, StrategyId: strategyId }
    const started = { ...there, ScalingPercentage: 100 }
    expect(told(await town.ask('StartAutotrade', started, people.neighbour))).toBe('200')
    expect(told(await approve(account, 'neighbour', 'northAdmin'))).toBe('200')
  })
})

test('an approval is withdrawn at the broker that is named', async () => {
  const own = { key: people.northAdmin.key, host: 'Geo' } as const
  const at = (BrokerId: number) => ({ ...params(account, 'neighbour'), BrokerId })
  const withdrawAt = (brokerId: number) => town.ask('DeleteApprovedAutotradeAccount', at(brokerId), own)
  expect(told(await town.ask('ApprovedAutotradeAccount', at(1), own))).toBe('200')
  expect(told(await withdrawAt(2))).toBe('404 2013 Account')
  expect(told(await withdrawAt(1))).toBe('200')
})

test('an approval that is given again says anew whether the account trades contracts for difference', async () => {
  const own = { key: people.northAdmin.key, host: 'Geo' } as const
  const given = { ...params(account, 'neighbour'), BrokerId: 1 }
  for (const IsCFD of [true, false])
    expect(resultsOf(await town.ask('ApprovedAutotradeAccount', { ...given, IsCFD }, own))).toMatchObject([
      { IsCFD },
    ])
})

test('an approval is withdrawn once, and is not there for who comes second', async () => {
  expect((await approve(account, 'neighbour', 'northAdmin')).status).toBe(200)
  expect(
    await sideBySide(
      account,
      () => withdraw(account),
      () => withdraw(account),
    ),
  ).toEqual(['200', '404 2013 Account'])
})

test('an approval is not withdrawn from the holder of the number, to whom it was given meanwhile', async () => {
  expect((await approve('MOVED', 'neighbour', 'northAdmin')).status).toBe(200)
  const { personId } = people.holder
  await town.door('/accounts', [{ account: 'MOVED', personId, cash: 20_000 }])
  expect(
    await sideBySide(
      'MOVED',
      () => approve('MOVED', 'holder', 'northAdmin'),
      () => withdraw('MOVED'),
    ),
  ).toEqual(['200', '404 2013 Account'])
  expect(
    await db.read.rows`
      select person_id as "personId" from approved_account where account = 'MOVED' and deleted_at is null`,
  ).toEqual([{ personId }])
})

describe('a number that others have', () => {
  beforeAll(async () => {
    expect((await approve('SOON', 'neighbour', 'northAdmin')).status).toBe(200)
  })

  test('is forbidden to an admin of another site, approved or held', async () => {
    const foreign = '403 1002 Account'
    expect(told(await approve('SOON', 'eastAdmin', 'southAdmin'))).toBe(foreign)
    expect(told(await approve(account, 'eastAdmin', 'southAdmin'))).toBe(foreign)
  })

  test('is a conflict to an admin who knows of them', async () => {
    expect(told(await approve('SOON', 'holder', 'northAdmin'))).toBe('409 3016 PersonId')
    expect(told(await approve(account, 'holder', 'northAdmin'))).toBe('409 3016 PersonId')
    expect(told(await approve('SOON', 'holder', 'operator'))).toBe('409 3016 PersonId')
  })

  test('stays theirs, and may be approved again', async () => {
    const [row] = resultsOf<{ PersonId: number }>(await approve('SOON', 'neighbour', 'northAdmin'))
    expect(row?.PersonId).toBe(people.neighbour.personId)
  })

  test('is nothing to its holder once the account is there', async () => {
    expect((await approve('LATER', 'eastAdmin', 'southAdmin')).status).toBe(200)
    const { personId } = people.neighbour
    await town.door('/accounts', [{ account: 'LATER', personId, cash: 20_000 }])
    expect(told(await start('LATER'))).toBe('200')
    expect(told(await approve('LATER', 'neighbour', 'northAdmin'))).toBe('409 3016 Account')
    await town.door('/accounts', [{ account: 'LATEST', personId, cash: 20_000 }])
    expect((await approve('LATEST', 'neighbour', 'northAdmin')).status).toBe(200)
  })
})
