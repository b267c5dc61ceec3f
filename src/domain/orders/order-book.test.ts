import { describe, expect, test } from 'vitest'
import { dec, zero } from '../decimal.ts'
import { fillOrder, triggerStop, workingOrders } from './book-fill.ts'
import {
  cancelOrder,
  expireOrder,
  followParents,
  releaseParked,
  replaceOrder,
  requestReplacement,
  withdrawOrder,
} from './book-request.ts'
import { type BookDraft, marketOrder, submitOrder } from './book-submit.ts'
import { type BookContext, type BookResult, emptyBook, type OrderBook, withoutEnded } from './order-book.ts'

const context = (at = 0, rejection: BookContext['rejection'] = () => null): BookContext => ({
  at,
  newId: (kind, id) => `${id}.${kind}`,
  rejection,
})

const buy: BookDraft = marketOrder({
  id: 'E',
  side: '1',
  timeInForce: '0',
  quantity: dec(10),
  positionEffect: null,
})
const bracket = { profitTarget: dec(55), stopLoss: dec(45) }
const flat = emptyBook(zero)
const fill = (quantity: number) => ({ quantity: dec(quantity), price: dec(50) })
const statuses = ({ orders }: OrderBook) =>
  Object.fromEntries([...orders.values()].map(({ id, status }) => [id, status]))
const eventsOf = ({ events }: BookResult) =>
  events.map(({ orderId, event, status, orderQuantity, info }) =>
    [orderId, event, status, orderQuantity.toFixed(), info].filter((part) => part !== null).join(' '),
  )

