/** What the holder of an account does to an order, as the operation does it. */

import type { Database } from '../../src/storage/database/database.ts'
import { cancelOrders } from '../../src/storage/mirror/account-orders.ts'
import { lockOwnOrder, withReplacements } from '../../src/storage/mirror/manual-orders.ts'

type Key = Parameters<typeof lockOwnOrder>[2]

/** Cancels the setup's order at this place, oldest first, with what is to replace it. */
export async function cancelByHolder(
  db: Database,
  { setupId, at }: { readonly setupId: number; readonly at: number },
  place: number,
): Promise<void> {
  const keys = await db.read.rows<Key & { accountId: number }>`
    select 'T' as environment, account_id as "accountId", setup_id as "setupId", source, source_id as "sourceId",
      revision
    from account_order where setup_id = ${setupId} order by id`
  const key = keys[place]
  if (!key) throw new Error(`the setup has no order ${place}`)
  await db.transaction(async (tx) => {
    const order = await lockOwnOrder(tx, key.accountId, key)
    if (!order) throw new Error('the order cannot be locked')
    await cancelOrders(tx, withReplacements(order), { at, info: 'canceled by the holder' })
  })
}
