/** Orders of strategies as they are given, changed and listed. */

import { isLive } from '../../domain/codes.ts'
import { oneOfEach } from '../../domain/group.ts'
import type { Sql } from '../../storage/database/sql.ts'
import {
  listActiveSignals,
  listSignals,
  pageSignals,
  type SignalVersion,
} from '../../storage/mirror/signal-listings.ts'
import { type Context, isRefused, type Outcome } from '../context.ts'
import type { BatchHandler, Handler, OperationCall } from '../handler.ts'
import { keptRows } from '../kept-rows.ts'
import { shownOrder } from '../orders.ts'
import { pagedTogether } from '../paging.ts'
import { cancelOrder, replaceOrder } from './changes.ts'
import type { OrderCall, OrderInput } from './order-draft.ts'
import type { SignalIds } from './order-placement.ts'
import { loadPlacingFacts, type PlacingFacts, placeOrders } from './placing.ts'

const replaced = async (ctx: Context, order: OrderInput): Promise<Outcome<SignalIds>> => {
  const outcome = await replaceOrder(ctx.sql, { ctx, order })
  return isRefused(outcome) ? outcome : { results: [outcome] }
}

const sentAtOnce = (sql: Sql): Sql => ({
  ...sql,
  withCommit: async (send) => {
    await send()
  },
})

type OrderedCall = OperationCall<'NewStrategyOrder'>
const isNew = ({ params }: OrderedCall): boolean => params.Order.CancelReplaceSignalId === undefined
const orderCall = ({ ctx, params }: OrderedCall): OrderCall => ({ ctx, order: params.Order })

/** New orders of one tick share their statements; those that replace a signal run by themselves, in order. */
export const newStrategyOrder: BatchHandler<'NewStrategyOrder', PlacingFacts> = {
  ahead: (sql, calls) => (calls.every(isNew) ? loadPlacingFacts(sql, calls.map(orderCall)) : undefined),
  many: async (sql, calls, facts) => {
    const fresh = calls.filter(isNew)
    // What is to be replaced is looked for among the orders that were written.
    const placing = fresh.length === calls.length ? sql : sentAtOnce(sql)
    const orders = fresh.map(orderCall)
    const placed = await placeOrders(placing, orders, facts ?? (await loadPlacingFacts(sql, orders)))
    const outcomes = new Map(fresh.map((call, index) => [call, placed[index]]))
    const answers: Outcome<SignalIds>[] = []
    for (const call of calls) {
      const outcome = outcomes.get(call)
      if (!outcome) answers.push(await replaced({ ...call.ctx, sql }, call.params.Order))
      else answers.push(isRefused(outcome) ? outcome : { results: [outcome] })
    }
    return answers
  },
}

/** Replaces a live signal by another, which has a number of its own. */
export const replaceStrategyOrder: Handler<'ReplaceStrategyOrder'> = (ctx, { Order }) => replaced(ctx, Order)

/** Cancels a signal; answers with the number of the order that ends. */
export const cancelStrategyOrder: Handler<'CancelStrategyOrder'> = async (ctx, { StrategyId, SignalId }) => {
  const outcome = await cancelOrder(ctx, StrategyId, SignalId)
  return isRefused(outcome) ? outcome : { results: [{ SignalId: outcome }] }
}

/** A signal's row names no account, so it has no part of this platform's own order ids. */
const knownSignals = keptRows(listSignals, (row) => shownOrder(row, ''))

/** Polled by every client: the questions of one moment are one statement. */
export const getStrategyActiveOrders: BatchHandler<'GetStrategyActiveOrders'> = {
  many: async (sql, calls) => {
    const filters = calls.map(({ params }) => ({
      strategyIds: params.StrategyIds,
      securityType: params.SecurityType,
      ordType: params.OrderType,
    }))
    const lists = await listActiveSignals(sql, filters)
    const listed = oneOfEach(lists.flat(), ({ id }) => id)
    // One that has ended since it was listed is not live any more.
    const shown = (await knownSignals(sql, listed)).filter(({ OrderStatus }) => isLive(OrderStatus))
    const byId = new Map(shown.map((row) => [row.Id, row]))
    return lists.map((rows) => ({ results: rows.flatMap(({ id }) => byId.get(id) ?? []) }))
  },
}

/** Signals that are over: those of a strategy, or one by its number. */
export const getStrategyHistoricalOrders: Handler<'GetStrategyHistoricalOrders'> = (ctx, params) => {
  const filter = {
    strategyId: params.StrategyId,
    signalId: params.SignalId,
    status: params.OrderStatus,
    from: params.StartDate,
    until: params.EndDate,
  }
  const show = (rows: readonly SignalVersion[]) => knownSignals(ctx.sql, rows)
  return pagedTogether(ctx, 'GetStrategyHistoricalOrders', params, show, (request) =>
    pageSignals(ctx.sql, filter, request),
  )
}