describe('every step is told', () => {
  test('a bracket from its beginning to its end', () => {
    const submitted = submitOrder(flat, { ...buy, ...bracket }, context())
    expect(eventsOf(submitted)).toEqual([
      'E NEW A 10',
      'E ACK 0 10',
      'E.profitTarget NEW A 10',
      'E.stopLoss NEW A 10',
    ])
    const filled = fillOrder(submitted.book, 'E', fill(4), context())
    expect(eventsOf(filled)).toEqual([
      'E FILL 1 10',
      'E.profitTarget RESTATE A 4',
      'E.profitTarget ACK 0 4',
      'E.stopLoss RESTATE A 4',
      'E.stopLoss ACK 0 4',
    ])
    const closed = fillOrder(filled.book, 'E.profitTarget', fill(4), context())
    expect(eventsOf(closed)).toEqual([
      'E.profitTarget FILL 2 4',
      'E UNSOLICITED_CANCEL 4 10 position closed',
      'E.stopLoss UNSOLICITED_CANCEL 4 4 position closed',
    ])
    expect(closed.ended.map(({ orderId, isComplete }) => [orderId, isComplete])).toEqual([
      ['E.profitTarget', true],
      ['E', false],
      ['E.stopLoss', false],
    ])
  })

  test('requests and their confirmations', () => {
    const { book } = submitOrder(flat, buy, context())
    const terms = { quantity: dec(7), type: '2', timeInForce: '1', limit: dec(49), stop: null } as const
    const replaced = replaceOrder(book, 'E', { newId: 'F', ...terms }, context(5))
    expect(eventsOf(replaced)).toEqual([
      'E REPLACE_REQUEST E 10',
      'F NEW A 7',
      'E REPLACE_ACK 5 10',
      'F REPLACE_ACK 0 7',
    ])
    expect(replaced.ended).toEqual([])
    expect(replaced.book.orders.get('F')).toMatchObject({
      replaces: 'E',
      type: '2',
      limit: dec(49),
      acceptedAt: 5,
      workingSince: 5,
    })
    const canceled = cancelOrder(replaced.book, 'F', context())
    expect(eventsOf(canceled)).toEqual(['F CANCEL_REQUEST 6 7', 'F CANCEL_ACK 4 7'])
  })

  test('of a smaller exit that stays as it is, nothing', () => {
    const entered = fillOrder(
      submitOrder(flat, { ...buy, ...bracket }, context()).book,
      'E',
      fill(10),
      context(),
    )
    const terms = { quantity: dec(3), type: '3', timeInForce: '1', limit: null, stop: dec(45) } as const
    const { book } = replaceOrder(entered.book, 'E.stopLoss', { newId: 'S', ...terms }, context())
    const closed = fillOrder(book, 'E.profitTarget', fill(6), context())
    expect(eventsOf(closed)).toEqual(['E.profitTarget FILL 1 10'])
  })

  test('a replacement that is not accepted, and the order beside it', () => {
    const { book } = fillOrder(
      submitOrder(flat, { ...buy, ...bracket }, context()).book,
      'E',
      fill(4),
      context(),
    )
    const terms = { newId: 'F', type: '2', timeInForce: '1', limit: dec(49), stop: null } as const
    const atMost = (most: number) =>
      context(5, (order) => (order.orderQuantity.greaterThan(most) ? `${order.limit} is too much` : null))
    const asked = (quantity: number, most: number) =>
      requestReplacement(book, 'E', { ...terms, quantity: dec(quantity) }, atMost(most))
    const rejected = asked(12, 7)
    expect(rejected.outcome).toBe('rejected')
    expect(eventsOf(rejected)).toEqual(['F NEW A 12', 'F REJECT 8 12 49 is too much'])
    expect(statuses(rejected.book)).toEqual({ ...statuses(book), F: '8' })
    expect(rejected.book.orders.get('E')).toBe(book.orders.get('E'))
    // What is filled already binds what it binds.
    expect(asked(12, 8).outcome).toBe('applied')
    expect(asked(4, -1).book.orders.get('F')?.status).toBe('2')
    const stop = { ...terms, type: '3', quantity: dec(9), limit: null, stop: dec(44) } as const
    expect(requestReplacement(book, 'E.stopLoss', stop, atMost(0)).outcome).toBe('applied')
  })

  test('a replacement of what waits for its parent is checked when it starts', () => {
    const parent = submitOrder(flat, { ...buy, id: 'P' }, context()).book
    const { book } = submitOrder(parent, { ...buy, parent: 'P', positionEffect: 'O' }, context())
    const terms = { newId: 'F', type: '1', timeInForce: '0', limit: null, stop: null } as const
    const never = context(5, () => 'too much')
    const asked = requestReplacement(book, 'E', { ...terms, quantity: dec(12) }, never)
    expect([asked.outcome, statuses(asked.book)]).toEqual(['applied', { P: '0', E: '5', F: 'A' }])
    expect(statuses(fillOrder(asked.book, 'P', fill(10), never).book)).toMatchObject({ F: '8' })
  })
})

describe('bracket exits', () => {
  test.each([
    [null, '50', 'applied'],
    ['55', '50', 'refused'],
    ['45', '50', 'refused'],
    ['50', null, 'applied'],
  ])(
    'of a market order are compared with the mid %s, without one with each other',
    (mid, target, outcome) => {
      const draft = {
        ...buy,
        profitTarget: target === null ? null : dec(target),
        stopLoss: dec(46),
        mid: mid === null ? null : dec(mid),
      }
      expect(submitOrder(flat, draft, context()).outcome).toBe(outcome)
    },
  )

  test('are limit and stop, good till canceled, whatever the entry is', () => {
    const { book } = submitOrder(flat, { ...buy, ...bracket }, context(3))
    const common = {
      side: '2',
      positionEffect: 'C',
      timeInForce: '1',
      parent: 'E',
      depth: 1,
      held: true,
      workingSince: null,
    }
    expect(book.orders.get('E.profitTarget')).toMatchObject({ ...common, type: '2', limit: dec(55) })
    expect(book.orders.get('E.stopLoss')).toMatchObject({ ...common, type: '3', stop: dec(45) })
    expect(fillOrder(book, 'E', fill(1), context(4)).book.orders.get('E.stopLoss')?.workingSince).toBe(4)
  })

  test('opened again have the prices that their owner gave last', () => {
    let { book } = submitOrder(flat, { ...buy, ...bracket }, context())
    const terms = { quantity: dec(10), type: '3', timeInForce: '1', limit: null, stop: dec(47) } as const
    book = replaceOrder(book, 'E.stopLoss', { newId: 'S', ...terms }, context()).book
    book = cancelOrder(book, 'E', context()).book
    const late = fillOrder(book, 'E', fill(2), { ...context(), newId: (kind) => `again ${kind}` })
    expect(late.book.orders.get('again stopLoss')).toMatchObject({ stop: dec(47), status: '0' })
    expect(late.book.orders.get('again profitTarget')).toMatchObject({ limit: dec(55), status: '0' })
    expect(late.alerts).toEqual([{ orderId: 'E', alert: 'exitsReopened' }])
  })
})

