/** What other symbols of a strategy must hear when its book of one symbol has changed. */

import { isLive } from '../codes.ts'
import type { ParentNews } from './book-request.ts'
import type { EndedOrder, OrderBook } from './order-book.ts'

/** Ends and replacements of orders between two states of a book, as news for children elsewhere. */
export function parentNews(before: OrderBook, after: OrderBook, ended: readonly EndedOrder[]): ParentNews[] {
  const replaced = [...after.orders.values()].flatMap(({ id, status, replaces }): ParentNews[] => {
    const earlier = replaces === undefined ? undefined : after.orders.get(replaces)
    const isNew = earlier?.status === '5' && isLive(before.orders.get(earlier.id)?.status ?? '5')
    return isNew && status !== '8' ? [{ parent: earlier, replacedBy: id }] : []
  })
  const ends = ended.flatMap(({ orderId, isComplete }): ParentNews[] => {
    const parent = after.orders.get(orderId)
    return parent ? [{ parent, isComplete }] : []
  })
  return [...replaced, ...ends]
}
