/** Watch lists over HTTP: every combination, who may, and what is not there. */
import { describe, expect, test } from 'vitest'
import { deleteWatchList } from '../../src/storage/strategies/watch-lists.ts'
import { faultsOf, resultsOf } from '../support/http.ts'
import { holdLocks, untilWaiting } from '../support/locks.ts'
import { type AskOptions, buildTown, type CitizenName } from './support/town.ts'

const town = await buildTown()
const { people, strategyId, lonelyStrategyId } = town
const { personId } = people.holder

const as = (citizen: CitizenName, host: AskOptions['host'] = 'WL') => ({ key: people[citizen].key, host })
const told = async (answer: Promise<Awaited<ReturnType<typeof town.ask>>>) => {
  const { status, json, ...rest } = await answer
  return status === 200
    ? (json as { Results: unknown }).Results
    : [status, ...faultsOf({ status, json, ...rest })]
}
const manage = (change: object, citizen: CitizenName = 'holder') =>
  told(town.ask('ManageWatchList', { PersonId: personId, ...change }, as(citizen)))
const manageByQuery = (change: object) =>
  told(town.ask('ManageWatchListByQuery', { PersonId: personId, ...change }, as('holder')))
const lists = async () =>
  resultsOf<{ Id: number; ListName: string }>(
    await town.ask('GetWatchLists', { PersonId: personId }, as('holder')),
  )
const members = async (WatchListId: number) =>
  resultsOf<{ StrategyId: number }>(
    await town.ask('GetWatchListMembers', { PersonId: personId, WatchListId }, as('holder')),
  ).map(({ StrategyId }) => StrategyId)

const list = { ModificationSource: 'LIST' }
const member = { ModificationSource: 'MEMBER' }
const add = { ModificationAction: 'ADD' }
const remove = { ModificationAction: 'DELETE' }

async function newList(WatchListName: string): Promise<number> {
  expect(await manage({ ...list, ...add, WatchListName })).toEqual([true])
  return (await lists()).find(({ ListName }) => ListName === WatchListName)?.Id ?? 0
}

test('a list is added, shown, filled, emptied and deleted, by body and by query', async () => {
  const WatchListId = await newList('Futures')
  const answer = await town.ask('GetWatchLists', { PersonId: personId }, as('holder', 'Geo'))
  expect(resultsOf(answer).slice(1)).toEqual([
    { Id: WatchListId, PersonId: personId, CreatedDate: '2024-03-12T14:00:00Z', ListName: 'Futures' },
  ])
  expect(await manage({ ...member, ...add, WatchListId, StrategyId: strategyId })).toEqual([true])
  expect(await manageByQuery({ ...member, ...add, WatchListId, StrategyId: lonelyStrategyId })).toEqual([
    true,
  ])
  expect(await members(WatchListId)).toEqual([strategyId, lonelyStrategyId])
  // What is there stays where it is.
  expect(await manage({ ...member, ...add, WatchListId, StrategyId: strategyId })).toEqual([true])
  expect(await members(WatchListId)).toEqual([strategyId, lonelyStrategyId])
  expect(await manageByQuery({ ...member, ...remove, WatchListId, StrategyId: strategyId })).toEqual([true])
  expect(await members(WatchListId)).toEqual([lonelyStrategyId])
  expect(await manageByQuery({ ...list, ...remove, WatchListId })).toEqual([true])
  expect((await lists()).map(({ ListName }) => ListName)).toEqual(['Watched'])
})

test('the newest come first when asked for, in pages', async () => {
  const names = ['a', 'b', 'c']
  for (const name of names) await newList(name)
  const asked = { PersonId: personId, AscendingOrder: false, Limit: 2 }
  const first = await town.ask('GetWatchLists', asked, as('holder'))
  const { Pagination } = first.json as { Pagination: { next_cursor: string } }
  const second = await town.ask(
    'GetWatchLists',
    { ...asked, Cursor: decodeURIComponent(Pagination.next_cursor) },
    as('holder'),
  )
  const shown = [first, second].flatMap((answer) => resultsOf<{ ListName: string }>(answer))
  expect(shown.map(({ ListName }) => ListName)).toEqual(['c', 'b', 'a', 'Watched'])
})