test.each([[[10]], [[4, 6]]])('what completes a lost exit late, %j, ends the other one', (fills) => {
  const held = emptyBook(dec(5))
  let { book } = submitOrder(held, { ...buy, ...bracket }, context())
  book = fillOrder(book, 'E', fill(10), context()).book
  book = expireOrder(book, 'E.profitTarget', context()).book
  expect(statuses(book)).toEqual({ E: '2', 'E.profitTarget': 'C', 'E.stopLoss': '0' })
  for (const quantity of fills) book = fillOrder(book, 'E.profitTarget', fill(quantity), context()).book
  expect(book.position).toEqual(dec(5))
  expect(statuses(book)).toEqual({ E: '2', 'E.profitTarget': '2', 'E.stopLoss': '4' })
})

describe('somebody must look', () => {
  const worked = (draft: BookDraft) => submitOrder(flat, draft, context()).book

  test('when an exit is lost, not when another order ends or an entry without exits trades', () => {
    const exits = fillOrder(worked({ ...buy, ...bracket }), 'E', fill(10), context()).book
    expect(expireOrder(exits, 'E.stopLoss', context()).alerts).toEqual([
      { orderId: 'E.stopLoss', alert: 'exitLost' },
    ])
    expect(expireOrder(worked(buy), 'E', context()).alerts).toEqual([])
    expect(fillOrder(worked(buy), 'E', fill(4), context()).alerts).toEqual([])
  })
})

describe('parked orders', () => {
  const parked = { ...buy, isParked: true, ...bracket }

  test('are held, and start when their date comes', () => {
    const { book, outcome } = submitOrder(flat, parked, context())
    expect([outcome, statuses(book)]).toEqual([
      'applied',
      { E: 'A', 'E.profitTarget': 'A', 'E.stopLoss': 'A' },
    ])
    const released = releaseParked(book, 'E', context(9))
    expect([released.outcome, released.book.orders.get('E')]).toMatchObject([
      'applied',
      { status: '0', workingSince: 9 },
    ])
    expect(releaseParked(released.book, 'E', context()).outcome).toBe('ignored')
    const canceled = cancelOrder(book, 'E', context()).book
    expect(releaseParked(canceled, 'E', context(9))).toMatchObject({ outcome: 'ignored', book: canceled })
  })

  test('meet the checks when they are sent and when they are released', () => {
    const short = { ...emptyBook(dec(-5)) }
    expect(submitOrder(short, { ...parked, positionEffect: 'O' }, context()).outcome).toBe('rejected')
    const { book } = submitOrder(flat, parked, context())
    const released = releaseParked({ ...book, position: dec(-5) }, 'E', context())
    expect([released.outcome, statuses(released.book)]).toEqual([
      'rejected',
      { E: '8', 'E.profitTarget': '4', 'E.stopLoss': '4' },
    ])
    const closing = submitOrder(
      short,
      { ...buy, positionEffect: 'C', quantity: dec(5), isParked: true },
      context(),
    )
    const smaller = releaseParked({ ...closing.book, position: dec(-4) }, 'E', context())
    expect(smaller.book.orders.get('E')).toMatchObject({ status: '8', info: 'quantity exceeds the position' })
  })

  test('wait for their parent too, whichever comes first', () => {
    const { book: one } = submitOrder(flat, { ...buy, id: 'P' }, context())
    const { book } = submitOrder(one, { ...buy, parent: 'P', isParked: true }, context())
    const released = releaseParked(book, 'E', context()).book
    expect(statuses(released)).toEqual({ P: '0', E: 'A' })
    expect(statuses(fillOrder(released, 'P', fill(10), context()).book)).toEqual({ P: '2', E: '0' })
    const filled = fillOrder(book, 'P', fill(10), context()).book
    expect(statuses(filled)).toEqual({ P: '2', E: 'A' })
    expect(statuses(releaseParked(filled, 'E', context()).book)).toEqual({ P: '2', E: '0' })
  })
})

