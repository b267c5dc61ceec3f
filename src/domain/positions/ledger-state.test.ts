/** Books of the past: what they were worth is what their prices, dividends and commissions made of the cash. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Side } from '../codes.ts'
import { type Decimal, dec, one, roundTo, zero } from '../decimal.ts'
import {
  type BookedAdjustment,
  type BookedFill,
  type BookHistory,
  bookStates,
  heldAtLast,
  inOrder,
} from './ledger-state.ts'

const statesAt = (openingCash: Decimal, { fills, adjustments }: BookHistory, moments: readonly number[]) => {
  const states = bookStates(openingCash, adjustments, moments)
  for (const fill of fills) states.add(fill)
  return states.end()
}

const split = (units: number, old: number) => ({
  ratio: { new: dec(units), old: dec(old) },
  multiplies: true,
})

const trade = fc.record({
  kind: fc.constantFrom('buy', 'buy', 'sell', 'takeBack'),
  quantity: fc.integer({ min: 1, max: 300 }),
  price: fc.integer({ min: 100, max: 20_000 }),
  commission: fc.integer({ min: 0, max: 500 }),
})
const action = fc.oneof(
  fc.constant(null),
  fc.integer({ min: 1, max: 300 }).map((amount) => ({ amount })),
  fc.constantFrom([2, 1], [3, 2], [1, 3], [1, 10]).map(([units = 1, old = 1]) => ({ units, old })),
)
const days = fc.array(
  fc.record({
    action,
    trades: fc.array(trade, { maxLength: 3 }),
    mark: fc.integer({ min: 100, max: 20_000 }),
    isAsked: fc.boolean(),
  }),
  { minLength: 1, maxLength: 8 },
)

/** Books a walk as the platform does, and follows each price beside it. */
function walk(story: typeof days extends fc.Arbitrary<infer Story> ? Story : never) {
  const fills: BookedFill[] = []
  const adjustments: BookedAdjustment[] = []
  const asked: { moment: number; mark: Decimal; earned: Decimal }[] = []
  let [held, last, earned] = [zero, one, zero]
  const seen = (price: Decimal) => {
    earned = earned.plus(held.times(price.minus(last)))
    last = price
  }
  const book = (
    side: Side,
    quantity: Decimal,
    price: Decimal,
    commission: Decimal,
    at: number,
    takesBack: string | null = null,
  ) => {
    seen(price)
    const signed = side === '1' ? quantity : quantity.negated()
    held = held.plus(signed)
    earned = earned.minus(commission)
    const cashChange = signed.times(price).negated().minus(commission)
    const terms = { instrumentId: 1, securityType: 'CS', pointValue: one, fx: one } as const
    fills.push({ ...terms, side, quantity, price, cashChange, at, name: `${fills.length}`, takesBack })
  }
  story.forEach(({ action: what, trades, mark, isAsked }, day) => {
    const at = day * 10
    const before = held
    if (what && 'amount' in what) {
      const cashChange = held.times(what.amount).div(100)
      earned = earned.plus(cashChange)
      adjustments.push({ instrumentId: 1, at, quantityChange: zero, cashChange, split: null })
    } else if (what) {
      // The fraction is paid at the last price.
      const restated = held.times(what.units).div(what.old)
      last = last.times(what.old).div(what.units)
      held = restated.trunc()
      const cashChange = restated.minus(held).times(last)
      const quantityChange = held.minus(before)
      adjustments.push({
        instrumentId: 1,
        at,
        quantityChange,
        cashChange,
        split: split(what.units, what.old),
      })
    }
    for (const { kind, quantity, price, commission } of trades) {
      const undone = kind === 'takeBack' ? fills.at(-1) : undefined
      const side = kind === 'sell' ? '2' : '1'
      if (!undone) book(side, dec(quantity), dec(price).div(100), dec(commission).div(100), at)
      else if (!undone.takesBack)
        book(undone.side === '1' ? '2' : '1', undone.quantity, undone.price, zero, at, undone.name)
    }
    seen(dec(mark).div(100))
    if (isAsked) asked.push({ moment: at + 5, mark: last, earned })
  })
  return { fills, adjustments, asked }
}

