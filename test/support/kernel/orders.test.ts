/**
 * Whole stories of an order and its replacements through the kernel: what a venue and an owner can do to each
 * other, step by step. A line is one step: the event as it is sent, its outcome, and every order after it as
 * `id status filled/quantity`, with the average price where something is filled.
 */
import { describe, expect, test } from 'vitest'
import { orderOps } from './orders.ts'

interface Shown {
  status: string
  orderQuantity: number
  filledQuantity: number
  leaves: number
  avgFillPrice: number | null
}

const call = (op: string, input: unknown): unknown => orderOps[op]?.(input as never)

/** `FILL Y qty=10 px=5 execId=a`: the event, the order it names unless that is X, and its fields. */
function eventOf(text: string): Record<string, unknown> {
  const [event, ...words] = text.split(/\s+/)
  const fields = words.map((word): [string, unknown] => {
    const [name = '', value] = word.split('=')
    if (value === undefined) return ['order', name]
    return [name, /^(true|false|[\d.]+)$/.test(value) ? JSON.parse(value) : value]
  })
  return { event, ...Object.fromEntries(fields) }
}

const show = ([id, { status, filledQuantity, orderQuantity, avgFillPrice }]: [string, Shown]): string =>
  `${id} ${status} ${filledQuantity}/${orderQuantity}${avgFillPrice === null ? '' : ` @${avgFillPrice}`}`

/** Runs the events of a story and compares every step with what the story tells. */
function tell(order: { qty: number; held?: boolean }, story: string): void {
  const lines = story
    .trim()
    .split('\n')
    .map((line) => line.split('|').map((text) => text.trim()))
  const { steps } = call('order.run', {
    order: { tif: '0', ...order },
    steps: lines.map(([event = '']) => eventOf(event)),
  }) as {
    steps: { outcome: string; orders: Record<string, Shown> }[]
  }
  const told = steps.map(({ outcome, orders }, index) => [
    lines[index]?.[0],
    outcome,
    Object.entries(orders).map(show).join(', '),
  ])
  expect(told).toEqual(lines)
}

const sent = { qty: 100 }

