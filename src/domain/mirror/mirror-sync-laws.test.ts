import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { inputOf, order, told } from '../../../test/support/mirror-sync-given.ts'
import type { OrdType, PositionEffect, Side } from '../codes.ts'
import { dec } from '../decimal.ts'
import { actsAgainst } from '../positions/open-close.ts'
import { autoSync, type SyncPlan } from './mirror-sync.ts'
import type { SyncInput, SyncOrder } from './mirror-sync-state.ts'

const quantity = fc.integer({ min: -12, max: 12 })
const signals = fc.record({
  signalId: fc.constantFrom(1, 2, 3),
  side: fc.constantFrom<Side>('1', '2'),
  positionEffect: fc.constantFrom<PositionEffect>('O', 'C'),
  type: fc.constantFrom<OrdType>('1', '2'),
  q: fc.integer({ min: 1, max: 12 }),
  f: fc.integer({ min: 0, max: 12 }),
  limit: fc.constant(100),
  ocaGroup: fc.constantFrom(null, 'g'),
})
const orders = fc.record({
  signalId: fc.constantFrom(1, 2, 3, 4, 5, null),
  side: fc.constantFrom<Side>('1', '2'),
  positionEffect: fc.constantFrom<PositionEffect>('O', 'C'),
  leaves: fc.integer({ min: 0, max: 12 }),
  e: fc.integer({ min: 0, max: 6 }),
  limit: fc.constantFrom(99, 100),
})
const states = fc.record({
  p: quantity,
  a: quantity,
  signals: fc.uniqueArray(signals, { maxLength: 3, selector: ({ signalId }) => signalId }),
  orders: fc.uniqueArray(orders, { maxLength: 4, selector: ({ signalId }) => signalId }),
  percent: fc.integer({ min: 20, max: 300 }),
  long: fc.boolean(),
  maximum: fc.option(fc.integer({ min: 0, max: 9 })),
})

type State = typeof states extends fc.Arbitrary<infer T> ? T : never

function stateOf({ percent, long, maximum, ...given }: State): SyncInput {
  const live = new Map<number, { side: Side; positionEffect: PositionEffect }>(
    given.signals.map((read) => [read.signalId, read]),
  )
  const followed = given.orders.map((read, index) => {
    const { side, positionEffect } = (read.signalId === null ? undefined : live.get(read.signalId)) ?? read
    return {
      ...read,
      side,
      positionEffect,
      clientOrderId: `o${index}`,
      type: read.signalId === null ? '1' : '2',
    } as const
  })
  return inputOf({
    ...given,
    signals: given.signals.map((read) => ({ ...read, f: Math.min(read.f, read.q) })),
    orders: followed,
    finished: { 4: ['2', 30], 5: ['2', 10] },
    settings: { scalingPercentage: dec(percent), long, maximum: maximum === null ? null : dec(maximum) },
  })
}

/** A close in its grace that would open what the copy of another signal, still to be placed, opens. */
const closesBesideAnOpening: State = {
  p: -1,
  a: 0,
  percent: 100,
  long: false,
  maximum: null,
  signals: [
    { signalId: 1, side: '2', positionEffect: 'O', type: '1', q: 1, f: 0, limit: 100, ocaGroup: null },
  ],
  orders: [{ signalId: 5, side: '2', positionEffect: 'C', leaves: 1, e: 0, limit: 99 }],
}

let placed = 0

/** The account once the broker has taken the actions over; nothing has filled yet. */
function taken(input: SyncInput, { actions }: SyncPlan): SyncInput {
  const changed = input.orders.map((read): SyncOrder => {
    const { clientOrderId: id } = read
    const turned = actions.toMarket.find(({ clientOrderId }) => clientOrderId === id)
    const replaced = actions.replace.find(({ clientOrderId }) => clientOrderId === id)
    if (actions.cancel.includes(id)) return { ...read, leaves: dec(0) }
    if (turned) return { ...read, type: '1', leaves: turned.quantity, limit: null }
    return replaced
      ? { ...read, leaves: replaced.quantity, limit: replaced.limit, stop: replaced.stop }
      : read
  })
  const fresh = (rest: Partial<SyncOrder>): SyncOrder => ({
    ...order({ leaves: 0 }),
    ...rest,
    clientOrderId: `n${placed++}`,
  })
  const { place, close, open: opens } = actions
  return {
    ...input,
    orders: [
      ...changed,
      ...place.map(
        ({ signal: { signalId, side, positionEffect, type, filled, limit, stop }, quantity: leaves }) => {
          const shown = type === '1' ? null : limit
          return fresh({
            signalId,
            side,
            positionEffect,
            type,
            leaves,
            filledBefore: filled,
            limit: shown,
            stop,
          })
        },
      ),
      ...close.map(({ side, quantity: leaves }) =>
        fresh({ signalId: null, side, positionEffect: 'C', leaves }),
      ),
      ...opens.map(({ side, quantity: leaves }) =>
        fresh({ signalId: null, side, positionEffect: 'O', leaves }),
      ),
    ],
  }
}

