/** What children in other symbols hear of their parents: ends and confirmed replacements, nothing else. */
import { expect, test } from 'vitest'
import { dec } from '../decimal.ts'
import { parentNews } from './book-news.ts'
import { cancelOrder, replaceOrder, requestReplacement } from './book-request.ts'
import { type BookContext, type BookOrder, newBookOrder, type OrderBook } from './order-book.ts'

const context: BookContext = { at: 1, newId: (kind, id) => `${kind} ${id}`, rejection: () => null }
const working: BookOrder = {
  ...newBookOrder(dec(10), {
    id: 'a',
    side: '1',
    type: '2',
    positionEffect: 'O',
    acceptedAt: 0,
    limit: dec(5),
  }),
  status: '0',
  held: false,
  acknowledged: true,
  workingSince: 0,
}
const book: OrderBook = { position: dec(0), orders: new Map([['a', working]]) }
const terms = { quantity: dec(10), type: '2', timeInForce: '1', limit: dec(6), stop: null } as const

test('an end is told with what it means', () => {
  const { book: after, ended } = cancelOrder(book, 'a', context)
  expect(parentNews(book, after, ended)).toMatchObject([
    { parent: { id: 'a', status: '4' }, isComplete: false },
  ])
})

test('a replacement is told once, by its new name', () => {
  const replaced = replaceOrder(book, 'a', { newId: 'b', ...terms }, context)
  expect(parentNews(book, replaced.book, replaced.ended)).toMatchObject([
    { parent: { id: 'a' }, replacedBy: 'b' },
  ])
  expect(parentNews(replaced.book, replaced.book, [])).toEqual([])
})

test('one that was rejected before is not told with the one that is confirmed', () => {
  const never = { ...context, rejection: () => 'too much' }
  const asked = requestReplacement(book, 'a', { newId: 'r', ...terms }, never).book
  const replaced = replaceOrder(asked, 'a', { newId: 'b', ...terms }, context)
  expect(parentNews(book, asked, [])).toEqual([])
  expect(parentNews(asked, replaced.book, replaced.ended)).toMatchObject([
    { parent: { id: 'a' }, replacedBy: 'b' },
  ])
})

test('no change is no news', () => {
  expect(parentNews(book, book, [])).toEqual([])
})
