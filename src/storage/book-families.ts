/**
 * Families across symbols: a child that waits for a parent in another symbol hears of its end or replacement in
 * the same transaction. News may end or start orders that others wait for, so it goes on until nobody is left
 * to tell.
 */
import { parentNews } from '../domain/book-news.ts'
import { followParents, type ParentNews } from '../domain/book-request.ts'
import type { BookContext } from '../domain/order-book.ts'
import type { BookKey } from './matching.ts'
import { causedBy, loadOrderBooks, type WorkedBook, worked } from './order-books.ts'
import type { Sql } from './sql.ts'

/** Carries the news of changed books to the strategy's other symbols; answers the books that it changed there. */
export async function spreadNews(
  sql: Sql,
  changed: readonly WorkedBook[],
  context: Pick<BookContext, 'at' | 'rejection'>,
): Promise<WorkedBook[]> {
  const known = new Map(changed.map((book) => [keyOf(book), book]))
  const others = new Map<string, WorkedBook>()
  let news = changed.flatMap(newsElsewhere)
  while (news.length > 0) {
    const keys = await findWaiting(sql, news)
    const unknown = keys.filter((key) => !known.has(keyOf(key)) && !others.has(keyOf(key)))
    for (const book of await loadOrderBooks(sql, unknown)) others.set(keyOf(book), book)
    const next: ParentNews[] = []
    for (const key of keys) {
      const book = others.get(keyOf(key))
      if (!book) continue
      const told = follow(book, news, context)
      others.set(keyOf(key), told)
      next.push(...newsElsewhere({ ...told, before: book.book, ended: told.ended.slice(book.ended.length) }))
    }
    news = next
  }
  return [...others.values()].filter(({ before, book }) => before !== book)
}

const keyOf = ({ strategyId, instrumentId }: BookKey): string => `${strategyId} ${instrumentId}`

/** The news of a book that somebody in another symbol waits for. */
const newsElsewhere = ({ facts, before, book, ended }: WorkedBook): ParentNews[] =>
  [...facts.values()].some(({ hasChildrenElsewhere }) => hasChildrenElsewhere)
    ? parentNews(before, book, ended).filter(
        ({ parent }) => facts.get(parent.id)?.hasChildrenElsewhere === true,
      )
    : []

function follow(
  book: WorkedBook,
  news: readonly ParentNews[],
  { at, rejection }: Pick<BookContext, 'at' | 'rejection'>,
): WorkedBook {
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
