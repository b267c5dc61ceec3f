/**
 * Watch lists: read by the person and the person's admins, changed by the person alone. A list that is not the
 * person's is refused like one that does not exist; adding what is there changes nothing.
 */
import type { ParamsOf, ResultOf } from '../../contract/index.ts'
import { seesStrategy } from '../../domain/people/access.ts'
import { loadStrategyFacts } from '../../storage/people/access.ts'
import {
  deleteWatchList,
  deleteWatchListMember,
  hasWatchList,
  insertWatchList,
  insertWatchListMember,
  lockWatchList,
  pageWatchListMembers,
  pageWatchLists,
  type WatchListMemberRow,
  type WatchListRow,
} from '../../storage/strategies/watch-lists.ts'
import { refuseAbsent } from '../access.ts'
import { type Context, isRefused, type Outcome, refuse } from '../context.ts'
import type { Handler } from '../handler.ts'
import { paged } from '../paging.ts'

type Id = number | bigint
type Change = ParamsOf<'ManageWatchList'>
type Answer = Outcome<ResultOf<'ManageWatchList'>>

const done: Answer = { results: [true] }

const shownList = ({ id, personId, name, createdAt }: WatchListRow) => ({
  Id: id,
  PersonId: personId,
  CreatedDate: createdAt,
  ListName: name,
})

const shownMember = ({ id, strategyId, personId, addedAt }: WatchListMemberRow) => ({
  Id: id,
  AddedDate: addedAt,
  StrategyId: strategyId,
  PersonId: personId,
})

/** A person's watch lists. */
export const getWatchLists: Handler<'GetWatchLists'> = (ctx, params) =>
  paged(ctx, 'GetWatchLists', params, shownList, (request) =>
    pageWatchLists(ctx.sql, params.PersonId, request),
  )

/** The strategies on one watch list. */
export const getWatchListMembers: Handler<'GetWatchListMembers'> = async (ctx, params) => {
  const [isThere, members] = await Promise.all([
    hasWatchList(ctx.sql, params.PersonId, params.WatchListId),
    paged(ctx, 'GetWatchListMembers', params, shownMember, (request) =>
      pageWatchListMembers(ctx.sql, params.WatchListId, request),
    ),
  ])
  // A wrong cursor is told before rights are looked at: told of lists that are there alone, it would tell which are.
  return isThere || isRefused(members) ? members : refuseAbsent(ctx.caller, 'WatchListId')
}

/** Makes or deletes a watch list, or adds a strategy to one or takes it off. */
export const manageWatchList: Handler<'ManageWatchList'> = async (ctx, params) => {
  const personId = params.PersonId ?? ctx.caller.personId
  const isAdded = params.ModificationAction === 'ADD'
  if (params.ModificationSource === 'LIST' && isAdded)
    return addList(ctx, personId, params.WatchListName ?? '')
  const watchListId = params.WatchListId ?? 0
  if (!(await lockWatchList(ctx.sql, personId, watchListId))) return refuseAbsent(ctx.caller, 'WatchListId')
  if (params.ModificationSource === 'MEMBER') return changeMember(ctx, watchListId, params, isAdded)
  await deleteWatchList(ctx.sql, watchListId)
  return done
}

async function addList(ctx: Context, personId: Id, name: string): Promise<Answer> {
  const isNew = await insertWatchList(ctx.sql, { personId, name, createdAt: ctx.now })
  return isNew ? done : refuse('StateConflict', 'WatchListName', 'There is a watch list of this name')
}

async function changeMember(
  ctx: Context,
  watchListId: Id,
  { StrategyId: strategyId = 0 }: Change,
  isAdded: boolean,
): Promise<Answer> {
  if (!isAdded) {
    const isTaken = await deleteWatchListMember(ctx.sql, watchListId, strategyId)
    return isTaken ? done : refuse('NotFound', 'StrategyId', 'The strategy is not on the list')
  }
  const [strategy] = await loadStrategyFacts(ctx.sql, [strategyId], [ctx.caller.personId])
  if (!strategy || !seesStrategy(ctx.caller, strategy)) return refuse('NotFound', 'StrategyId')
  await insertWatchListMember(ctx.sql, { watchListId, strategyId, addedAt: ctx.now })
  return done
}
