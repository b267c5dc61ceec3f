/** What the holder of an account does to an order, as the operation does it. */

import { dec } from '../../src/domain/decimal.ts'
import type { Database } from '../../src/storage/database/database.ts'
import { cancelOrders } from '../../src/storage/mirror/account-orders.ts'
import { lockOwnOrder, withReplacements } from '../../src/storage/mirror/manual-orders.ts'
import { saveSuccessions, successionOf } from '../../src/storage/mirror/successions.ts'

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

/** Gives the setup's last order another price. */
export async function repriceByHolder(
  db: Database,
  { setupId, at }: { readonly setupId: number; readonly at: number },
  limitPx: string,
): Promise<void> {
  const [key] = await db.read.rows<Key & { accountId: number }>`
    select 'T' as environment, account_id as "accountId", setup_id as "setupId", source, source_id as "sourceId",
      revision
    from account_order where setup_id = ${setupId} order by id desc limit 1`
  await db.transaction(async (tx) => {
    const order = key && (await lockOwnOrder(tx, key.accountId, key))
    if (!order) throw new Error('the order cannot be locked')
    const leaves = dec(order.orderQty).minus(order.cumQty)
    const { sourceId, ordType, timeInForce, stopPx, chaseAt, scalingPercentage, referencePx } = order
    const kept = { sourceId, ordType, timeInForce, stopPx, chaseAt, scalingPercentage, referencePx, leaves }
    const said = { info: null, reason: null, strategyQty: leaves, limitValue: null, heldQty: leaves }
    const next = { ...kept, ...said, signalType: 5, revision: order.lastRevision + 1, limitPx, at } as const
    await saveSuccessions(tx, [successionOf(order, next)], at)
  })
}
