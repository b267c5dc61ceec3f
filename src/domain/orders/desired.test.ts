import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Decimal, dec, min, zero } from '../decimal.ts'
import { decideOpenClose } from '../positions/open-close.ts'
import { type DesiredPlan, type DesiredRequest, planDesired, type WorkingOrder } from './desired.ts'

type Order = WorkingOrder<string>

const positionsOf = (text: string): [string, Decimal][] =>
  text
    .split(' ')
    .filter((word) => word !== '')
    .map((word) => {
      const [symbol = '', quantity = ''] = word.split('=')
      return [symbol, dec(quantity)]
    })

/** `x A sell 50 C`, `y A buy 10 O with x`, `z A buy 5 O desired`. */
function orderOf(text: string): Order {
  const [signalId = '', symbol = '', side, leaves = '', positionEffect, ...rest] = text.trim().split(' ')
  return {
    signalId,
    symbol,
    side: side === 'buy' ? '1' : '2',
    leaves: dec(leaves),
    positionEffect: positionEffect === 'C' ? 'C' : 'O',
    diesWith: rest[0] === 'with' ? (rest[1] ?? null) : null,
    fromDesired: rest.includes('desired'),
  }
}

const requestOf = (current: string, working: string, desired: string): DesiredRequest<string> => ({
  current: new Map(positionsOf(current)),
  working: working === '' ? [] : working.split(';').map(orderOf),
  desired: positionsOf(desired).map(([symbol, quantity]) => ({ symbol, quantity })),
  zeroMeansFlat: false,
})

function told(plan: DesiredPlan<string>): string {
  const orders = plan.newOrders.map(
    ({ symbol, side, quantity, positionEffect, conditional }) =>
      `${conditional ? 'then ' : ''}${side === '1' ? 'buy' : 'sell'} ${quantity} ${symbol} ${positionEffect}`,
  )
  const cuts = plan.reduced.map(({ signalId, leaves }) => `cut ${signalId} to ${leaves}`)
  return [...orders, ...plan.canceled.map((id) => `cancel ${id}`), ...cuts].join(', ')
}

const planned = (request: DesiredRequest<string>): DesiredPlan<string> => {
  const plan = planDesired(request)
  if (typeof plan === 'string') throw new Error(plan)
  return plan
}

// Current positions, working orders, desired positions; the plan.
type Case = [name: string, current: string, working: string, desired: string, plan: string]

describe('orders from positions', () => {
  test.each<Case>([
    ['what is held stays', 'A=10', '', 'A=10', ''],
    ['more of a long', 'A=10', '', 'A=15', 'buy 5 A O'],
    ['less of a long', 'A=10', '', 'A=4', 'sell 6 A C'],
    ['more of a short', 'A=-10', '', 'A=-15', 'sell 5 A O'],
    ['less of a short', 'A=-10', '', 'A=-4', 'buy 6 A C'],
    ['a new long', '', '', 'A=5', 'buy 5 A O'],
    ['a new short', '', '', 'A=-5', 'sell 5 A O'],
    ['from long to short', 'A=10', '', 'A=-4', 'sell 10 A C, then sell 4 A O'],
    ['from short to long', 'A=-10', '', 'A=25', 'buy 10 A C, then buy 25 A O'],
    ['absent is closed', 'A=10', '', '', 'sell 10 A C'],
    ['an empty list closes everything', 'A=10 B=-3', '', '', 'sell 10 A C, buy 3 B C'],
    [
      'in the order of the request, then of what is held',
      'C=1 A=10 B=-3',
      '',
      'D=1 B=-4',
      'buy 1 D O, sell 1 B O, sell 1 C C, sell 10 A C',
    ],
    ['fractions', 'A=1.5', '', 'A=1.75', 'buy 0.25 A O'],
  ])('%s', (_, current, working, desired, plan) => {
    expect(told(planned(requestOf(current, working, desired)))).toBe(plan)
  })
})

const exits = 'e A buy 5 O; s A sell 10 C; t A sell 10 C'