// biome-ignore format: a story is a table
const stories: [string, { qty: number; held?: boolean }, string][] = [
  ['an order fills in two parts', sent, `
    ACK                          | applied  | X 0 0/100
    FILL qty=40 px=10 execId=a   | applied  | X 1 40/100 @10
    FILL qty=40 px=10 execId=a   | duplicate | X 1 40/100 @10
    FILL qty=60 px=11 execId=b   | applied  | X 2 100/100 @10.6
    FILL qty=5 px=10.6 execId=c  | overfill | X 2 105/100 @10.6
    CANCEL_REQUEST               | refused  | X 2 105/100 @10.6`],
  ['a fill that races a cancel completes the order', sent, `
    ACK                          | applied | X 0 0/100
    CANCEL_REQUEST               | applied | X 6 0/100
    CANCEL_REQUEST               | ignored | X 6 0/100
    FILL qty=100 px=10 execId=a  | applied | X 6 100/100 @10
    CANCEL_ACK                   | applied | X 2 100/100 @10`],
  ['late fills after a cancel are booked, the last one completes', sent, `
    ACK                          | applied  | X 0 0/100
    UNSOLICITED_CANCEL           | applied  | X 4 0/100
    FILL qty=40 px=10 execId=a   | lateFill | X 4 40/100 @10
    FILL qty=60 px=10 execId=b   | lateFill | X 2 100/100 @10
    BUST execId=b live=false     | applied  | X 4 40/100 @10
    BUST execId=a live=true      | applied  | X 4 0/100`],
  ['a rejected order fills all the same', sent, `
    REJECT                       | applied | X 8 0/100
    FILL qty=40 px=10 execId=a   | anomaly | X 1 40/100 @10
    BUST execId=a live=true      | applied | X 0 0/100`],
  ['an execution is canceled once, and its id stays known', sent, `
    FILL qty=40 px=10 execId=a   | applied   | X 1 40/100 @10
    BUST execId=b live=true      | ignored   | X 1 40/100 @10
    BUST execId=a live=true      | applied   | X 0 0/100
    BUST execId=a live=true      | ignored   | X 0 0/100
    FILL qty=40 px=10 execId=a   | duplicate | X 0 0/100`],
  ['a bust that is out of the question leaves the execution as it is', sent, `
    FILL qty=40 px=10 execId=a   | applied | X 1 40/100 @10
    BUST execId=a live=false     | ignored | X 1 40/100 @10
    BUST execId=a live=true      | applied | X 0 0/100`],
  ['a held order is released', { qty: 100, held: true }, `
    REPLACE_ACK                  | ignored | X A 0/100
    CANCEL_ACK                   | ignored | X A 0/100
    ACK                          | applied | X 0 0/100`],
  ['a held order is replaced at once, the replacement is held', { qty: 100, held: true }, `
    REPLACE_REQUEST qty=50 newId=Y   | applied | X 5 0/100, Y A 0/50
    REPLACE_REQUEST Y qty=70 newId=Z | applied | X 5 0/100, Y 5 0/50, Z A 0/70
    CANCEL_REQUEST Z                 | applied | X 5 0/100, Y 5 0/50, Z 4 0/70`],
  ['a held order that fills is an anomaly', { qty: 100, held: true }, `
    FILL qty=40 px=10 execId=a   | anomaly | X 1 40/100 @10
    FILL qty=60 px=10 execId=b   | applied | X 2 100/100 @10`],
  ['a replacement carries the totals of the chain', sent, `
    ACK                             | applied | X 0 0/100
    FILL qty=40 px=10 execId=a      | applied | X 1 40/100 @10
    REPLACE_REQUEST qty=120 newId=Y | applied | X E 40/100 @10, Y A 40/120 @10
    FILL qty=20 px=13 execId=b      | applied | X E 60/100 @11, Y A 60/120 @11
    BUST execId=a live=true         | applied | X E 20/100 @13, Y A 20/120 @13
    REPLACE_ACK                     | applied | X 5 20/100 @13, Y 1 20/120 @13
    FILL Y qty=100 px=13 execId=c   | applied | X 5 20/100 @13, Y 2 120/120 @13`],
  ['nothing filled: the confirmed replacement works', sent, `
    ACK                            | applied | X 0 0/100
    REPLACE_REQUEST qty=50 newId=Y | applied | X E 0/100, Y A 0/50
    REPLACE_ACK                    | applied | X 5 0/100, Y 0 0/50`],
  ['a total below what is filled is amended', sent, `
    FILL qty=40 px=10 execId=a     | applied | X 1 40/100 @10
    REPLACE_REQUEST qty=30 newId=Y | applied | X E 40/100 @10, Y A 40/30 @10
    REPLACE_ACK                    | applied | X 5 40/100 @10, Y 2 40/40 @10`],
  ['a fill that races the replacement never trades more than the larger total', sent, `
    ACK                             | applied | X 0 0/100
    REPLACE_REQUEST qty=150 newId=Y | applied | X E 0/100, Y A 0/150
    FILL qty=100 px=10 execId=a     | applied | X E 100/100 @10, Y A 100/150 @10
    REPLACE_ACK                     | applied | X 5 100/100 @10, Y 1 100/150 @10`],
  ['a refused replacement ends with nothing, the order goes on', sent, `
    FILL qty=40 px=10 execId=a      | applied | X 1 40/100 @10
    REPLACE_REQUEST qty=120 newId=Y | applied | X E 40/100 @10, Y A 40/120 @10
    REPLACE_REJECT                  | applied | X 1 40/100 @10, Y 8 0/120
    REPLACE_REQUEST qty=130 newId=Z | applied | X E 40/100 @10, Y 8 0/120, Z A 40/130 @10
    REPLACE_ACK                     | applied | X 5 40/100 @10, Y 8 0/120, Z 1 40/130 @10
    FILL qty=10 px=10 execId=b      | lateFill | X 5 50/100 @10, Y 8 0/120, Z 1 50/130 @10`],
  ['the order ends during the replace, the replacement with it', sent, `
    FILL qty=40 px=10 execId=a      | applied | X 1 40/100 @10
    REPLACE_REQUEST qty=120 newId=Y | applied | X E 40/100 @10, Y A 40/120 @10
    EXPIRE                          | applied | X C 40/100 @10, Y 4 0/120`],
  ['a second replace and a replace during a cancel are refused', sent, `
    REPLACE_REQUEST qty=90 newId=Y  | refused | X A 0/100
    ACK                             | applied | X 0 0/100
    REPLACE_REQUEST qty=120 newId=Y | applied | X E 0/100, Y A 0/120
    REPLACE_REQUEST qty=130 newId=Z | refused | X E 0/100, Y A 0/120
    REPLACE_REQUEST Y qty=130 newId=Z | refused | X E 0/100, Y A 0/120
    CANCEL_REQUEST                  | applied | X 6 0/100, Y A 0/120
    REPLACE_REQUEST qty=130 newId=Z | refused | X 6 0/100, Y A 0/120`],
  ['a cancel during a replace moves to the replacement', sent, `
    FILL qty=40 px=10 execId=a      | applied | X 1 40/100 @10
    REPLACE_REQUEST qty=30 newId=Y  | applied | X E 40/100 @10, Y A 40/30 @10
    CANCEL_REQUEST                  | applied | X 6 40/100 @10, Y A 40/30 @10
    FILL qty=5 px=10 execId=b       | applied | X 6 45/100 @10, Y A 45/30 @10
    REPLACE_ACK                     | applied | X 5 45/100 @10, Y 6 45/45 @10
    CANCEL_ACK Y                    | applied | X 5 45/100 @10, Y 2 45/45 @10`],
  ['a cancel during a replace is confirmed first', sent, `
    FILL qty=40 px=10 execId=a      | applied | X 1 40/100 @10
    REPLACE_REQUEST qty=120 newId=Y | applied | X E 40/100 @10, Y A 40/120 @10
    CANCEL_REQUEST                  | applied | X 6 40/100 @10, Y A 40/120 @10
    CANCEL_ACK                      | applied | X 4 40/100 @10, Y 4 0/120
    REPLACE_ACK                     | ignored | X 4 40/100 @10, Y 4 0/120`],
  ['a refused cancel during a replace goes back to the replace', sent, `
    ACK                             | applied | X 0 0/100
    REPLACE_REQUEST qty=120 newId=Y | applied | X E 0/100, Y A 0/120
    CANCEL_REQUEST                  | applied | X 6 0/100, Y A 0/120
    CANCEL_REJECT                   | applied | X E 0/100, Y A 0/120
    CANCEL_REQUEST                  | applied | X 6 0/100, Y A 0/120
    REPLACE_REJECT                  | applied | X 6 0/100, Y 8 0/120
    CANCEL_REJECT                   | applied | X 0 0/100, Y 8 0/120`],
  ['the replacement is acknowledged under its own name', sent, `
    ACK                             | applied | X 0 0/100
    REPLACE_REQUEST qty=120 newId=Y | applied | X E 0/100, Y A 0/120
    ACK Y                           | applied | X 5 0/100, Y 0 0/120
    REPLACE_ACK                     | ignored | X 5 0/100, Y 0 0/120`],
  ['a fill that names the replacement confirms it first', sent, `
    FILL qty=40 px=10 execId=a      | applied | X 1 40/100 @10
    REPLACE_REQUEST qty=50 newId=Y  | applied | X E 40/100 @10, Y A 40/50 @10
    FILL Y qty=40 px=10 execId=a    | duplicate | X E 40/100 @10, Y A 40/50 @10
    FILL Y qty=10 px=10 execId=b    | applied | X 5 40/100 @10, Y 2 50/50 @10
    BUST execId=b live=true         | applied | X 5 40/100 @10, Y 1 40/50 @10`],
  ['a fill that names the replacement during a cancel', sent, `
    ACK                             | applied | X 0 0/100
    REPLACE_REQUEST qty=50 newId=Y  | applied | X E 0/100, Y A 0/50
    CANCEL_REQUEST Y                | applied | X 6 0/100, Y A 0/50
    FILL Y qty=50 px=10 execId=b    | applied | X 5 0/100, Y 6 50/50 @10
    CANCEL_REJECT Y                 | applied | X 5 0/100, Y 2 50/50 @10`],
  ['a reject of the replacement refuses the replace', sent, `
    ACK                             | applied | X 0 0/100
    REPLACE_REQUEST qty=120 newId=Y | applied | X E 0/100, Y A 0/120
    REJECT Y                        | applied | X 0 0/100, Y 8 0/120`],
  ['news about the waiting replacement is news about the order', sent, `
    ACK                             | applied | X 0 0/100
    REPLACE_REQUEST qty=120 newId=Y | applied | X E 0/100, Y A 0/120
    BUST Y execId=none live=true    | ignored | X E 0/100, Y A 0/120
    CANCEL_REQUEST Y                | applied | X 6 0/100, Y A 0/120
    CANCEL_REJECT Y reason=1        | applied | X E 0/100, Y A 0/120
    EXPIRE Y                        | applied | X C 0/100, Y 4 0/120`],
  ['fills of a replaced order count for the last order of the chain', sent, `
    ACK                             | applied  | X 0 0/100
    REPLACE_REQUEST qty=120 newId=Y | applied  | X E 0/100, Y A 0/120
    REPLACE_ACK                     | applied  | X 5 0/100, Y 0 0/120
    REPLACE_REQUEST Y qty=90 newId=Z | applied | X 5 0/100, Y E 0/120, Z A 0/90
    FILL X qty=10 px=10 execId=a    | lateFill | X 5 10/100 @10, Y E 10/120 @10, Z A 10/90 @10
    REPLACE_ACK Y                   | applied  | X 5 10/100 @10, Y 5 10/120 @10, Z 1 10/90 @10
    FILL X qty=10 px=10 execId=b    | lateFill | X 5 20/100 @10, Y 5 10/120 @10, Z 1 20/90 @10
    CANCEL_REQUEST Z                | applied  | X 5 20/100 @10, Y 5 10/120 @10, Z 6 20/90 @10
    CANCEL_ACK Z                    | applied  | X 5 20/100 @10, Y 5 10/120 @10, Z 4 20/90 @10
    FILL X qty=70 px=10 execId=c    | lateFill | X 5 90/100 @10, Y 5 10/120 @10, Z 2 90/90 @10
    BUST X execId=c live=false      | applied  | X 5 20/100 @10, Y 5 10/120 @10, Z 4 20/90 @10
    BUST X execId=b live=false      | ignored  | X 5 20/100 @10, Y 5 10/120 @10, Z 4 20/90 @10
    BUST X execId=b live=true       | applied  | X 5 10/100 @10, Y 5 10/120 @10, Z 4 10/90 @10`],
  ['a cancel refused for an unknown order ends it', sent, `
    FILL qty=40 px=10 execId=a      | applied | X 1 40/100 @10
    REPLACE_REQUEST qty=120 newId=Y | applied | X E 40/100 @10, Y A 40/120 @10
    CANCEL_REQUEST                  | applied | X 6 40/100 @10, Y A 40/120 @10
    CANCEL_REJECT reason=1          | applied | X 4 40/100 @10, Y 4 0/120`],
  ['events about an order that does not exist, and fills of nothing, change nothing', sent, `
    ACK Q                           | ignored | X A 0/100
    FILL qty=0 px=10 execId=a       | ignored | X A 0/100
    FILL qty=1 px=10 execId=a       | applied | X 1 1/100 @10`],
]

