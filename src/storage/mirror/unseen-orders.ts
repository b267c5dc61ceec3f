/**
 * The end of orders that no broker has seen. No broker reports on it, so AutoSync is told here, under the accounts'
 * locks: a cycle that has still seen the orders would take the mark away with its own.
 */
import type { Instant } from '../../domain/time.ts'
import { lockAccounts } from '../accounts/accounts.ts'
import { type Fragment, fragment, type Transaction } from '../database/sql.ts'
import { cancelOrders, type OrderKey, theseOrders } from './account-orders.ts'
import { markSetups } from './sync-due.ts'

interface End {
  readonly at: Instant
  readonly info: string
  /** When AutoSync looks at what the orders were to do. */
  readonly syncAt: Instant
}

/** More at once would outlast the time of a statement, and the locks of their accounts would be held for as long. */
const endedAtOnce = 2_000

/**
 * Ends some of the orders `o` that `which` names, if it still does under the locks; who asks again ends the next. Answers
 * how many rows moved.
 */
export async function endUnseen(tx: Transaction, which: Fragment, { syncAt, ...end }: End): Promise<number> {
  const orders = await tx.rows<OrderKey & { setupId: number }>`
    select o.account_id as "accountId", o.id, o.setup_id as "setupId" from account_order o where ${which}
    limit ${endedAtOnce}::int`
  if (orders.length === 0) return 0
  await lockAccounts(
    tx,
    orders.map(({ accountId }) => accountId),
  )
  const moved = await cancelOrders(tx, fragment`${which} and ${theseOrders(orders)}`, end)
  const setupIds = orders.map(({ setupId }) => setupId)
  await markSetups(tx, setupIds, syncAt)
  return moved
}