describe('orders that work', () => {
  test.each<Case>([
    ['of an unchanged symbol stay', 'A=10', exits, 'A=10', ''],
    [
      'of a symbol that is closed are canceled',
      'A=10',
      exits,
      '',
      'sell 10 A C, cancel e, cancel s, cancel t',
    ],
    [
      'of a symbol that changes side are canceled',
      'A=10',
      exits,
      'A=-1',
      'sell 10 A C, then sell 1 A O, cancel e, cancel s, cancel t',
    ],
    ['of a symbol that was not held and is absent are canceled', '', 'e B buy 5 O', '', 'cancel e'],
    [
      'of a symbol that is taken anew are canceled',
      '',
      'e A buy 5 O; s A sell 5 C with e',
      'A=3',
      'buy 3 A O, cancel e, cancel s',
    ],
    [
      'of another symbol stay, with what depends on them',
      'A=10 B=5',
      'e A buy 5 O; x B buy 5 O; y B sell 5 C with x',
      'A=12 B=5',
      'buy 2 A O, cancel e',
    ],
    [
      'of an earlier call that lead both ways are canceled',
      'A=10',
      'u A buy 5 O desired; v A sell 2 C desired',
      'A=15',
      'buy 5 A O, cancel u, cancel v',
    ],
    ['more: entries go, exits stay', 'A=10', exits, 'A=12', 'buy 2 A O, cancel e'],
    [
      'less: exits are cut to the new size',
      'A=10',
      exits,
      'A=4',
      'sell 6 A C, cancel e, cut s to 4, cut t to 4',
    ],
    [
      'less: exits that fit stay as they are',
      'A=10',
      's A sell 4 C; t A sell 5 C',
      'A=4',
      'sell 6 A C, cut t to 4',
    ],
    ['less of a short', 'A=-10', 'e A sell 5 O; s A buy 10 C', 'A=-4', 'buy 6 A C, cancel e, cut s to 4'],
    [
      'exits of an entry that goes untraded go with it',
      'A=10',
      'e A buy 5 O; s A sell 5 C with e',
      'A=8',
      'sell 2 A C, cancel e, cancel s',
    ],
    [
      'and are not cut before',
      'A=10',
      'e A buy 5 O; s A sell 9 C with e',
      'A=8',
      'sell 2 A C, cancel e, cancel s',
    ],
    [
      'and whatever hangs on those',
      'A=10 B=1',
      'z B buy 1 O with s; e A buy 5 O; s A sell 5 C with e',
      'A=8 B=1',
      'sell 2 A C, cancel z, cancel e, cancel s',
    ],
  ])('%s', (_, current, working, desired, plan) => {
    expect(told(planned(requestOf(current, working, desired)))).toBe(plan)
  })
})

describe('orders of an earlier call that still wait', () => {
  test.each<Case>([
    ['an entry', '', 'a A buy 10 O desired', 'A=10', ''],
    ['the rest of an entry', 'A=4', 'a A buy 6 O desired', 'A=10', ''],
    ['a close', 'A=10', 'a A sell 10 C desired', '', ''],
    ['a reduction', 'A=10', 'a A sell 4 C desired', 'A=6', ''],
    ['a reversal', 'A=10', 'a A sell 10 C desired; b A sell 5 O desired', 'A=-5', ''],
    ['a reversal half done', '', 'b A sell 5 O desired', 'A=-5', ''],
    [
      'an absent symbol keeps its close and loses what came since',
      'A=10',
      'a A sell 10 C desired; e A buy 5 O',
      '',
      'cancel e',
    ],
    ['a larger wish adds', '', 'a A buy 10 O desired', 'A=15', 'buy 5 A O'],
    ['a smaller one starts over', '', 'a A buy 10 O desired', 'A=6', 'buy 6 A O, cancel a'],
    ['none at all cancels', '', 'a A buy 10 O desired', '', 'cancel a'],
    ['the other side starts over', '', 'a A buy 10 O desired', 'A=-6', 'sell 6 A O, cancel a'],
    [
      'a further reduction adds',
      'A=10',
      'a A sell 4 C desired; s A sell 10 C',
      'A=2',
      'sell 4 A C, cut s to 2',
    ],
    ['a smaller reduction starts over', 'A=10', 'a A sell 4 C desired', 'A=8', 'sell 2 A C, cancel a'],
    ['no reduction after all', 'A=10', 'a A sell 4 C desired', 'A=10', 'cancel a'],
    [
      'a close that becomes a reversal starts over',
      'A=10',
      'a A sell 10 C desired',
      'A=-5',
      'sell 10 A C, then sell 5 A O, cancel a',
    ],
    [
      'a reversal that becomes a close',
      'A=10',
      'a A sell 10 C desired; b A sell 5 O desired',
      '',
      'sell 10 A C, cancel a, cancel b',
    ],
    [
      'a larger reversal starts over',
      'A=10',
      'a A sell 10 C desired; b A sell 5 O desired',
      'A=-7',
      'sell 10 A C, then sell 7 A O, cancel a, cancel b',
    ],
  ])('%s', (_, current, working, desired, plan) => {
    expect(told(planned(requestOf(current, working, desired)))).toBe(plan)
  })
})

describe('refusals', () => {
  const refuse = (desired: string, zeroMeansFlat = false) =>
    planDesired({ ...requestOf('A=10', 'e A buy 5 O', desired), zeroMeansFlat })

  test('a quantity of nothing, unless it means "no position"', () => {
    expect(refuse('B=1 A=0')).toBe('ZeroQuantity')
    const plan = refuse('A=0 B=1', true)
    expect(typeof plan === 'string' ? plan : told(plan)).toBe('sell 10 A C, buy 1 B O, cancel e')
  })

  test('a repeated symbol, also with the same quantity and with nothing', () => {
    expect(refuse('A=1 B=1 A=2')).toBe('RepeatedSymbol')
    expect(refuse('A=1 A=1')).toBe('RepeatedSymbol')
    expect(refuse('A=0 A=0', true)).toBe('RepeatedSymbol')
  })
})

