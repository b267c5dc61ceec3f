/** The beginning of a strategy. */
import { instant } from '../../storage/database/wire.ts'
import { saveTransmitter } from '../../storage/mirror/transmissions.ts'
import { insertStrategy } from '../../storage/strategies/strategies.ts'
import { isRefused } from '../context.ts'
import type { Handler } from '../handler.ts'
import { beginFor } from '../subscribe.ts'
import { findTransmitter } from './transmitters.ts'

/**
 * A new strategy begins with its capital in cash, at this moment. One that an account feeds begins with what the
 * account is worth, unless a capital is given.
 */
export const addStrategy: Handler<'AddStrategy'> = async (ctx, params) => {
  const owner = await beginFor(ctx.sql, ctx.caller.personId)
  if (isRefused(owner)) return owner
  const feeding = params.Account === undefined ? undefined : await findTransmitter(ctx, params.Account)
  if (isRefused(feeding)) return feeding
  const id = await insertStrategy(ctx.sql, {
    siteId: ctx.caller.siteId,
    ownerPersonId: ctx.caller.personId,
    name: params.StrategyName,
    startedAt: instant(ctx.now),
    startingCash: String(params.StartingCapital ?? feeding?.value),
  })
  if (feeding) await saveTransmitter(ctx.sql, id, feeding.accountId)
  return { results: [{ StrategyId: id }] }
}