test('a parked reversal waits once, not twice', () => {
  const { book } = submitOrder(emptyBook(dec(-4)), { ...buy, isParked: true }, context())
  expect(statuses(book)).toEqual({ E: 'A', 'E.reversal': 'A' })
  const released = releaseParked(book, 'E', context()).book
  expect(statuses(fillOrder(released, 'E', fill(4), context()).book)).toEqual({ E: '2', 'E.reversal': '0' })
})

describe('margin', () => {
  const poor = context(0, () => 'insufficient buying power')

  test('rejects an opening order when it would start, never a closing one', () => {
    const rejected = submitOrder(flat, { ...buy, ...bracket }, poor)
    expect(rejected.outcome).toBe('rejected')
    expect([...rejected.book.orders.values()]).toMatchObject([{ id: 'E', info: 'insufficient buying power' }])
    expect(submitOrder(emptyBook(dec(-10)), buy, poor).outcome).toBe('applied')
  })

  test('rejects the second order of a reversal at its release', () => {
    const { book } = submitOrder(emptyBook(dec(-4)), buy, poor)
    expect(statuses(book)).toEqual({ E: '0', 'E.reversal': 'A' })
    const { book: after, outcome } = fillOrder(book, 'E', fill(4), poor)
    expect([outcome, statuses(after)]).toEqual(['applied', { E: '2', 'E.reversal': '8' }])
  })

  test('what the platform withdraws says why, and its family follows', () => {
    const { book } = submitOrder(flat, { ...buy, ...bracket }, context())
    const { book: after, outcome } = withdrawOrder(book, 'E', 'insufficient buying power', context())
    expect([outcome, statuses(after)]).toEqual([
      'applied',
      { E: '4', 'E.profitTarget': '4', 'E.stopLoss': '4' },
    ])
    expect(after.orders.get('E')?.info).toBe('insufficient buying power')
    expect(withdrawOrder(after, 'E', 'again', context())).toMatchObject({ book: after, outcome: 'ignored' })
    expect(withdrawOrder(after, 'X', 'again', context()).outcome).toBe('ignored')
  })
})

describe('a parent in another symbol', () => {
  const parent = {
    id: 'P',
    side: '1',
    positionEffect: 'O',
    status: '0',
    depth: 9,
    filledQuantity: zero,
  } as const
  const ended = (part: object) => [{ parent: { ...parent, ...part }, isComplete: false }]
  const { book } = submitOrder(flat, { ...buy, parent }, context())

  test('holds the child until it is filled', () => {
    expect(book.orders.get('E')).toMatchObject({ status: 'A', parent: 'P', depth: 10, positionEffect: 'O' })
    expect(statuses(followParents(book, [{ parent, isComplete: true }], context()).book)).toEqual({ E: '0' })
  })

  test('takes it along when it ends, or lets a closing child go for what it filled', () => {
    const followed = followParents(book, ended({ status: '4' }), context())
    expect(statuses(followed.book)).toEqual({ E: '4' })
    const closing = submitOrder(emptyBook(dec(50)), { ...buy, side: '2', parent }, context()).book
    const partial = followParents(closing, ended({ status: '4', filledQuantity: dec(3) }), context())
    expect(partial.book.orders.get('E')).toMatchObject({ status: '0', orderQuantity: dec(3) })
  })

  test('is refused when it has ended or has ten ancestors, and followed when it is replaced', () => {
    const refusalOf = (part: object) =>
      submitOrder(flat, { ...buy, parent: { ...parent, ...part } }, context()).refusal
    expect(refusalOf({ status: 'C' })).toBe('parentEnded')
    expect(refusalOf({ depth: 10 })).toBe('tooManyAncestors')
    const followed = followParents(book, [{ parent, replacedBy: 'Q' }], context()).book
    expect(followed.orders.get('E')?.parent).toBe('Q')
  })
})

