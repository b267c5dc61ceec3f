/** A paper account starts over. */
import { lockAccount } from '../../storage/accounts/accounts.ts'
import { resetPaperAccount } from '../../storage/brokers/paper-resets.ts'
import { wakeWorkers } from '../../storage/orders/signals.ts'
import { isRefused, refuse } from '../context.ts'
import type { Handler } from '../handler.ts'
import { type Choose, findAccount, isOfOnePerson, preferring } from './find-account.ts'

/** A live account of the same number is not what may be reset. */
const papers: Choose = (accounts) =>
  isOfOnePerson(accounts) ? preferring(accounts, ({ kind }) => kind !== 0) : accounts

/** Empties a paper account: as it was opened, and what is on its way is dropped. */
export const resetPaperTrade: Handler<'ResetPaperTrade'> = async (ctx, params) => {
  const account = await findAccount(ctx, params, papers)
  if (isRefused(account)) return account
  if (account.kind === 0) return refuse('StateConflict', 'Account', 'Only a paper account can be reset')
  await lockAccount(ctx.sql, account.id)
  await resetPaperAccount(ctx.sql, account.id, { at: ctx.now, environment: ctx.environment })
  await wakeWorkers(ctx.sql)
  return { results: [true] }
}