describe('order.run', () => {
  test.each(stories)('%s', (_, order, story) => {
    tell(order, story)
  })

  test('leaves are what may still trade, and no average is shown without a fill', () => {
    const events = ['FILL qty=40 px=10 execId=a', 'CANCEL_REQUEST', 'CANCEL_ACK'].map(eventOf)
    const { steps } = call('order.run', { order: sent, steps: [{ event: 'ACK' }, ...events] }) as {
      steps: { orders: { X: Shown } }[]
    }
    expect(steps.map(({ orders }) => orders.X.leaves)).toEqual([100, 60, 60, 0])
    expect(steps[0]?.orders.X.avgFillPrice).toBeNull()
  })
})

describe('order.apply', () => {
  const apply = (order: Record<string, unknown>, event: string) =>
    call('order.apply', { order: { orderQuantity: 100, filledQuantity: 0, ...order }, event: eventOf(event) })

  test.each([
    ['a first event', { status: 'A', acknowledged: false, held: false }, 'ACK', '0', 'applied', null],
    ['a held order', { status: 'A', held: true }, 'CANCEL_REQUEST', '4', 'applied', null],
    [
      'a replace of a held order',
      { status: 'A', held: true },
      'REPLACE_REQUEST qty=120',
      '5',
      'applied',
      'A',
    ],
    [
      'a replace',
      { status: '0', acknowledged: true },
      'REPLACE_REQUEST qty=120 newId=N',
      'E',
      'applied',
      'A',
    ],
    [
      'a cancel refused before any acknowledgement',
      { status: '6', acknowledged: false },
      'CANCEL_REJECT',
      'A',
      'applied',
      null,
    ],
    ['a cancel refused after it', { status: '6', acknowledged: true }, 'CANCEL_REJECT', '0', 'applied', null],
    [
      'a cancel refused, unknown order',
      { status: '6' },
      'CANCEL_REJECT reason=unknown',
      '4',
      'applied',
      null,
    ],
    [
      'a confirmed replace',
      { status: 'E', replacement: { orderQuantity: 150, status: 'A' } },
      'REPLACE_ACK',
      '5',
      'applied',
      '0',
    ],
    [
      'a complete order, smaller total',
      { status: 'E', filledQuantity: 100, replacement: { orderQuantity: 90, status: 'A' } },
      'REPLACE_ACK',
      '5',
      'applied',
      '2',
    ],
    [
      'a cancel that outranked the replace',
      { status: '6', replacement: { orderQuantity: 90, status: 'A' } },
      'REPLACE_ACK',
      '5',
      'applied',
      '6',
    ],
    [
      'a late fill of a replaced order',
      { status: '5', replacement: { orderQuantity: 1, status: '0' } },
      'FILL qty=1 px=1 execId=a',
      '5',
      'lateFill',
      '2',
    ],
    [
      'a finished replacement that fills on',
      { status: '5', replacement: { orderQuantity: 90, status: '2' } },
      'FILL qty=1 px=1 execId=a',
      '5',
      'lateFill',
      '2',
    ],
    [
      'a refused second replace',
      { status: 'E', replacement: { orderQuantity: 90, status: 'A' } },
      'REPLACE_REQUEST qty=80',
      'E',
      'refused',
      'A',
    ],
  ])('%s', (_, order, event, status, outcome, replacementStatus) => {
    expect(apply(order, event)).toEqual({ status, outcome, replacementStatus })
  })

  test.each([
    ['FILL qty=40 px=10 execId=a', '1', 'duplicate'],
    ['FILL qty=60 px=10 execId=c', '2', 'applied'],
    ['FILL qty=61 px=10 execId=c', '2', 'overfill'],
    ['BUST execId=a live=true', '0', 'applied'],
    ['BUST execId=b live=true', '1', 'ignored'],
    ['BUST execId=c live=true', '1', 'ignored'],
    ['FILL qty=60 px=10 execId=b', '1', 'duplicate'],
  ])('with a known and a busted execution: %s', (event, status, outcome) => {
    const executions = [
      { execId: 'a', qty: 40, px: 10 },
      { execId: 'b', qty: 60, px: 10, busted: true },
    ]
    const order = { status: '1', filledQuantity: 40, executions, replacement: null }
    expect(apply(order, event)).toEqual({ status, outcome, replacementStatus: null })
  })
})
