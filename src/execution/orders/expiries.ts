/**
 * What time alone does to strategy orders: a day order ends with its session, a parked one is released. Both
 * happen at their moment of business time, however late this is noticed. A clock that jumps asks here where it
 * must stop on the way.
 */

import { type ModelAccount, openingRejection } from '../../domain/margin/model-account.ts'
import { expireOrder, releaseParked } from '../../domain/orders/book-request.ts'
import type { BookOrder } from '../../domain/orders/order-book.ts'
import type { Instant } from '../../domain/time.ts'
import type { Sql } from '../../storage/database/sql.ts'
import { loadModelAccounts } from '../../storage/orders/model-accounts.ts'
import {
  causedBy,
  hasEnded,
  loadOrderBooks,
  type WorkedBook,
  worked,
} from '../../storage/orders/order-books.ts'
import type { Among } from '../../storage/work/among.ts'
import {
  type BookKey,
  claimStrategies,
  findNextExpiry,
  findNextRelease,
  isExpiryDue,
  isReleaseDue,
  listExpiring,
  listReleasable,
  strategiesOf,
} from '../../storage/work/matching.ts'
import { ratesOf, type Step, type WorkContext } from '../context.ts'
import { isolated } from '../isolation.ts'
import { bookContext } from './booking.ts'
import { saveTimed } from './books.ts'

/** Signals that one transaction moves. */
const atOnce = 1_000

/** Ends day orders whose session is over; answers how many signals moved. */
export const expireSignals = (ctx: WorkContext): Promise<number> =>
  atTheirTime(ctx, 'ends of orders of a strategy', listExpiring, (stored, now) =>
    dueOrders(stored, now, ({ id }) => stored.facts.get(id)?.expiresAt ?? null).reduce(
      (book, { id, at }) =>
        worked(book, expireOrder(book.book, id, bookContext(at)), at, causedBy({ session: 'closed' })),
      stored,
    ),
  )

/** Releases parked orders whose date has come, with every check that a new order meets. */
export const releaseSignals = (ctx: WorkContext): Promise<number> =>
  atTheirTime(ctx, 'releases of a strategy', listReleasable, (stored, now, account) => {
    const parked = dueOrders(stored, now, ({ id, isParked }) =>
      isParked ? (stored.facts.get(id)?.parkedUntil ?? null) : null,
    )
    return parked.reduce(
      (book, { id, at }) =>
        worked(
          book,
          releaseParked(book.book, id, bookContext(at, openingRejection(account, stored.instrumentId, at))),
          at,
          causedBy({ released: true }),
        ),
      stored,
    )
  })

/** Loads the books in which something is due, lets `act` do it, and writes what happened. */
async function atTheirTime(
  ctx: WorkContext,
  name: string,
  list: (sql: Sql, now: Instant, among: Among, limit: number) => Promise<BookKey[]>,
  act: (book: WorkedBook, now: Instant, account: ModelAccount | undefined) => WorkedBook,
): Promise<number> {
  const now = ctx.clock.now()
  const work = (among: Among) =>
    ctx.db.transaction(async (tx) => {
      const due = await list(tx, now, among, atOnce)
      const ids = strategiesOf(due)
      const claimed = ids.length > 0 ? await claimStrategies(tx, ids) : new Set<number>()
      const keys = due.filter(({ strategyId }) => claimed.has(strategyId))
      if (keys.length === 0) return 0
      const [books, accounts] = await Promise.all([
        loadOrderBooks(tx, keys),
        loadModelAccounts(tx, keys, ratesOf(ctx)),
      ])
      const acted = books.map((book) => act(book, now, accounts.get(book.strategyId)))
      return saveTimed(ctx, tx, acted)
    })
  return isolated(ctx, {
    name,
    work,
    list: async (among, limit) => strategiesOf(await list(ctx.db.read, now, among, limit)),
  })
}

/** Live orders whose moment has come, the earliest first. */
function dueOrders(
  { book }: WorkedBook,
  now: Instant,
  momentOf: (order: BookOrder) => Instant | null,
): { id: string; at: Instant }[] {
  return [...book.orders.values()]
    .flatMap((order) => {
      const at = hasEnded(order) ? null : momentOf(order)
      return at !== null && at <= now ? [{ id: order.id, at }] : []
    })
    .sort((one, other) => one.at - other.at)
}

/** Day orders wait for the end of their session. */
export const expiryStep: Step = {
  name: 'expireSignals',
  due: isExpiryDue,
  moments: [findNextExpiry],
  run: expireSignals,
}

/** Parked orders wait for their date. */
export const releaseStep: Step = {
  name: 'releaseSignals',
  due: isReleaseDue,
  moments: [findNextRelease],
  run: releaseSignals,
}

/** The earliest moment at which time makes work; undefined when nothing waits for time. */
export async function nextDue(ctx: WorkContext): Promise<Instant | undefined> {
  const moments = await Promise.all(ctx.settings.dueSources.map((source) => source(ctx.db.read)))
  const known = moments.filter((at) => at !== undefined)
  return known.length > 0 ? Math.min(...known) : undefined
}
