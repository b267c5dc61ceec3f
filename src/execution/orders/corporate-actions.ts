/**
 * What the calendar does to holders: dividends and splits at the opening of their day, the ends of contracts at
 * theirs. Each is booked once, in the order in which they took effect, in a transaction of its own, however late it is
 * noticed; a market batch waits for what is due, so no fill is booked in units of the day before.
 */

import type { Instant } from '../../domain/time.ts'
import { findNextEnd, isEndDue } from '../../storage/actions/contract-ends.ts'
import {
  claimAction,
  findNextAction,
  isActionDue,
  settleAction,
} from '../../storage/actions/corporate-actions.ts'
import { type Fragment, fragment } from '../../storage/database/sql.ts'
import type { Step, WorkContext } from '../context.ts'
import { despiteSome } from '../isolation.ts'
import { inRounds } from '../rounds.ts'
import { endNext } from './contract-ends.ts'
import { payDividend } from './dividends.ts'
import { expireSignals, releaseSignals } from './expiries.ts'
import { bookSplit } from './splits.ts'

/** A holder of very many books may take its time: the statements are few and long. */
const patience = { statementTimeoutMs: 60_000 }

/** Books every action that has taken effect and every end that has come; answers how many rows moved. */
export const bookActions = (ctx: WorkContext): Promise<number> =>
  inRounds(ctx, async () => {
    const next = await findNext(ctx)
    if (next > ctx.clock.now()) return undefined
    const moved = await actBefore(ctx, next)
    // A round moves only so many orders: more may have ended before.
    return moved > 0 ? moved : bookNext(ctx, next)
  })

/** When the next action or end of a contract is, due or not. */
const findNext = async ({ db: { read } }: WorkContext): Promise<Instant> =>
  Math.min(
    (await findNextAction(read)) ?? Number.POSITIVE_INFINITY,
    (await findNextEnd(read)) ?? Number.POSITIVE_INFINITY,
  )

/**
 * Where it is noticed late: orders that ended, or were released, before it. A split is nothing to an order that had ended,
 * and one that was to work before an expiry met what was held then. All others wait for none that cannot be moved.
 */
async function actBefore(ctx: WorkContext, next: Instant): Promise<number> {
  const then = { ...ctx, clock: { now: () => next - 1 } }
  const ended = await despiteSome(ctx, expireSignals(then))
  return ended + (await despiteSome(ctx, releaseSignals(then)))
}

/**
 * What comes `next`, an action or, before those of its moment, the end of a contract. Nothing later, where another worker
 * has booked that while we waited for it: of orders and contracts some may end in between.
 */
const bookNext = (ctx: WorkContext, next: Instant): Promise<number> =>
  ctx.db.transaction(async (tx) => {
    const ending = await findNextEnd(tx)
    if (ending !== undefined && ending <= next) return endNext(ctx, tx, next)
    const action = await claimAction(tx, next)
    if (!action) return 0
    const books =
      action.kind === 'dividend'
        ? await payDividend(tx, action, ctx.clock.now())
        : await bookSplit(ctx, tx, action)
    return books + (await settleAction(tx, action.id, ctx.clock.now()))
  }, patience)

/** True while an action or the end of a contract is due. */
const isDue = (now: Instant): Fragment => fragment`(${isActionDue(now)} or ${isEndDue(now)})`

/** Whether something is due that the market must wait for. */
export const isAnyDue = async ({ db, clock }: WorkContext): Promise<boolean> =>
  (await db.read.one<{ due: boolean }>`select ${isDue(clock.now())} as due`).due

/** Actions wait for the opening of their day, contracts for their end. */
export const corporateActionStep: Step = {
  name: 'bookActions',
  due: isDue,
  moments: [findNextAction, findNextEnd],
  run: bookActions,
}