/** Every working order fills at once. */
function filled(input: SyncInput): SyncInput {
  const traded = input.orders.reduce(
    (sum, { side, leaves }) => sum.plus(leaves.times(side === '1' ? 1 : -1)),
    dec(0),
  )
  const held = input.accountPositions.get('ES') ?? dec(0)
  return {
    ...input,
    accountPositions: new Map([['ES', held.plus(traded)]]),
    orders: input.orders.map((read) => ({
      ...read,
      executed: read.executed.plus(read.leaves),
      leaves: dec(0),
    })),
  }
}

const isQuiet = (plan: SyncPlan): boolean => told(plan).length === 0

describe('laws of AutoSync', () => {
  test('applied twice without news the second run does nothing', () => {
    fc.assert(
      fc.property(states, (given) => {
        const input = stateOf(given)
        const first = autoSync(input)
        const second = autoSync(taken(input, first))
        if (first.actions.cancel.length === 0) expect(told(second)).toEqual([])
        const third = autoSync(taken(taken(input, first), second))
        const fourth = autoSync(taken(taken(taken(input, first), second), third))
        expect([told(third), told(fourth)].at(second.actions.cancel.length === 0 ? 0 : 1)).toEqual([])
      }),
      { numRuns: 2000, examples: [[closesBesideAnOpening]] },
    )
  })

  test('closing orders together never exceed what is held', () => {
    fc.assert(
      fc.property(states, (given) => {
        const input = stateOf({ ...given, orders: [] })
        const held = input.accountPositions.get('ES')!
        const reached = taken(input, autoSync(input)).orders.filter(
          ({ positionEffect }) => positionEffect === 'C',
        )
        const group = reached.filter(({ signalId }) =>
          given.signals.some((one) => one.signalId === signalId && one.ocaGroup),
        )
        const largest = group.reduce((most, { leaves }) => Math.max(most, leaves.toNumber()), 0)
        const alone = reached.filter((one) => !group.includes(one))
        const total = alone.reduce((sum, { leaves }) => sum + leaves.toNumber(), largest)
        expect(total).toBeLessThanOrEqual(held.abs().toNumber())
        for (const { side } of reached) expect(held.times(side === '1' ? -1 : 1).greaterThan(0)).toBe(true)
      }),
      { numRuns: 2000 },
    )
  })

  test('no closing copy is left at work where it would increase what is held', () => {
    fc.assert(
      fc.property(states, (given) => {
        const input = stateOf(given)
        const held = input.accountPositions.get('ES')!
        const live = new Set(given.signals.map(({ signalId }) => signalId as number | string | null))
        const closing = taken(input, autoSync(input)).orders.filter(
          ({ signalId, positionEffect, leaves }) =>
            live.has(signalId) && positionEffect === 'C' && !leaves.isZero(),
        )
        for (const { side } of closing) expect(actsAgainst(side, held)).toBe(true)
      }),
      { numRuns: 2000 },
    )
  })

  test('with every permission and every order filled the account reaches its size', () => {
    fc.assert(
      fc.property(states, (given) => {
        let input: SyncInput = { ...stateOf({ ...given, long: true, signals: [] }) }
        for (let cycle = 0; cycle < 6; cycle += 1) {
          const plan = autoSync(input)
          if (cycle === 5) expect([isQuiet(plan), plan.report[0]?.inSync]).toEqual([true, true])
          input = filled(taken(input, plan))
        }
      }),
      { numRuns: 1000 },
    )
  })
})