/** A strategy that trades what it is told, one symbol A, with an exit that protects it. */
interface World {
  readonly held: Decimal
  readonly working: readonly Order[]
}

function carryOut(world: World, plan: DesiredPlan<string>, call: number): World {
  const kept = world.working
    .filter(({ signalId }) => !plan.canceled.includes(signalId))
    .map((order) => ({
      ...order,
      leaves: plan.reduced.find(({ signalId }) => signalId === order.signalId)?.leaves ?? order.leaves,
    }))
  const placed = plan.newOrders.map(
    ({ symbol, side, positionEffect, quantity }, index): Order => ({
      signalId: `${call}.${index}`,
      symbol,
      side,
      positionEffect,
      leaves: quantity,
      diesWith: null,
      fromDesired: true,
    }),
  )
  return { ...world, working: [...kept, ...placed] }
}

/** Waiting market orders fill, closes before the opens that are conditional on them, up to `most` units. */
function fillWaiting(world: World, most: number): World {
  let left = dec(most)
  let { held } = world
  const inTurn = [...world.working].sort((a, b) =>
    a.positionEffect === b.positionEffect ? 0 : a.positionEffect === 'C' ? -1 : 1,
  )
  const leaves = new Map<string, Decimal>()
  for (const order of inTurn.filter(({ fromDesired }) => fromDesired)) {
    const traded = min(order.leaves, left)
    left = left.minus(traded)
    held = held.plus(traded.times(order.side === '1' ? 1 : -1))
    leaves.set(order.signalId, order.leaves.minus(traded))
  }
  const working = world.working
    .map((order) => ({ ...order, leaves: leaves.get(order.signalId) ?? order.leaves }))
    .filter((order) => order.leaves.greaterThan(0))
  return { held, working }
}

describe('laws', () => {
  const quantity = fc.integer({ min: -12, max: 12 })
  const calls = fc.array(fc.record({ wanted: quantity, filled: fc.integer({ min: 0, max: 30 }) }), {
    minLength: 1,
    maxLength: 5,
  })
  const ask = ({ held, working }: World, wanted: number): DesiredPlan<string> =>
    planned({
      current: new Map([['A', held]]),
      working,
      desired: wanted === 0 ? [] : [{ symbol: 'A', quantity: dec(wanted) }],
      zeroMeansFlat: false,
    })

  const walk = (
    start: number,
    steps: { wanted: number; filled: number }[],
    see: (world: World, wanted: number, plan: DesiredPlan<string>) => void,
  ): World => {
    const exit: Order = { ...orderOf(`x A ${start > 0 ? 'sell' : 'buy'} ${Math.abs(start)} C`) }
    let world: World = { held: dec(start), working: start === 0 ? [] : [exit] }
    steps.forEach(({ wanted, filled }, call) => {
      const plan = ask(world, wanted)
      see(world, wanted, plan)
      world = fillWaiting(carryOut(world, plan, call), filled)
      // Whatever has filled meanwhile, the same call again finds nothing to do.
      expect(told(ask(world, wanted))).toBe('')
    })
    return world
  }

  test('the same call again does nothing, however much has filled', () => {
    fc.assert(fc.property(quantity, calls, (start, steps) => void walk(start, steps, () => undefined)))
  })

  test('when everything has filled, the positions are the desired ones', () => {
    fc.assert(
      fc.property(quantity, calls, (start, steps) => {
        const world = fillWaiting(
          walk(start, steps, () => undefined),
          1000,
        )
        expect(world.held.equals(steps.at(-1)?.wanted ?? start)).toBe(true)
        expect(world.working.filter(({ fromDesired }) => fromDesired)).toEqual([])
      }),
    )
  })

  test('no order is one that its position would reject, and none is larger than the way', () => {
    fc.assert(
      fc.property(quantity, calls, (start, steps) => {
        walk(start, steps, ({ held }, wanted, plan) => {
          for (const { positionEffect, side, quantity: size, conditional } of plan.newOrders) {
            const position = conditional ? zero : held
            expect(decideOpenClose(positionEffect, side, size, position)).toEqual({ positionEffect })
          }
          const traded = plan.newOrders.reduce((sum, order) => sum.plus(order.quantity), zero)
          expect(traded.lessThanOrEqualTo(held.minus(wanted).abs())).toBe(true)
        })
      }),
    )
  })

  test('an exit that is left covers no more than is wanted', () => {
    fc.assert(
      fc.property(
        quantity,
        quantity.filter((wanted) => wanted !== 0),
        (start, wanted) => {
          fc.pre(start !== wanted)
          const exit = orderOf(`x A ${start > 0 ? 'sell' : 'buy'} ${Math.abs(start) + 3} C`)
          const plan = ask({ held: dec(start), working: [exit] }, wanted)
          const staysOnSide = start * wanted > 0
          const left = plan.reduced[0]?.leaves ?? exit.leaves
          expect(plan.canceled.includes('x')).toBe(!staysOnSide)
          if (staysOnSide) expect(left.toNumber()).toBe(Math.min(Math.abs(start) + 3, Math.abs(wanted)))
        },
      ),
    )
  })
})
