import { describe, expect, test } from 'vitest'
import { type Given, inputOf, told } from '../../../test/support/mirror-sync-given.ts'
import { dec } from '../decimal.ts'
import { type Change, planSync, type SyncObstacles } from './mirror-sync-plan.ts'

const free: SyncObstacles = {
  ending: new Set(),
  unknown: new Set(),
  rejected: new Map(),
  refused: new Map(),
  noOpening: false,
}
const es = new Set(['ES'])
const refused = (closes: boolean) => ({ rejected: new Map([['ES', { text: 'no', closes }]]) })

/** What was refused was to rest at a price. */
const restsRefused = { rejected: new Map([['ES', { text: 'no', closes: true, rests: true }]]) }

const toBe = (change: Partial<Change>): SyncObstacles['refused'] =>
  new Map([['a', { type: '2', quantity: dec(2), limit: dec(5), stop: null, ...change }]])

const moved: Given = { signals: [{ q: 2, limit: 5 }], orders: [{ leaves: 2, limit: 4 }] }
const grown: Given = { signals: [{ q: 6, limit: 4 }], orders: [{ leaves: 2, limit: 4 }] }
const movedAndGrown: Given = { signals: [{ q: 6, limit: 5 }], orders: [{ leaves: 2, limit: 4 }] }
const shrunk: Given = { signals: [{ q: 1, limit: 4 }], orders: [{ leaves: 2, limit: 4 }] }
const exit: Given = { p: 2, a: 2, signals: [{ q: 2, stop: 5, side: '2', positionEffect: 'C' }] }
const behind: Given = { p: 2, orders: [{ leaves: 2, limit: 4 }], finished: { 1: ['2', 30] } }
const overshot: Given = { p: 2, a: -1, exclusions: new Map([['ES', 1]]) }

/** An exit of six, and beside it another one of six. */
const sixes = { q: 6, side: '2', positionEffect: 'C' } as const
const stopOrder = { leaves: 6, side: '2', positionEffect: 'C', type: '3', stop: 9 } as const
const exitGrown: Given = {
  p: 6,
  a: 6,
  signals: [{ ...sixes, stop: 9 }],
  orders: [{ ...stopOrder, leaves: 2 }],
}
const limitOrder = { leaves: 6, side: '2', positionEffect: 'C', type: '2', limit: 20 } as const
const both = [stopOrder, { ...limitOrder, clientOrderId: 'b', signalId: 2 }]
const two = (ocaGroup: string | null) => [
  { ...sixes, stop: 9, ocaGroup },
  { ...sixes, limit: 20, ocaGroup, signalId: 2 },
]
const leftAlone = (given: Given): Given => ({
  p: 6,
  signals: [{ ...sixes, stop: 9 }],
  orders: [stopOrder],
  exclusions: new Map([['ES', 1]]),
  ...given,
})