describe('books of the past', () => {
  test('are worth the cash they began with, what prices and dividends earned, and no commission', () => {
    fc.assert(
      fc.property(days, (story) => {
        const { fills, adjustments, asked } = walk(story)
        const moments = asked.map(({ moment }) => moment)
        const states = statesAt(dec(1000), { fills, adjustments }, moments)
        asked.forEach(({ mark, earned }, place) => {
          const { cash, positions } = states[place]!
          const value = positions.reduce((sum, { quantity }) => sum.plus(quantity.times(mark)), cash)
          expect(roundTo(value, 6).toFixed()).toBe(roundTo(earned.plus(1000), 6).toFixed())
        })
        // Whatever else is asked for changes nothing.
        for (const [place, moment] of moments.entries())
          expect(statesAt(dec(1000), { fills, adjustments }, [moment])).toEqual([states[place]])
      }),
      { numRuns: 300 },
    )
  })

  test('what is reported late is netted where it was booked', () => {
    const terms = {
      instrumentId: 1,
      securityType: 'FUT',
      pointValue: one,
      fx: one,
      name: null,
      takesBack: null,
    } as const
    const fill = (side: Side, price: number, cash: number, at: number): BookedFill => ({
      ...terms,
      side,
      quantity: one,
      price: dec(price),
      cashChange: dec(cash),
      at,
    })
    const fills = [fill('1', 90, 0, 1), fill('2', 110, 20, 3), fill('1', 100, 0, 2)]
    const [state] = statesAt(zero, { fills, adjustments: [] }, [5])
    expect(state?.cash.toNumber()).toBe(20)
    expect(state?.positions.map(({ quantity, avgPx }) => [quantity.toNumber(), avgPx.toNumber()])).toEqual([
      [1, 100],
    ])
  })

  test('units of which nothing says what they cost keep the average that the bust has left them', () => {
    const terms = { instrumentId: 1, securityType: 'CS', pointValue: one, fx: one, quantity: one } as const
    const fill = (side: Side, at: number, name: string, takesBack: string | null = null): BookedFill => ({
      ...terms,
      side,
      price: one,
      cashChange: side === '1' ? dec(-1) : one,
      at,
      name,
      takesBack,
    })
    const adjusted = (at: number, change: number, units: number, old: number): BookedAdjustment => ({
      instrumentId: 1,
      at,
      quantityChange: dec(change),
      cashChange: zero,
      split: split(units, old),
    })
    // A tenth of the first unit was paid out; the second became two, of which the bust takes one.
    const fills = [fill('1', 1, 'first'), fill('1', 3, 'second'), fill('2', 5, 'bust', 'second')]
    const adjustments = [adjusted(2, -1, 1, 10), adjusted(4, 1, 2, 1)]
    const [state] = statesAt(zero, { fills, adjustments }, [6])
    expect(state?.positions.map(({ quantity, avgPx }) => [quantity.toNumber(), avgPx.toNumber()])).toEqual([
      [1, 0.5],
    ])
    expect(heldAtLast({ fills, adjustments }).position.avgPx).not.toBeNull()
  })

  test('what is taken back was never there, whatever was traded since', () => {
    const stories = fc.array(
      fc.record({
        side: fc.constantFrom<Side>('1', '2'),
        quantity: fc.integer({ min: 1, max: 9 }),
        price: fc.integer({ min: 1, max: 99 }),
        undone: fc.option(fc.nat(9)),
      }),
      { minLength: 1, maxLength: 12 },
    )
    fc.assert(
      fc.property(stories, (story) => {
        const terms = { instrumentId: 1, securityType: 'FUT', pointValue: one, fx: one } as const
        const fills: BookedFill[] = []
        let standing: BookedFill[] = []
        story.forEach(({ side, quantity, price, undone }, place) => {
          const numbers = { side, quantity: dec(quantity), price: dec(price), cashChange: zero }
          const fill = { ...terms, ...numbers, at: place, name: `${place}`, takesBack: null }
          fills.push(fill)
          standing.push(fill)
          const target = undone === null ? undefined : standing[undone % standing.length]
          if (!target) return
          standing = standing.filter((one) => one !== target)
          const opposite = { ...target, side: target.side === '1' ? ('2' as const) : ('1' as const) }
          fills.push({ ...opposite, at: place, name: `${place}/back`, takesBack: target.name })
        })
        const [told, left] = [fills, standing].map((all) => ({ fills: all, adjustments: [] }))
        const heldBy = (history: typeof told) => statesAt(zero, history!, [story.length])[0]?.positions
        expect(heldBy(told)).toEqual(heldBy(left))
        expect(heldAtLast(told!)).toEqual(heldAtLast(left!))
      }),
      { numRuns: 300 },
    )
  })

  test('a ledger is netted again once, however much is taken back', () => {
    const terms = { instrumentId: 1, securityType: 'CS', pointValue: one, fx: one, at: 1 } as const
    const fill = (side: Side, price: number, name: string, takesBack: string | null): BookedFill => ({
      ...terms,
      side,
      quantity: one,
      price: dec(price),
      cashChange: zero,
      name,
      takesBack,
    })
    const count = 5_000
    const bought = Array.from({ length: count }, (_, at) => fill('1', 1 + at, `${at}`, null))
    const undone = bought.slice(1).map(({ price, name }) => fill('2', Number(price), `${name}/back`, name))
    const history = { fills: [...bought, ...undone], adjustments: [] }
    const started = process.cpuUsage()
    expect(statesAt(zero, history, [1])[0]?.positions).toMatchObject([{ quantity: one, avgPx: one }])
    expect(heldAtLast(history)?.position).toMatchObject({ quantity: one, avgPx: one })
    // Microseconds of this process alone, however busy the machine is.
    expect(process.cpuUsage(started).user).toBeLessThan(3_000_000)
  })

  test('a split restates only its own ledger', () => {
    const own = { name: null, takesBack: null }
    const terms = { instrumentId: 1, securityType: 'CS', pointValue: one, fx: one, ...own } as const
    const fills = [1, 2].map(
      (ledger): BookedFill => ({
        ...terms,
        ledger,
        side: '1',
        quantity: dec(10),
        price: dec(30),
        cashChange: dec(-300),
        at: 1,
      }),
    )
    const adjusted = { instrumentId: 1, ledger: 2, at: 2, quantityChange: dec(20), cashChange: zero }
    const history = { fills, adjustments: [{ ...adjusted, split: split(3, 1) }] }
    const held = statesAt(zero, history, [1, 2]).map(({ positions }) =>
      positions.map(({ quantity, avgPx }) => `${quantity} @ ${avgPx}`),
    )
    expect(held).toEqual([
      ['10 @ 30', '10 @ 30'],
      ['10 @ 30', '30 @ 10'],
    ])
  })
})

