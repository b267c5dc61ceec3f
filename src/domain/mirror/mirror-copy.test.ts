import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { PositionEffect, Side } from '../codes.ts'
import { dec } from '../decimal.ts'
import { accountBase, clampClosing, copyQuantity, strategyBase } from './mirror-copy.ts'
import { type MirrorSettings, unlimited } from './mirror-target.ts'

const settings: MirrorSettings = { ...unlimited, scalingPercentage: dec(100) }

type Given = {
  base: number
  held?: number
  side: Side
  open: PositionEffect
  q: number
  executed?: number
  entryExecuted?: number
  entryKept?: number
  percent?: number
  with?: Partial<MirrorSettings>
}

function copyOf(given: Given) {
  const copy = copyQuantity({
    side: given.side,
    positionEffect: given.open,
    remaining: dec(given.q),
    executed: dec(given.executed ?? 0),
    strategyBase: dec(given.base),
    sizing: {
      assetClass: 'FUT',
      held: dec(given.held ?? 0),
      referencePrice: null,
      settings: { ...settings, scalingPercentage: dec(given.percent ?? 100), ...given.with },
    },
    entryExecuted: given.entryExecuted === undefined ? null : dec(given.entryExecuted),
    entryKept: dec(given.entryKept ?? 0),
  })
  return [copy.total.toNumber() + 0, copy.leaves.toNumber() + 0, copy.reason]
}

// biome-ignore format: one case per line
const cases: readonly (readonly [string, Given, number, number, string | null])[] = [
  ['150 %: 6 gives 9', { base: 0, side: '1', open: 'O', q: 6, percent: 150 }, 9, 9, null],
  ['150 %: 3 more give 4', { base: 6, held: 9, side: '1', open: 'O', q: 3, percent: 150 }, 4, 4, null],
  ['33 %: 10 give 3', { base: 0, side: '1', open: 'O', q: 10, percent: 33 }, 3, 3, null],
  ['33 %: selling 5 of 10 sells 2 of 3', { base: 10, held: 3, side: '2', open: 'C', q: 5, percent: 33 }, 2, 2, null],
  ['50 %, at most 1: 6 give 1', { base: 0, side: '1', open: 'O', q: 6, percent: 50, with: { maximum: dec(1) } }, 1, 1, 'CappedToMaximum'],
  ['50 %, at most 1: selling 3 gives nothing', { base: 6, held: 1, side: '2', open: 'C', q: 3, percent: 50, with: { maximum: dec(1) } }, 0, 0, null],
  ['an opening short', { base: 0, side: '2', open: 'O', q: 6, percent: 50 }, 3, 3, null],
  ['what was executed is not bought again', { base: 0, side: '1', open: 'O', q: 10, executed: 4 }, 10, 6, null],
  ['an overfilled copy wants nothing', { base: 0, side: '1', open: 'O', q: 10, executed: 12 }, 10, 0, null],
  ['no rise: 11 at 33 % are still 3', { base: 10, held: 3, side: '1', open: 'O', q: 1, percent: 33 }, 0, 0, null],
  ['against the position only what is beyond it opens', { base: -4, side: '1', open: 'O', q: 10 }, 6, 6, null],
  ['nothing, where it ends on the other side still', { base: -10, side: '1', open: 'O', q: 4 }, 0, 0, null],
  ['a permission withdrawn while it works', { base: 0, side: '1', open: 'O', q: 10, executed: 4, with: { long: false } }, 0, 0, 'LongNotAllowed'],
  ['no permission, though more is held than the strategy says', { base: 0, held: 5, side: '1', open: 'O', q: 10, with: { enabled: false } }, 5, 0, 'AssetClassDisabled'],
  ['flattening sells everything held', { base: 10, held: 7, side: '2', open: 'C', q: 10 }, 7, 7, null],
  ['so does a quantity beyond the position', { base: 10, held: 7, side: '2', open: 'C', q: 12 }, 7, 7, null],
  ['a short is bought back', { base: -10, held: -5, side: '1', open: 'C', q: 4, percent: 50 }, 2, 2, null],
  ['nothing held', { base: 10, side: '2', open: 'C', q: 10 }, 0, 0, null],
  ['held on the other side', { base: 10, held: -5, side: '2', open: 'C', q: 10 }, 0, 0, null],
  ['closing needs no permission', { base: 10, held: 10, side: '2', open: 'C', q: 10, with: { enabled: false, long: false } }, 10, 10, null],
  ['a partial close keeps the size without permissions', { base: 10, held: 10, side: '2', open: 'C', q: 4, with: { closingOrdersOnly: true } }, 4, 4, null],
  ['less held than remains: nothing to sell', { base: 10, held: 3, side: '2', open: 'C', q: 5 }, 0, 0, null],
  ['an overfilled close wants nothing', { base: 10, held: 10, side: '2', open: 'C', q: 5, executed: 7 }, 5, 0, null],
  ['a partly executed close', { base: 10, held: 10, side: '2', open: 'C', q: 10, executed: 4 }, 10, 6, null],
  ['an exit of an entry that both still work', { base: 0, side: '2', open: 'C', q: 4, entryExecuted: 2 }, 2, 2, null],
  ['one that its owner made smaller', { base: 4, held: 4, side: '2', open: 'C', q: 2, entryExecuted: 4, entryKept: 2 }, 2, 2, null],
  ['the same at half the size', { base: 4, held: 2, side: '2', open: 'C', q: 2, percent: 50, entryExecuted: 2, entryKept: 2 }, 1, 1, null],
  ['less kept than makes one: all is covered', { base: 4, held: 2, side: '2', open: 'C', q: 3, percent: 50, entryExecuted: 2, entryKept: 1 }, 2, 2, 'RoundedToZero'],
  ['one of a short, made smaller', { base: -4, held: -4, side: '1', open: 'C', q: 1, entryExecuted: 4, entryKept: 3 }, 1, 1, null],
  ['more kept than this account has filled', { base: 0, held: 0, side: '2', open: 'C', q: 1, entryExecuted: 2, entryKept: 3 }, 0, 0, null],
]