const cases: [string, Given, Partial<SyncObstacles>, string[]][] = [
  ['opens', { p: 2 }, {}, ['open ES buy 2']],
  ['waits for a cancel', { p: 2 }, { ending: es }, []],
  ['waits for a cancel to close as well', { a: 2 }, { ending: es }, []],
  ['opens nothing beside an unknown order', { p: 2 }, { unknown: es }, []],
  ['closes beside an unknown order', { a: 2 }, { unknown: es }, ['close ES sell 2']],
  ['tries nothing again that was refused', { p: 2 }, refused(false), []],
  ['nor a close', { a: 2 }, refused(true), []],
  ['closes although an opening was refused', { a: 2 }, refused(false), ['close ES sell 2']],
  ['closes at market although a resting exit was refused', { a: 2 }, restsRefused, ['close ES sell 2']],
  ['tries that exit no more', exit, restsRefused, []],
  ['changes an order', moved, {}, ['replace a 2 @5']],
  ['changes none while one is canceled', moved, { ending: es }, []],
  ['turns a copy to market', behind, {}, ['market a 2']],
  ['turns none while one is canceled', behind, { ending: es }, []],
  ['tries no refused change again', moved, { refused: toBe({}) }, []],
  ['tries one to another price', moved, { refused: toBe({ limit: dec(6) }) }, ['replace a 2 @5']],
  ['one for another quantity', moved, { refused: toBe({ quantity: dec(3) }) }, ['replace a 2 @5']],
  ['one of another type', moved, { refused: toBe({ type: '3' }) }, ['replace a 2 @5']],
  ['one to a stop', moved, { refused: toBe({ stop: dec(5) }) }, ['replace a 2 @5']],
  ['turns no copy to market again', behind, { refused: toBe({ type: '1', limit: null }) }, []],
  ['turns one whose new price was refused', behind, { refused: toBe({}) }, ['market a 2']],
  ['shrinks others all the same', moved, refused(true), ['replace a 2 @5']],
  ['opens nothing when the operator forbids it', { p: 2 }, { noOpening: true }, []],
  ['raises an order', grown, {}, ['replace a 6 @4']],
  ['raises none that opens when the operator forbids it', grown, { noOpening: true }, []],
  ['nor beside an unknown order', grown, { unknown: es }, []],
  ['moves it all the same', movedAndGrown, { noOpening: true }, ['replace a 2 @5']],
  ['and makes it smaller', shrunk, { noOpening: true }, ['replace a 1 @4']],
  ['raises one that closes', exitGrown, { noOpening: true, unknown: es }, ['replace a 6 @9']],
  ['places a missing copy', { signals: [{ q: 2, limit: 5 }] }, {}, ['place 1 buy 2']],
  ['places none while one is canceled', { signals: [{ q: 2, limit: 5 }] }, { ending: es }, []],
  ['places none that opens beside an unknown order', { signals: [{ q: 2, limit: 5 }] }, { unknown: es }, []],
  ['nor when the operator forbids it', { signals: [{ q: 2, limit: 5 }] }, { noOpening: true }, []],
  ['places one that closes all the same', exit, { noOpening: true, unknown: es }, ['place 1 sell 2']],
  ['leaves an excluded symbol alone', { p: 2, exclusions: new Map([['ES', 1]]) }, {}, []],
  ['leaves what it still holds there alone', { p: 2, a: 1, exclusions: new Map([['ES', 1]]) }, {}, []],
  ['cuts an exit there to what is held', leftAlone({ a: 2 }), {}, ['replace a 2 @9']],
  ['not to more', leftAlone({ a: 7 }), {}, []],
  [
    "to what the holder's own leave of it",
    leftAlone({
      orders: [stopOrder, { ...stopOrder, clientOrderId: 'b', signalId: null, leaves: 4, care: 'byHand' }],
      a: 6,
    }),
    {},
    ['replace a 2 @9'],
  ],
  ['not while AutoSync is off', leftAlone({ a: 2, isSyncEnabled: false }), {}, []],
  [
    'not when that was refused',
    leftAlone({ a: 2 }),
    { refused: toBe({ type: '3', limit: null, stop: dec(9) }) },
    [],
  ],
  [
    'cuts a younger exit first',
    leftAlone({ p: 12, a: 7, signals: two(null), orders: both }),
    {},
    ['replace b 1 @20'],
  ],
  [
    'cancels one for which nothing is left',
    leftAlone({ a: 2, signals: two(null), orders: both }),
    {},
    ['cancel b', 'replace a 2 @9'],
  ],
  [
    'also one that its owner left room for',
    leftAlone({
      p: 6,
      a: 6,
      orders: both,
      signals: [
        { ...sixes, q: 2, stop: 9 },
        { ...sixes, q: 4, limit: 20, signalId: 2 },
      ],
    }),
    {},
    ['cancel b'],
  ],
  [
    'counts a group once',
    leftAlone({ a: 2, signals: two('g'), orders: both }),
    {},
    ['replace a 2 @9', 'replace b 2 @20'],
  ],
  ['cuts none that has ended', leftAlone({ a: 2, orders: [{ ...stopOrder, leaves: 0 }] }), {}, []],
  [
    'cuts one once when its symbol is followed again',
    leftAlone({ a: 2, exclusions: new Map([['ES', -1]]) }),
    {},
    ['replace a 2 @9', 'open ES buy 4'],
  ],
  [
    'counts one that is canceled no more',
    leftAlone({
      a: 2,
      orders: [{ ...stopOrder, clientOrderId: 'b', signalId: 2 }, stopOrder],
      finished: { 2: ['4', 1] },
    }),
    {},
    ['cancel b', 'replace a 2 @9'],
  ],
  [
    'nor one of another symbol',
    leftAlone({
      p: { ES: 6, NQ: 6 },
      a: { ES: 2, NQ: 6 },
      signals: [
        { ...sixes, stop: 9 },
        { ...sixes, stop: 9, signalId: 2, symbol: 'NQ' },
      ],
      orders: [{ ...stopOrder, clientOrderId: 'b', signalId: 2, symbol: 'NQ' }, stopOrder],
    }),
    {},
    ['replace a 2 @9'],
  ],
  [
    "and never the holder's own",
    leftAlone({ a: 2, orders: [{ ...stopOrder, signalId: null, care: 'byHand' }] }),
    {},
    [],
  ],
  [
    'cuts no entry that an overshoot stands against',
    { ...overshot, signals: [{ q: 2, limit: 5 }], orders: [{ leaves: 2, limit: 5 }] },
    {},
    ['close ES buy 1'],
  ],
  ['closes what overshot a stop', overshot, {}, ['close ES buy 1']],
  ['the same of a short', { p: -2, a: 1, exclusions: new Map([['ES', -1]]) }, {}, ['close ES sell 1']],
  ['not while an order is canceled', overshot, { ending: es }, []],
  ['not when it was refused', overshot, refused(true), []],
  [
    'closes once what is no longer excluded',
    { p: -2, a: 1, exclusions: new Map([['ES', 1]]) },
    {},
    ['close ES sell 1'],
  ],
  [
    'closes it whatever else is at work',
    {
      ...overshot,
      orders: [
        { symbol: 'NQ', leaves: 1 },
        { clientOrderId: 'b', side: '2', leaves: 1 },
        { clientOrderId: 'c', leaves: 0 },
      ],
    },
    {},
    ['cancel b', 'cancel a', 'close ES buy 1'],
  ],
  [
    'closes it once',
    {
      p: 2,
      a: -1,
      exclusions: new Map([['ES', 1]]),
      orders: [{ signalId: null, positionEffect: 'C', side: '1', leaves: 1 }],
    },
    {},
    [],
  ],
  [
    'closes it although a stop guards it',
    {
      p: 2,
      a: -1,
      exclusions: new Map([['ES', 1]]),
      orders: [
        { signalId: null, positionEffect: 'C', side: '1', type: '3', stop: 9, leaves: 1, care: 'guard' },
      ],
    },
    {},
    ['close ES buy 1'],
  ],
  [
    'closes nothing while AutoSync is off',
    { p: 2, a: -1, exclusions: new Map([['ES', 1]]), isSyncEnabled: false },
    {},
    [],
  ],
]

