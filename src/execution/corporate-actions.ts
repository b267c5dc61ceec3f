/**
 * What the calendar does to holders: dividends and splits at the opening of their day. Each is booked once, in the
 * order in which they took effect, in a transaction of its own, however late it is noticed; a market batch waits
 * for what is due, so no fill is booked in units of the day before.
 */
import { claimAction, findNextAction, isActionDue, settleAction } from '../storage/corporate-actions.ts'
import type { DueSource, Step, WorkContext } from './context.ts'
import { payDividend } from './dividends.ts'
import { bookSplit } from './splits.ts'

/** A holder of very many books may take its time: the statements are few and long. */
const patience = { statementTimeoutMs: 60_000 }

/** Books every action that has taken effect; answers how many rows moved. */
export async function bookActions(ctx: WorkContext): Promise<number> {
  let moved = 0
  for (;;) {
    const rows = await bookNext(ctx)
    if (rows === undefined) return moved
    moved += rows
  }
}

/** The earliest action; undefined when none is due. */
const bookNext = (ctx: WorkContext): Promise<number | undefined> =>
  ctx.db.transaction(async (tx) => {
    const now = ctx.clock.now()
    const action = await claimAction(tx, now)
    if (!action) return undefined
    const books =
      action.kind === 'dividend' ? await payDividend(tx, action) : await bookSplit(ctx, tx, action)
    return books + (await settleAction(tx, action.id, now))
  }, patience)

/** Whether an action is due: the market must wait for it. */
export const isAnyDue = async ({ db, clock }: WorkContext): Promise<boolean> =>
  (await db.read.one<{ due: boolean }>`select ${isActionDue(clock.now())} as due`).due

/** Actions wait for the opening of their day. */
export const corporateActionStep: Step = { name: 'bookActions', due: isActionDue, run: bookActions }

/** When the next action takes effect. */
export const nextAction: DueSource = findNextAction
