/**
 * Every cell of the order table, written a second time as text and checked one by one, and what follows
 * from the precedence of statuses.
 */
import { describe, expect, test } from 'vitest'
import type { OrdStatus } from '../codes.ts'
import { dec, zero } from '../decimal.ts'
import { applyEvent } from './order.ts'
import {
  averageFillPrice,
  baseStatus,
  leavesQuantity,
  newOrder,
  type OrderEvent,
  type OrderState,
  type Outcome,
} from './order-state.ts'

// Order of 100. Columns: status; what is filled; requested total of the pending replacement; one per event.
// A cell: new status, mark, slash, status of the replacement. The bust takes out an execution of 1.
const expected = `
status | filled | total | ACK | REJECT | PART | REST | OVER | CANCEL_REQUEST | CANCEL_ACK | CANCEL_REJECT | REPLACE_REQUEST | REPLACE_ACK | REPLACE_REJECT | EXPIRE | UNSOLICITED_CANCEL | BUST_LIVE | BUST_DEAD
A held   |   0 |     | 0  | 8    | 1?  | 2?  | 2?  | 4   | -   | -  | 5/A | -   | -    | C   | 4   | -  | -
A        |   0 |     | 0  | 8    | 1   | 2   | 2+  | 6   | 4   | A~ | A!  | A~  | A~   | C   | 4   | -  | -
0        |   0 |     | 0~ | 8    | 1   | 2   | 2+  | 6   | 4   | 0~ | E/A | 0~  | 0~   | C   | 4   | -  | -
1        |   1 |     | 1~ | 4?   | 1   | 2   | 2+  | 6   | 4   | 1~ | E/A | 1~  | 1~   | C   | 4   | 0  | -
1        |  40 |     | 1~ | 4?   | 1   | 2   | 2+  | 6   | 4   | 1~ | E/A | 1~  | 1~   | C   | 4   | 1  | -
2        | 100 |     | 2~ | 2~   | 2+  | -   | 2+  | 2!  | 2~  | 2~ | 2!  | 2~  | 2~   | 2~  | 2~  | 1  | 4
2        | 105 |     | 2~ | 2~   | 2+  | -   | 2+  | 2!  | 2~  | 2~ | 2!  | 2~  | 2~   | 2~  | 2~  | 2  | 2
4        |   0 |     | 4~ | 4~   | 4^  | 2^  | 2^  | 4~  | 4~  | 4~ | 4!  | 4~  | 4~   | 4~  | 4~  | 4  | -
4        |  40 |     | 4~ | 4~   | 4^  | 2^  | 2^  | 4~  | 4~  | 4~ | 4!  | 4~  | 4~   | 4~  | 4~  | 4  | -
5        |   0 |     | 5~ | 5~   | 5^  | 5^  | 5^  | 5!  | 5~  | 5~ | 5!  | 5~  | 5~   | 5~  | 5~  | 5  | -
5        |  40 |     | 5~ | 5~   | 5^  | 5^  | 5^  | 5!  | 5~  | 5~ | 5!  | 5~  | 5~   | 5~  | 5~  | 5  | -
6 unseen |   0 |     | 6  | 8    | 6   | 6   | 6+  | 6~  | 4   | A  | 6!  | 6~  | 6~   | C   | 4   | -  | -
6        |   0 |     | 6  | 8    | 6   | 6   | 6+  | 6~  | 4   | 0  | 6!  | 6~  | 6~   | C   | 4   | -  | -
6        |  40 |     | 6  | 4?   | 6   | 6   | 6+  | 6~  | 4   | 1  | 6!  | 6~  | 6~   | C   | 4   | 6  | -
6        | 100 |     | 6  | 2?   | 6+  | -   | 6+  | 6~  | 2   | 2  | 6!  | 6~  | 6~   | 2   | 2   | 6  | -
6        |   0 | 150 | 6/A | 8/8 | 6/A | 6/A | 6+/A | 6~/A | 4/4 | E/A | 6!/A | 5/6 | 6/8 | C/4 | 4/4 | -/A | -/A
6        |  40 | 150 | 6/A | 4?/4 | 6/A | 6/A | 6+/A | 6~/A | 4/4 | E/A | 6!/A | 5/6 | 6/8 | C/4 | 4/4 | 6/A | -/A
6        | 100 |  50 | 6/A | 2?/4 | 6+/A | -/A | 6+/A | 6~/A | 2/4 | E/A | 6!/A | 5/6 | 6/8 | 2/4 | 2/4 | 6/A | -/A
8        |   0 |     | 8~ | 8~   | 1?  | 2?  | 2?  | 8!  | 8~  | 8~ | 8!  | 8~  | 8~   | 8~  | 8~  | -  | -
C        |   0 |     | C~ | C~   | C^  | 2^  | 2^  | C!  | C~  | C~ | C!  | C~  | C~   | C~  | C~  | C  | -
C        |  40 |     | C~ | C~   | C^  | 2^  | 2^  | C!  | C~  | C~ | C!  | C~  | C~   | C~  | C~  | C  | -
E        |   0 | 150 | E/A | 8/8 | E/A | E/A | E+/A | 6/A | 4/4 | E~/A | E!/A | 5/0 | 0/8 | C/4 | 4/4 | -/A | -/A
E        |  40 | 150 | E/A | 4?/4 | E/A | E/A | E+/A | 6/A | 4/4 | E~/A | E!/A | 5/1 | 1/8 | C/4 | 4/4 | E/A | -/A
E        |  40 |  30 | E/A | 4?/4 | E/A | E/A | E+/A | 6/A | 4/4 | E~/A | E!/A | 5/2 | 1/8 | C/4 | 4/4 | E/A | -/A
E        | 100 | 150 | E/A | 2?/4 | E+/A | -/A | E+/A | 6/A | 2/4 | E~/A | E!/A | 5/1 | 2/8 | 2/4 | 2/4 | E/A | -/A
E        | 100 | 100 | E/A | 2?/4 | E+/A | -/A | E+/A | 6/A | 2/4 | E~/A | E!/A | 5/2 | 2/8 | 2/4 | 2/4 | E/A | -/A
`