describe('copy quantity', () => {
  test.each(cases)('%s', (_name, given, total, leaves, reason) => {
    expect(copyOf(given)).toEqual([total, leaves, reason])
  })
})

describe('bases', () => {
  test('take away what the live signals and their copies did since', () => {
    const copies = [
      { side: '1', filled: dec(6), filledBefore: dec(2), executed: dec(1) },
      { side: '2', filled: dec(3), filledBefore: dec(0), executed: dec(5) },
    ] as const
    expect(strategyBase(dec(20), copies).toNumber()).toBe(19)
    expect(accountBase(dec(10), copies).toNumber()).toBe(14)
  })

  test('a copy wants the same total however far signal and copy have come', () => {
    fc.assert(
      fc.property(
        fc.record({
          base: fc.nat(50),
          q: fc.integer({ min: 1, max: 50 }),
          percent: fc.integer({ min: 1, max: 400 }),
          held: fc.nat(100),
          filled: fc.nat(50),
          executed: fc.nat(200),
          open: fc.constantFrom<PositionEffect>('O', 'C'),
        }),
        ({ base, q, percent, held, open, ...progress }) => {
          const side = open === 'O' ? '1' : '2'
          const filled = dec(Math.min(progress.filled, q))
          const direction = side === '1' ? 1 : -1
          const copies = [{ side, filled, filledBefore: dec(0), executed: dec(progress.executed) }] as const
          const fresh = copyOf({ base, held, side, open, q, percent })
          const later = copyOf({
            base: strategyBase(filled.times(direction).plus(base), copies).toNumber(),
            held: accountBase(dec(held + progress.executed * direction), copies).toNumber(),
            side,
            open,
            q,
            percent,
            executed: progress.executed,
          })
          expect(later[0]).toBe(fresh[0])
        },
      ),
    )
  })

  test('steps in and out end flat', () => {
    const steps = fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1, maxLength: 6 })
    fc.assert(
      fc.property(
        steps,
        fc.array(fc.integer({ min: 1, max: 30 }), { maxLength: 6 }),
        fc.integer({ min: 1, max: 1000 }),
        fc.nat(4),
        fc.nat(20),
        (opens, closes, percent, minimum, maximum) => {
          const limits = { minimum: dec(minimum), maximum: dec(maximum) }
          let position = 0
          let held = 0
          const trade = (side: Side, open: PositionEffect, q: number) => {
            const [, leaves] = copyOf({ base: position, held, side, open, q, percent, with: limits })
            position += side === '1' ? q : -q
            held += (side === '1' ? 1 : -1) * Number(leaves)
          }
          for (const q of opens) trade('1', 'O', q)
          for (const q of closes) if (q < position) trade('2', 'C', q)
          expect(held).toBeGreaterThanOrEqual(0)
          trade('2', 'C', position)
          expect(held).toBe(0)
        },
      ),
    )
  })
})

describe('closing copies together', () => {
  const clamped = (held: number, ...copies: [string | null, number][]) =>
    clampClosing(
      copies.map(([ocaGroup, leaves]) => ({ ocaGroup, leaves: dec(leaves) })),
      dec(held),
    ).map((leaves) => leaves.toNumber())

  test.each([
    [
      'the younger shrinks',
      10,
      [
        [null, 7],
        [null, 7],
      ],
      [7, 3],
    ],
    [
      'a stop and a target protect the same',
      10,
      [
        ['a', 10],
        ['a', 10],
      ],
      [10, 10],
    ],
    [
      'a group counts by its largest',
      10,
      [
        ['a', 4],
        ['a', 9],
        [null, 5],
      ],
      [4, 9, 1],
    ],
    [
      'a group after another order',
      10,
      [
        [null, 6],
        ['a', 10],
        ['a', 3],
      ],
      [6, 4, 3],
    ],
    [
      'two groups',
      10,
      [
        ['a', 6],
        ['b', 6],
        ['a', 6],
        ['b', 5],
      ],
      [6, 4, 6, 4],
    ],
    [
      'nothing held',
      0,
      [
        [null, 1],
        ['a', 1],
      ],
      [0, 0],
    ],
  ] as [string, number, [string | null, number][], number[]][])('%s', (_name, held, copies, leaves) => {
    expect(clamped(held, ...copies)).toEqual(leaves)
  })
})
