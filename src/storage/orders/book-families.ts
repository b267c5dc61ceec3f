/**
 * Families across symbols: a child that waits for a parent in another symbol hears of its end or replacement in
 * the same transaction. News may end or start orders that others wait for, so it goes on until nobody is left
 * to tell.
 */

import { openingRejection } from '../../domain/margin/model-account.ts'
import { parentNews } from '../../domain/orders/book-news.ts'
import { followParents, type ParentNews } from '../../domain/orders/book-request.ts'
import type { BookContext } from '../../domain/orders/order-book.ts'
import type { PlanRates } from '../../domain/positions/commission.ts'
import type { Instant } from '../../domain/time.ts'
import type { Sql } from '../database/sql.ts'
import { type BookKey, bookName } from '../work/matching.ts'
import { loadModelAccounts } from './model-accounts.ts'
import { causedBy, loadOrderBooks, type WorkedBook, worked } from './order-books.ts'

/**
 * Carries the news of changed books to the strategies' other symbols. Answers the same books, which may have
 * heard news in return, and those that were changed elsewhere.
 */
export async function spreadNews<Book extends WorkedBook>(
  sql: Sql,
  changed: readonly Book[],
  at: Instant,
  plan: PlanRates | null,
): Promise<{ books: readonly Book[]; others: readonly WorkedBook[] }> {
  const books = new Map(changed.map((book) => [bookName(book), book]))
  const others = new Map<string, WorkedBook>()
  let news = changed.flatMap(newsElsewhere)
  while (news.length > 0) {
    const keys = await findWaiting(sql, news)
    const unknown = keys.filter((key) => !books.has(bookName(key)) && !others.has(bookName(key)))
    for (const book of await loadOrderBooks(sql, unknown)) others.set(bookName(book), book)
    const accounts = await loadModelAccounts(sql, keys, plan)
    const heard = news
    news = keys.flatMap((key) => {
      const rejection = openingRejection(accounts.get(key.strategyId), key.instrumentId, at)
      const place = bookName(key)
      return [
        ...tell(books, place, heard, { at, rejection }),
        ...tell(others, place, heard, { at, rejection }),
      ]
    })
  }
  return {
    books: [...books.values()],
    others: [...others.values()].filter(({ before, book }) => before !== book),
  }
}

/** Lets a book hear the news; answers what it has to say about that. */
function tell<Book extends WorkedBook>(
  books: Map<string, Book>,
  key: string,
  news: readonly ParentNews[],
  context: Pick<BookContext, 'at' | 'rejection'>,
): ParentNews[] {
  const book = books.get(key)
  if (!book) return []
  const told = follow(book, news, context)
  books.set(key, told)
  return newsElsewhere({ ...told, before: book.book, ended: told.ended.slice(book.ended.length) })
}

/** The news of a book that somebody in another symbol waits for. */
const newsElsewhere = ({ facts, before, book, ended }: WorkedBook): ParentNews[] =>
  [...facts.values()].some(({ hasChildrenElsewhere }) => hasChildrenElsewhere)
    ? parentNews(before, book, ended).filter(
        ({ parent }) => facts.get(parent.id)?.hasChildrenElsewhere === true,
      )
    : []

function follow<Book extends WorkedBook>(
  book: Book,
  news: readonly ParentNews[],
  { at, rejection }: Pick<BookContext, 'at' | 'rejection'>,
): Book {
  const newId: BookContext['newId'] = (kind, orderId) => `${kind} of ${orderId} at ${at}`
  const result = followParents(book.book, news, { at, newId, rejection })
  const parents = news.map(({ parent }) => Number(parent.id))
  return worked(book, result, at, causedBy({ parents }))
}

/** The books in which somebody waits for these parents. */
const findWaiting = (sql: Sql, news: readonly ParentNews[]): Promise<BookKey[]> =>
  sql.rows<BookKey>`
    select distinct strategy_id as "strategyId", instrument_id as "instrumentId" from signal
    where parent_signal_id = any(${news.map(({ parent }) => parent.id)}::bigint[]) and waits_for_parent
    order by 1, 2`