interface CellCase {
  name: string
  order: OrderState
  replacement: OrderState | undefined
  event: OrderEvent
  status: OrdStatus
  outcome: Outcome
  replacementStatus: OrdStatus | undefined
}

const outcomeOfMark: Record<string, Outcome> = {
  '': 'applied',
  '~': 'ignored',
  '!': 'refused',
  '?': 'anomaly',
  '+': 'overfill',
  '^': 'lateFill',
}

function eventOf(column: string, order: OrderState): OrderEvent {
  const price = dec(10)
  const left = order.orderQuantity.greaterThan(order.filledQuantity)
    ? order.orderQuantity.minus(order.filledQuantity)
    : zero
  if (column === 'PART') return { event: 'FILL', quantity: dec(1), price }
  if (column === 'REST') return { event: 'FILL', quantity: left, price }
  if (column === 'OVER') return { event: 'FILL', quantity: left.plus(5), price }
  if (column.startsWith('BUST'))
    return { event: 'BUST', quantity: dec(1), price, live: column === 'BUST_LIVE' }
  if (column === 'REPLACE_REQUEST') return { event: column, quantity: dec(120) }
  if (column === 'CANCEL_REJECT') return { event: column, unknownOrder: false }
  return { event: column } as OrderEvent
}

/** There is nothing to bust while nothing is filled. */
const cannotBeBuilt = (column: string, filled: string, cell: string): boolean =>
  column.startsWith('BUST') && filled === '0' && !cell.startsWith('-')

function readCells(): CellCase[] {
  const [header = [], ...rows] = expected
    .trim()
    .split('\n')
    .map((line) => line.split('|').map((text) => text.trim()))
  return rows.flatMap(([state = '', filled = '', total = '', ...cells]) => {
    const status = state.slice(0, 1) as OrdStatus
    const order: OrderState = {
      status,
      orderQuantity: dec(100),
      filledQuantity: dec(filled),
      filledValue: dec(filled).times(10),
      acknowledged: status !== 'A' && !state.includes('unseen'),
      held: state.includes('held'),
    }
    const replacement = total
      ? { ...order, status: 'A' as const, orderQuantity: dec(total), acknowledged: false }
      : undefined
    return cells.flatMap((cell, index) => {
      const column = header[index + 3] ?? ''
      if (cannotBeBuilt(column, filled, cell)) return []
      const [own = '', answer] = cell.split('/')
      return {
        name: `${state}, ${filled} filled${total && `, replacement of ${total}`}: ${column} gives ${cell}`,
        order,
        replacement,
        event: eventOf(column, order),
        status: own === '-' ? status : (own.slice(0, 1) as OrdStatus),
        outcome: own === '-' ? 'ignored' : (outcomeOfMark[own.slice(1)] as Outcome),
        replacementStatus: answer as OrdStatus | undefined,
      }
    })
  })
}

const cells = readCells()

describe('the order table', () => {
  test('is checked in 26 situations with 15 events, but for the bust of nothing in 4, 5 and C', () => {
    expect(cells).toHaveLength(26 * 15 - 3)
    expect(cells.every(({ outcome }) => outcome)).toBe(true)
  })

  test.each(cells)('$name', ({ order, replacement, event, status, outcome, replacementStatus }) => {
    const applied = applyEvent(order, event, replacement)
    expect([applied.order.status, applied.outcome, applied.replacement?.status]).toEqual([
      status,
      outcome,
      replacementStatus,
    ])
    if (outcome === 'ignored' || outcome === 'refused') expect(applied.order).toBe(order)
    const change = { FILL: 1, BUST: -1 }[event.event as string] ?? 0
    const moved = 'price' in event && outcome !== 'ignored' ? event.quantity.times(change) : zero
    expect(applied.order.filledQuantity.minus(order.filledQuantity)).toEqual(moved)
  })
})