describe('what is refused', () => {
  test.each<[string, object, unknown[]]>([
    ['a list without a name', { ...list, ...add }, [400, '1102 WatchListName']],
    ['a list with a blank name', { ...list, ...add, WatchListName: ' ' }, [400, '1130 WatchListName']],
    ['no list to delete', { ...list, ...remove }, [400, '1102 WatchListId']],
    ['a member of no list', { ...member, ...add, StrategyId: 1 }, [400, '1102 WatchListId']],
    ['no member', { ...member, ...add, WatchListId: 1 }, [400, '1102 StrategyId']],
    ['another source', { ...add, ModificationSource: 'list' }, [400, '1130 ModificationSource']],
    ['a list that is not there', { ...list, ...remove, WatchListId: 999_999 }, [403, '1002 WatchListId']],
  ])('%s', async (_, change, refusal) => {
    expect(await manage(change)).toEqual(refusal)
  })

  test('a second list of the same name, strategies that are not there or not on it', async () => {
    const WatchListId = await newList('Options')
    expect(await manage({ ...list, ...add, WatchListName: 'Options' })).toEqual([409, '3016 WatchListName'])
    const nothing = { WatchListId, StrategyId: 999_999 }
    expect(await manage({ ...member, ...add, ...nothing })).toEqual([404, '2013 StrategyId'])
    expect(await manage({ ...member, ...remove, ...nothing })).toEqual([404, '2013 StrategyId'])
  })

  test('a private strategy, like one that is not there', async () => {
    const WatchListId = await newList('Secrets')
    await town.door('/strategies', [{ strategyId: lonelyStrategyId, private: true }])
    const change = { ...member, ...add, WatchListId, StrategyId: lonelyStrategyId }
    expect(await manage(change)).toEqual([404, '2013 StrategyId'])
    await town.door('/strategies', [{ strategyId: lonelyStrategyId, private: false }])
    expect(await manage(change)).toEqual([true])
  })

  test("somebody else's list, under either name; the operator hears that the person has none", async () => {
    const WatchListId = await newList('Mine')
    const theirs = { ...list, ...remove, WatchListId }
    expect(await manage(theirs, 'neighbour')).toEqual([403, '1002 PersonId'])
    const own = { ...theirs, PersonId: people.neighbour.personId }
    expect(await manage(own, 'neighbour')).toEqual([403, '1002 WatchListId'])
    expect(await manage({ ...own, PersonId: people.neighbour.personId }, 'operator')).toEqual([
      404,
      '2013 WatchListId',
    ])
    const seen = { PersonId: people.neighbour.personId, WatchListId }
    expect(await told(town.ask('GetWatchListMembers', seen, as('neighbour')))).toEqual([
      403,
      '1002 WatchListId',
    ])
    expect(await manage(theirs, 'operator')).toEqual([true])
  })

  test("the cursor of another listing, which does not tell which of somebody else's lists there are", async () => {
    for (const name of ['First', 'Second']) await newList(name)
    const page = await town.ask('GetWatchLists', { PersonId: personId, Limit: 1 }, as('holder'))
    const { Pagination } = page.json as { Pagination: { next_cursor: string } }
    const Cursor = decodeURIComponent(Pagination.next_cursor)
    const [{ Id: present } = { Id: 0 }] = await lists()
    for (const citizen of ['neighbour', 'holder'] as const)
      for (const WatchListId of [present, 999_999]) {
        const asked = { PersonId: personId, WatchListId, Cursor }
        expect(await told(town.ask('GetWatchListMembers', asked, as(citizen)))).toEqual([400, '3003 Cursor'])
      }
  })
})

test('a scan goes on, however often rows with lower numbers came between its pages', async () => {
  const { db } = town.platform
  const owner = people.neighbour.personId
  const late = (id: number) => db.write.run`
    insert into watch_list (id, person_id, name, created_at) overriding system value
    values (${id}::bigint, ${owner}::bigint, ${id}::text, now())`
  await late(900_000)
  await late(800_000)
  let Cursor = ''
  for (let id = 799_999; id > 799_900; id--) {
    const page = await town.ask('GetWatchLists', { PersonId: owner, Limit: 1, Cursor }, as('neighbour'))
    expect([page.status, resultsOf<{ Id: number }>(page)[0]?.Id]).toEqual([200, id + 1])
    Cursor = (page.json as { Pagination: { next_cursor: string } }).Pagination.next_cursor
    await late(id)
  }
})

test('a list that is deleted while a strategy is put on it is gone for both', async () => {
  const WatchListId = await newList('Short-lived')
  const { db, errors } = town.platform
  const letGo = await holdLocks(db, (tx) => deleteWatchList(tx, WatchListId))
  const adding = manage({ ...member, ...add, WatchListId, StrategyId: strategyId })
  await untilWaiting(db.read)
  await letGo()
  expect(await adding).toEqual([403, '1002 WatchListId'])
  expect(errors).toEqual([])
})
