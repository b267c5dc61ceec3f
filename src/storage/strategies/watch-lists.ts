/** Watch lists: named sets of strategies that belong to a person. */
import { keyedById, type PageRequest, page } from '../database/page.ts'
import { type Fragment, fragment, type Sql } from '../database/sql.ts'
import { instant } from '../database/wire.ts'

export interface WatchListRow {
  id: number
  personId: number
  name: string
  createdAt: number
}

/** The lists of a person, by id. */
export const pageWatchLists = (sql: Sql, personId: number | bigint, request: PageRequest) =>
  page<WatchListRow>(sql, request, {
    select: fragment`id, person_id as "personId", name, created_at as "createdAt"`,
    from: fragment`watch_list`,
    where: fragment`person_id = ${personId}::bigint`,
    ...keyedById(fragment`watch_list`),
  })

export interface WatchListMemberRow {
  id: number
  strategyId: number
  personId: number
  addedAt: number
}

/** The strategies on a list, in the order in which they were added. */
export const pageWatchListMembers = (sql: Sql, watchListId: number | bigint, request: PageRequest) =>
  page<WatchListMemberRow>(sql, request, {
    select: fragment`
      m.id, m.strategy_id as "strategyId", l.person_id as "personId", m.added_at as "addedAt"`,
    from: fragment`watch_list_member m join watch_list l on l.id = m.watch_list_id`,
    where: fragment`m.watch_list_id = ${watchListId}::bigint`,
    ...keyedById(fragment`watch_list_member`, fragment`m`),
  })

type Id = number | bigint

const listOf = (personId: Id, watchListId: Id): Fragment =>
  fragment`select from watch_list where id = ${watchListId}::bigint and person_id = ${personId}::bigint`

/** Whether the person has a list of this id. */
export const hasWatchList = async (sql: Sql, personId: Id, watchListId: Id): Promise<boolean> =>
  (await sql.maybe`${listOf(personId, watchListId)}`) !== undefined

/** As `hasWatchList`; until the transaction ends nobody else changes the list. */
export const lockWatchList = async (sql: Sql, personId: Id, watchListId: Id): Promise<boolean> =>
  (await sql.maybe`${listOf(personId, watchListId)} for update`) !== undefined

/** A new list; false when the person has one of this name. */
export const insertWatchList = async (
  sql: Sql,
  list: Omit<WatchListRow, 'id' | 'personId'> & { personId: number | bigint },
): Promise<boolean> =>
  (await sql.run`
    insert into watch_list (person_id, name, created_at)
    values (${list.personId}::bigint, ${list.name}, ${instant(list.createdAt)}::timestamptz)
    on conflict (person_id, name) do nothing`) > 0

/** Deletes a list with its members. */
export const deleteWatchList = (sql: Sql, watchListId: number | bigint): Promise<number> =>
  sql.run`delete from watch_list where id = ${watchListId}::bigint`

/** Puts a strategy on a list; one that is there keeps its place. */
export const insertWatchListMember = (
  sql: Sql,
  member: { watchListId: number | bigint; strategyId: number | bigint; addedAt: number },
): Promise<number> =>
  sql.run`
    insert into watch_list_member (watch_list_id, strategy_id, added_at)
    values (${member.watchListId}::bigint, ${member.strategyId}::bigint, ${instant(member.addedAt)}::timestamptz)
    on conflict (watch_list_id, strategy_id) do nothing`

/** Takes a strategy off a list; false when it was not there. */
export const deleteWatchListMember = async (
  sql: Sql,
  watchListId: number | bigint,
  strategyId: number | bigint,
): Promise<boolean> =>
  (await sql.run`
    delete from watch_list_member
    where watch_list_id = ${watchListId}::bigint and strategy_id = ${strategyId}::bigint`) > 0
