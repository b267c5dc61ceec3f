/** An operator's last word on an order whose broker and we disagree: it goes into the books as reports do. */
import { dec } from '../../domain/decimal.ts'
import { clientOrderId } from '../../domain/orders/client-order-id.ts'
import { readGapWords } from '../../domain/orders/order-gap.ts'
import { type NotSettled, type StatedTotal, settlement } from '../../domain/orders/order-settlement.ts'
import type { Instant } from '../../domain/time.ts'
import { insertReports } from '../../storage/brokers/report-intake.ts'
import { type DifferingOrder, listDifferingOrders } from '../../storage/brokers/sent-orders.ts'
import type { Transaction } from '../../storage/database/sql.ts'

interface Said {
  readonly orderId: number
  /** What the order executed in all, under its own client order id, in the units of today; null: what is booked. */
  readonly total: StatedTotal | null
}

/** Has the reports applied that settle the order; answers why not where it cannot be settled so. */
export async function settleOrder(
  tx: Transaction,
  { environment, now }: { readonly environment: string; readonly now: Instant },
  { orderId, total }: Said,
): Promise<NotSettled | 'notDiffering' | null> {
  const [order] = await listDifferingOrders(tx, now, orderId)
  if (!order) return 'notDiffering'
  const reports = settlement(disputed(order), total)
  if (typeof reports === 'string') return reports
  const { brokerId, accountId, symbol, side } = order
  const name = clientOrderId({ environment, ...order })
  const stated = { side, quantity: total?.quantity.toFixed() ?? '0', px: total?.average?.toFixed() ?? '0' }
  await insertReports(
    tx,
    reports.map((kind) => ({
      kind,
      brokerId,
      accountId,
      symbol,
      clientOrderId: name,
      occurredAt: now,
      reportKey: `settled:${kind}:${name}:${now}`,
      text: 'settled by the operator',
      ...(kind === 'total' && stated),
    })),
  )
  return null
}

const disputed = ({ status, replacesOrderId, restated, executed, amount, open, told }: DifferingOrder) => ({
  status,
  isReplacement: replacesOrderId !== null,
  isRestated: restated !== null,
  booked: dec(restated?.[0] ?? executed),
  amount: dec(amount),
  open: dec(open),
  isShort: readGapWords(told).gaps.some((gap) => gap === 'total' || gap === 'unclear'),
})
