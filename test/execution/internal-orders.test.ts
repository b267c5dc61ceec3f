/** Trades that no market makes: each order keeps what is remembered with it, however many the book has. */
import { expect, test } from 'vitest'
import { dec, one, zero } from '../../src/domain/decimal.ts'
import { emptyBook } from '../../src/domain/orders/order-book.ts'
import { flat } from '../../src/domain/positions/position.ts'
import { type InternalBook, tradeInternally } from '../../src/execution/orders/internal-orders.ts'
import { unworked } from '../../src/storage/orders/order-books.ts'

const book: InternalBook = {
  ...unworked({ strategyId: 1, instrumentId: 2, calendar: 'CONTINUOUS' }, emptyBook(zero)),
  terms: { securityType: 'CS', currency: 'USD', pointValue: one, fx: one, isRated: true, rates: null },
  position: flat,
  openedAt: null,
  progress: new Map(),
  fills: [],
  cashChange: zero,
  account: null,
}

const trade = (before: InternalBook, id: string, price: number): InternalBook =>
  tradeInternally(before, {
    side: '1',
    quantity: dec(10),
    price: dec(price),
    at: 1_000,
    ids: [id, `${id}0`],
    info: 'traded in the account',
    told: {},
    isTransmitted: true,
  })

test('a second trade of the same book keeps the wishes of both', () => {
  const twice = trade(trade(book, '7', 99), '8', 101)
  expect(twice.position.quantity.toFixed()).toBe('20')
  expect([...(twice.wishes ?? [])].map(([id, { referencePx }]) => [id, referencePx])).toEqual([
    ['7', '99'],
    ['8', '101'],
  ])
})