describe('the book as the simulation sees it', () => {
  test('what is held or ended does not work, and a closing order offers at most the position', () => {
    let { book } = submitOrder(flat, { ...buy, ...bracket }, context())
    expect(workingOrders(book)).toMatchObject([{ id: 'E', leaves: dec(10), exitOf: null }])
    book = fillOrder(book, 'E', fill(10), context()).book
    book = triggerStop({ ...book, position: dec(6) }, 'E.stopLoss')
    expect(workingOrders(book)).toMatchObject([
      { id: 'E.profitTarget', leaves: dec(6), exitOf: 'E', triggered: false },
      { id: 'E.stopLoss', leaves: dec(6), exitOf: 'E', triggered: true },
    ])
  })

  test('a replacement of a triggered stop waits for its own price', () => {
    const stop = { type: '3', stop: dec(60), limit: null, quantity: dec(10), timeInForce: '1' } as const
    const { book } = submitOrder(flat, { ...buy, ...stop }, context())
    const replaced = replaceOrder(triggerStop(book, 'E'), 'E', { newId: 'F', ...stop }, context())
    expect(workingOrders(replaced.book)).toMatchObject([{ id: 'F', triggered: false }])
  })
})

test('what has ended is forgotten, but not what live orders still refer to', () => {
  let { book } = submitOrder(flat, { ...buy, ...bracket }, context())
  book = fillOrder(book, 'E', fill(10), context()).book
  const terms = { quantity: dec(10), type: '2', timeInForce: '1', limit: dec(56), stop: null } as const
  book = replaceOrder(book, 'E.profitTarget', { newId: 'T', ...terms }, context()).book
  book = submitOrder(book, { ...buy, id: 'D' }, context()).book
  book = replaceOrder(book, 'D', { newId: 'F', ...terms }, context()).book
  const ids = (of: OrderBook) => [...withoutEnded(of).orders.keys()]
  expect(ids(book)).toEqual(['E', 'E.profitTarget', 'E.stopLoss', 'T', 'D', 'F'])
  book = cancelOrder(book, 'F', context()).book
  expect(ids(book)).toEqual(['E', 'E.profitTarget', 'E.stopLoss', 'T'])
  expect(ids(fillOrder(book, 'T', fill(10), context()).book)).toEqual([])
})

test('an owner who takes the rest of a group away after one exit was lost gets none back', () => {
  const entered = submitOrder(flat, { ...buy, ...bracket }, context()).book
  let { book } = fillOrder(entered, 'E', fill(4), context())
  book = expireOrder(book, 'E.profitTarget', context()).book
  book = cancelOrder(book, 'E.stopLoss', context()).book
  const bought = fillOrder(book, 'E', fill(2), context())
  expect(bought.alerts).toEqual([])
  expect(statuses(bought.book)).toEqual({ E: '1', 'E.profitTarget': 'C', 'E.stopLoss': '4' })
})

test('an entry at work keeps the exits that it has lost: what it still buys is protected at their prices', () => {
  const entered = submitOrder(flat, { ...buy, ...bracket }, context()).book
  let book = fillOrder(entered, 'E', fill(4), context()).book
  for (const lost of ['E.stopLoss', 'E.profitTarget']) book = expireOrder(book, lost, context()).book
  const { alerts } = fillOrder(withoutEnded(book), 'E', fill(2), context())
  expect(alerts).toEqual([{ orderId: 'E', alert: 'exitsReopened' }])
})
