/**
 * What a disabled strategy leaves at work. What would open ends, with a reason that its owner can read, and with it its
 * copies; what closes stays, for no new order could protect a position in its place.
 */
import { withdrawOrder } from '../../domain/orders/book-request.ts'
import { chargedRates } from '../../domain/positions/tables/commission-plans.ts'
import type { Instant } from '../../domain/time.ts'
import type { Transaction } from '../../storage/database/sql.ts'
import { spreadNews } from '../../storage/orders/book-families.ts'
import { loadLiveOrders } from '../../storage/orders/desired-orders.ts'
import { causedBy, loadOrderBooks, type WorkedBook, worked } from '../../storage/orders/order-books.ts'
import { saveOrderBooks } from '../../storage/orders/save-books.ts'
import { lockStrategies } from '../../storage/orders/signals.ts'

const info = 'the strategy is disabled'

/** Ends a strategy's opening orders; answers how many. */
export async function withdrawOpenings(tx: Transaction, strategyId: number, now: Instant): Promise<number> {
  await lockStrategies(tx, [strategyId])
  const live = await loadLiveOrders(tx, strategyId)
  const opening = live.filter(({ positionEffect }) => positionEffect === 'O')
  if (opening.length === 0) return 0
  const symbols = [...new Set(opening.map(({ instrumentId }) => instrumentId))]
  const stored = await loadOrderBooks(
    tx,
    symbols.map((instrumentId) => ({ strategyId, instrumentId })),
  )
  const ids = opening.map(({ signalId }) => String(signalId))
  const done = stored.map((book) => ids.reduce((left, id) => without(left, id, now), book as WorkedBook))
  const { books, others } = await spreadNews(tx, done, now, chargedRates('default'))
  await saveOrderBooks(tx, [...books, ...others], { wakes: true })
  return opening.length
}

/** The book without this order; as it was where it stands in another, or has ended with its parent. */
function without(book: WorkedBook, id: string, at: Instant): WorkedBook {
  if (!book.book.orders.has(id)) return book
  const context = { at, newId: (kind: string, of: string) => `${kind} of ${of}`, rejection: () => null }
  return worked(book, withdrawOrder(book.book, id, info, context), at, causedBy({ info }))
}