describe('a cycle', () => {
  test.each(cases)('%s', (_, given, obstacles, actions) => {
    expect(told({ ...planSync(inputOf(given), { ...free, ...obstacles }), report: [] })).toEqual(actions)
  })

  test.each([
    [{ p: 2 }, {}, 'Opening', null],
    [{ p: 2 }, { ending: es }, 'OrderPending', null],
    [{ p: 2 }, refused(true), 'Opening', 'no'],
    [{ p: 2, a: 2 }, refused(true), null, null],
    [{ p: 2, isSyncEnabled: false }, { ending: es }, 'SyncDisabled', null],
    [{ p: 2, a: 2 }, { ending: es }, null, null],
    [{ p: 2 }, { unknown: es }, 'OrderPending', null],
    [{ a: 2 }, { unknown: es }, 'Reducing', null],
  ] as [Given, Partial<SyncObstacles>, string | null, string | null][])(
    'says why: %j',
    (given, obstacles, reason, text) => {
      expect(planSync(inputOf(given), { ...free, ...obstacles }).report).toMatchObject([{ reason, text }])
    },
  )

  test.each([
    [{ p: 2 }, {}, false],
    [{ p: 2 }, refused(false), true],
    [{ p: 2 }, { ...refused(true), unknown: es }, false],
    [{ a: 2 }, refused(false), false],
    [{ a: 2 }, refused(true), true],
    [{ a: 2 }, restsRefused, false],
    [{ p: 2, a: -2 }, refused(true), true],
    [{ p: 2, isSyncEnabled: false }, refused(true), false],
  ] as [Given, Partial<SyncObstacles>, boolean][])(
    'leaves what was refused: %j %j',
    (given, obstacles, isLeft) => {
      expect(planSync(inputOf(given), { ...free, ...obstacles }).report).toMatchObject([{ isLeft }])
    },
  )
})