test('what is told late was there when it was split, also where nothing else was', () => {
  const terms = { instrumentId: 1, securityType: 'CS', pointValue: one, fx: one, takesBack: null } as const
  const bought = (name: string, at: number, price: number): BookedFill => ({
    ...terms,
    side: '1',
    quantity: one,
    price: dec(price),
    cashChange: dec(-price),
    name,
    at,
  })
  const fills = [bought('today', 3, 5), bought('yesterday', 1, 10)]
  const adjustments = [{ instrumentId: 1, at: 2, quantityChange: one, cashChange: zero, split: split(2, 1) }]
  const [state] = statesAt(dec(15), { fills, adjustments }, [4])
  expect([state?.cash, state?.positions]).toMatchObject([zero, [{ quantity: dec(3), avgPx: dec(5) }]])
})

describe('what a ledger has come to', () => {
  // Signed quantity @ price, one after the other; what is held, since which of them, and what they moved in cash.
  test.each([
    ['a first fill opens', '5@10', '5 @ 10', 0, -50],
    ['more of it does not', '5@10 5@12', '10 @ 11', 0, -110],
    ['nor does a part of it sold', '5@10 -2@12', '3 @ 10', 0, -26],
    ['what is sold goes below zero', '-5@10', '-5 @ 10', 0, 50],
    ['more sold short does not open', '-5@10 -5@12', '-10 @ 11', 0, 110],
    ['through zero it is another position', '5@10 -8@12', '-3 @ 12', 1, 46],
    ['also back', '-5@10 8@12', '3 @ 12', 1, -46],
    ['from flat it is another one', '5@10 -5@12 2@13', '2 @ 13', 2, -16],
    ['from flat below zero too', '5@10 -5@12 -2@13', '-2 @ 13', 2, 36],
    ['a flat one was opened at no time', '5@10 -5@12', '0 @ null', null, 10],
    ['an average keeps twelve decimals', '1@10 2@11', '3 @ 10.666666666667', 0, -32],
  ])('%s: %s', (_, story, position, openedAt, cash) => {
    const fills = story.split(' ').map((told, at): BookedFill => {
      const [signed = zero, price = zero] = told.split('@').map(dec)
      const terms = { instrumentId: 1, securityType: 'CS', pointValue: one, fx: one } as const
      const unnamed = { name: null, takesBack: null, cashChange: zero }
      return {
        ...terms,
        ...unnamed,
        side: signed.isNegative() ? '2' : '1',
        quantity: signed.abs(),
        price,
        at,
      }
    })
    const held = heldAtLast({ fills, adjustments: [] })
    expect(`${held.position.quantity} @ ${held.position.avgPx}`).toBe(position)
    expect([held.openedAt, held.cash?.toNumber()]).toEqual([openedAt, cash])
  })
})

test('an adjustment comes before what trades at its moment', () => {
  const fills = [{ at: 1 }, { at: 3 }, { at: 2 }, { at: 5 }]
  const adjustments = [{ at: 3, isFirst: true }, { at: 4 }, { at: 6 }]
  expect(inOrder<{ at: number }, { at: number }>(fills, adjustments)).toEqual([
    fills[0],
    fills[2],
    adjustments[0],
    fills[1],
    adjustments[1],
    fills[3],
    adjustments[2],
  ])
})

test.each([
  ['an entry of cash', null, undefined],
  ['a dividend of another instrument', 2, undefined],
  ['a dividend of the same in another ledger', 1, 2],
])('%s stands between no fills, however late one was told', (_name, instrumentId, ledger) => {
  const booked = (side: Side, price: number, at: number): BookedFill => ({
    instrumentId: 1,
    ledger: 1,
    side,
    quantity: one,
    price: dec(price),
    securityType: 'FUT',
    pointValue: one,
    fx: one,
    cashChange: side === '1' ? zero : dec(10),
    at,
    name: null,
    takesBack: null,
  })
  const entry = { instrumentId, at: 7, quantityChange: zero, cashChange: one, split: null }
  const adjustments = [{ ...entry, ...(ledger !== undefined && { ledger }) }]
  const fills = [booked('1', 100, 10), booked('2', 110, 12), booked('1', 120, 5)]
  const [, last] = statesAt(zero, { fills, adjustments }, [0, 20])
  expect([last?.cash, last?.positions.map(({ avgPx }) => avgPx)].flat().map(Number)).toEqual([11, 120])
})
