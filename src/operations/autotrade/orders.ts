/** Orders and positions of brokerage accounts, as their holder and the site's admin read them. */
import { readsPerson } from '../../domain/people/access.ts'
import { listAccounts } from '../../storage/accounts/accounts.ts'
import {
  listActiveAccountOrders,
  type OrderRow,
  pageAccountOrders,
} from '../../storage/mirror/signal-listings.ts'
import { listAccountHolders } from '../../storage/people/access.ts'
import { listAccountPositions } from '../../storage/strategies/strategies.ts'
import { type Context, refuse } from '../context.ts'
import type { Handler } from '../handler.ts'
import { shownOrder } from '../orders.ts'
import { paged } from '../paging.ts'
import { shownPosition } from '../positions.ts'

/** Ids of the accounts that a call names by number and holder. */
async function accountIds(
  ctx: Context,
  wanted: { Account: string; PersonId: number | bigint; BrokerId?: number | undefined },
): Promise<number[]> {
  const { Account: account, PersonId: personId, BrokerId: brokerId } = wanted
  return (await listAccounts(ctx.sql, { account, personId, brokerId })).map(({ id }) => id)
}

/** Live orders of an account, for all strategies or one. */
export const getAutotradeActiveOrders: Handler<'GetAutotradeActiveOrders'> = async (ctx, params) => {
  const rows = await listActiveAccountOrders(ctx.sql, await accountIds(ctx, params), params.StrategyId)
  return { results: rows.map((row) => shownOrder(row, ctx.environment)) }
}

/** All orders of an account, live and over, by number. */
export const getAutotradeHistoricalOrders: Handler<'GetAutotradeHistoricalOrders'> = async (ctx, params) => {
  const ids = await accountIds(ctx, params)
  const filter = {
    accountIds: ids,
    strategyId: params.StrategyId,
    status: params.OrderStatus,
    from: params.StartDate,
    until: params.EndDate,
  }
  const show = (row: OrderRow) => shownOrder(row, ctx.environment)
  return paged(ctx, 'GetAutotradeHistoricalOrders', params, show, (request) =>
    pageAccountOrders(ctx.sql, filter, request),
  )
}

/** The call names no person, so the number must stand for exactly one account that the caller may read. */
export const getAutoTradeOpenPositions: Handler<'GetAutoTradeOpenPositions'> = async (ctx, params) => {
  const { caller } = ctx
  const holders = await listAccountHolders(ctx.sql, [params.Account])
  const own = holders.filter(({ personId }) => personId === caller.personId)
  const readable = own.length > 0 ? own : holders.filter((holder) => readsPerson(caller, holder))
  if (new Set(readable.map(({ personId }) => personId)).size > 1) {
    return refuse('BadCombination', 'Account', 'Accounts of several people have this number')
  }
  const ids = readable.map(({ accountId }) => accountId)
  const rows = await listAccountPositions(ctx.sql, ids, params.StrategyId)
  return { results: rows.map(shownPosition) }
}
