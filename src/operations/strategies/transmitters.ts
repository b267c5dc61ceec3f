/** Accounts whose own trades become the signals of a strategy. */
import { dec, zero } from '../../domain/decimal.ts'
import { loadAccountValues } from '../../storage/accounts/account-values.ts'
import { listAccounts, switchAccounts } from '../../storage/accounts/accounts.ts'
import { instant } from '../../storage/database/wire.ts'
import { loadRates } from '../../storage/market/quotes.ts'
import { lockTransmitter } from '../../storage/mirror/transmissions.ts'
import { type Context, type Refused, refuse } from '../context.ts'

/** Ends AutoSync in an account whose own trades count from now on. */
export async function endSyncIn(ctx: Context, accountId: number): Promise<void> {
  const change = { reason: 'BrokerTransmit', changedAt: instant(ctx.now) }
  await switchAccounts(ctx.sql, [accountId], { isAutotradeEnabled: undefined, isSyncEnabled: false }, change)
}

/**
 * The caller's account of this number that is approved for broker transmit, and its worth in dollars. AutoSync ends
 * in it. Refuses one that is not there, not approved, feeds another strategy, or is worth nothing.
 */
export async function findTransmitter(
  ctx: Context,
  account: string,
): Promise<{ accountId: number; value: string } | Refused> {
  const accounts = await listAccounts(ctx.sql, {
    account,
    personId: ctx.caller.personId,
    brokerId: undefined,
  })
  if (accounts.length === 0) return refuse('NotFound', 'Account')
  for (const { id: accountId, currency } of accounts) {
    const { isApproved, feedsStrategy } = await lockTransmitter(ctx.sql, accountId)
    if (!isApproved) continue
    if (feedsStrategy) return refuse('StateConflict', 'Account', 'The account feeds another strategy')
    await endSyncIn(ctx, accountId)
    const value = (await loadAccountValues(ctx.sql, [accountId])).get(accountId) ?? zero
    const rate = currency === 'USD' ? dec(1) : (await loadRates(ctx.sql, 'USD', [currency])).get(currency)
    const worth = value.times(rate ?? 1).toDecimalPlaces(2)
    if (!worth.greaterThan(zero)) return refuse('StateConflict', 'Account', 'The account is worth nothing')
    return { accountId, value: worth.toFixed() }
  }
  return refuse('StateConflict', 'Account', 'The account is not approved for broker transmit')
}