const working = { ...newOrder(dec(100), false), status: '0', acknowledged: true } as const
const fill = (quantity: number, price = 10): OrderEvent => ({
  event: 'FILL',
  quantity: dec(quantity),
  price: dec(price),
})
const bust = (quantity: number, price = 10): OrderEvent => ({
  event: 'BUST',
  quantity: dec(quantity),
  price: dec(price),
  live: true,
})
const run = (order: OrderState, ...events: OrderEvent[]) =>
  events.reduce((before, event) => applyEvent(before, event).order, order)

describe('what precedence decides', () => {
  test('a fill does not end a pending cancel, its answer shows the order filled', () => {
    const pending = run(working, { event: 'CANCEL_REQUEST' }, fill(100))
    expect(pending.status).toBe('6')
    expect(run(pending, { event: 'CANCEL_ACK' }).status).toBe('2')
    expect(run(pending, { event: 'CANCEL_REJECT', unknownOrder: false }).status).toBe('2')
  })

  test('a refused cancel returns to what the fills in between say', () => {
    const refused: OrderEvent = { event: 'CANCEL_REJECT', unknownOrder: false }
    expect(run(working, { event: 'CANCEL_REQUEST' }, fill(1), refused).status).toBe('1')
    expect(run(newOrder(dec(100), false), { event: 'CANCEL_REQUEST' }, refused).status).toBe('A')
    expect(
      run(newOrder(dec(100), false), { event: 'CANCEL_REQUEST' }, { event: 'ACK' }, refused).status,
    ).toBe('0')
  })

  test('a fill proves the acknowledgement, so its bust leads to working', () => {
    expect(run(newOrder(dec(100), false), fill(10), bust(10)).status).toBe('0')
    const pending = run(newOrder(dec(100), false), { event: 'CANCEL_REQUEST' }, fill(10), bust(10))
    expect(run(pending, { event: 'CANCEL_REJECT', unknownOrder: false }).status).toBe('0')
  })

  test.each([
    ['nothing filled', [], '4'],
    ['partly filled', [fill(40)], '4'],
    ['complete', [fill(100)], '2'],
  ])('an order the venue does not know has nothing left to cancel: %s', (_, fills, status) => {
    const pending = run(working, { event: 'CANCEL_REQUEST' }, ...fills)
    expect(run(pending, { event: 'CANCEL_REJECT', unknownOrder: true }).status).toBe(status)
  })

  test('an unknown order is no news for a finished or a held one', () => {
    const unknown: OrderEvent = { event: 'CANCEL_REJECT', unknownOrder: true }
    const held = newOrder(dec(100), true)
    expect(applyEvent(held, unknown)).toEqual({ order: held, outcome: 'ignored' })
    const filled = run(working, fill(100))
    expect(applyEvent(filled, unknown)).toEqual({ order: filled, outcome: 'ignored' })
  })

  test('an order that carries on what another one executed is partially filled as soon as it works', () => {
    const carrying = { ...newOrder(dec(100), false), filledQuantity: dec(40), filledValue: dec(400) }
    expect(applyEvent(carrying, { event: 'ACK' })).toMatchObject({
      order: { status: '1' },
      outcome: 'applied',
    })
  })

  test('a released order is no longer held', () => {
    expect(run(newOrder(dec(100), true), { event: 'ACK' })).toMatchObject({ status: '0', held: false })
    expect(run(newOrder(dec(100), true), fill(1))).toMatchObject({ status: '1', held: false })
  })
})

describe('figures', () => {
  test('leaves count while the order lives, the average price weighs quantities', () => {
    const part = run(working, fill(30, 10), fill(10, 12))
    expect(leavesQuantity(part)).toEqual(dec(60))
    expect(averageFillPrice(part)).toEqual(dec('10.5'))
    const canceled = run(part, { event: 'UNSOLICITED_CANCEL' })
    expect(leavesQuantity(canceled)).toEqual(zero)
    expect(averageFillPrice(run(canceled, bust(10, 12)))).toEqual(dec(10))
  })

  test('leaves of an overfilled order are not negative, and no average exists without a fill', () => {
    expect(leavesQuantity(run(working, { event: 'CANCEL_REQUEST' }, fill(105)))).toEqual(zero)
    expect(averageFillPrice(working)).toBeUndefined()
  })

  test('the base status reads the filled quantity', () => {
    const at = (filled: number) => baseStatus({ ...working, filledQuantity: dec(filled) })
    expect([at(0), at(1), at(99), at(100), at(105)]).toEqual(['0', '1', '1', '2', '2'])
    expect(baseStatus(newOrder(dec(100), false))).toBe('A')
  })
})
