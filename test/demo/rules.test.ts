/** The demo's rules and the tape they read from: what is known when, and what is ordered then. */
import { describe, expect, test } from 'vitest'
import {
  buyAndHold,
  type DemoSymbol,
  meanReversion,
  monthlyRebalance,
  type Rule,
  type RuleView,
  trend200,
} from '../../src/demo/rules.ts'
import { openTape } from '../../src/demo/tape.ts'
import { dec, zero } from '../../src/domain/decimal.ts'
import { formatDay, readDay } from '../../src/domain/time.ts'
import { apple, index } from './record.ts'

describe('the tape', () => {
  const tape = openTape()

  test('holds every recorded trade date, Apple where it was recorded', () => {
    expect(tape.days.map(({ day }) => formatDay(day))).toEqual(index.map(({ date }) => date))
    const ofApple = tape.days.filter(({ bars }) => bars.length === 2).map(({ day }) => formatDay(day))
    expect(ofApple).toEqual(apple.map(({ date }) => date))
    expect(apple).toHaveLength(1266)
  })

  test('knows a close when its day is over, and nothing of the days ahead', () => {
    expect(tape.closes('SPX', 5)).toEqual([])
    expect(tape.price('SPX')).toBeUndefined()
    for (const [place, day] of tape.days.slice(0, 300).entries()) {
      tape.see(day)
      const known = index.slice(0, place + 1).map(({ close }) => close / 100)
      expect(tape.closes('SPX', 5)).toEqual(known.slice(-5))
      expect(tape.closes('SPX', 200)).toEqual(known.slice(-200))
      expect(tape.price('SPX')?.toNumber()).toBe(known.at(-1))
      expect(tape.price('AAPL')).toBeUndefined()
    }
  })

  test('ends where it is told to', () => {
    expect(openTape(readDay('2000-01-05')).days.map(({ day }) => formatDay(day))).toEqual([
      '2000-01-03',
      '2000-01-04',
      '2000-01-05',
    ])
  })
})

interface Situation {
  closes?: readonly number[]
  apple?: number
  held?: Partial<Record<DemoSymbol, number>>
  cash?: number
  working?: RuleView['working']
  day?: string
  nextDay?: string
}

function viewOf({ closes = [], held = {}, cash = 0, working = [], ...more }: Situation): RuleView {
  return {
    day: readDay(more.day ?? '2010-03-02'),
    nextDay: readDay(more.nextDay ?? '2010-03-03') ?? 0,
    closes: (symbol, count) => (symbol === 'SPX' ? closes.slice(-count) : []),
    price: (symbol) => {
      const price = symbol === 'SPX' ? closes.at(-1) : more.apple
      return price === undefined ? undefined : dec(price)
    },
    position: (symbol) => dec(held[symbol] ?? zero),
    cash: dec(cash),
    working,
  }
}

/** What a rule wishes, in short: side, quantity and prices. */
function wishes(rule: Rule, situation: Situation) {
  const { cancels, orders } = rule(viewOf(situation))
  const texts = orders.map(({ symbol, side, quantity, limit, stop, isLasting }) =>
    [
      side === '1' ? 'buy' : 'sell',
      quantity,
      symbol,
      ...(limit ? ['limit', limit] : []),
      ...(stop ? ['stop', stop] : []),
      ...(isLasting ? ['lasting'] : []),
    ].join(' '),
  )
  return [...cancels.map((id) => `cancel ${id}`), ...texts]
}

const level = (count: number, price: number) => Array.from({ length: count }, () => price)
const stop = { signalId: 7, symbol: 'SPX', ordType: '3', side: '2' } as const
const bid = { signalId: 8, symbol: 'SPX', ordType: '2', side: '1' } as const
const falling = [105, 104, 103, 102, 100]
const monthEnd = { day: '2010-03-31', nextDay: '2010-04-01' }

test.each<[string, Rule, Situation, string[]]>([
  ['hold: buys before anything is known', buyAndHold, {}, ['buy 60 SPX']],
  ['hold: waits for its fill', buyAndHold, { working: [bid] }, []],
  ['hold: keeps', buyAndHold, { held: { SPX: 60 }, closes: [1] }, []],
  ['trend: too little is known', trend200, { closes: level(199, 100), cash: 1_000 }, []],
  ['trend: at the average is not above', trend200, { closes: level(200, 100), cash: 1_000 }, []],
  ['trend: buys above', trend200, { closes: [...level(199, 100), 101], cash: 10_000 }, ['buy 94 SPX']],
  ['trend: holds above', trend200, { closes: [...level(199, 100), 101], held: { SPX: 9 } }, []],
  ['trend: sells below', trend200, { closes: [...level(199, 100), 99], held: { SPX: 9 } }, ['sell 9 SPX']],
  ['trend: stays out below', trend200, { closes: [...level(199, 100), 99], cash: 1_000 }, []],
  ['trend: waits', trend200, { closes: [...level(199, 100), 101], cash: 9_999, working: [bid] }, []],
  [
    'rebalance: begins at the end of a month',
    monthlyRebalance,
    { ...monthEnd, closes: [100], apple: 50, cash: 10_000 },
    ['buy 60 SPX', 'buy 70 AAPL'],
  ],
  [
    'rebalance: sells before it buys',
    monthlyRebalance,
    { ...monthEnd, closes: [100], apple: 100, cash: 500, held: { SPX: 50, AAPL: 45 } },
    ['sell 10 AAPL', 'buy 10 SPX'],
  ],
  ['rebalance: not inside a month', monthlyRebalance, { closes: [100], apple: 50, cash: 10_000 }, []],
  [
    'rebalance: not after the last record',
    monthlyRebalance,
    { day: '2012-05-31', nextDay: '2012-06-01', closes: [100], apple: 50, cash: 10_000 },
    [],
  ],
  [
    'reversion: bids below after four lower closes',
    meanReversion,
    { closes: falling },
    ['buy 600 SPX limit 99.5'],
  ],
  ['reversion: not after three', meanReversion, { closes: [103, 104, 103, 102, 100] }, []],
  ['reversion: one bid at a time', meanReversion, { closes: falling, working: [bid] }, []],
  [
    'reversion: protects what it got',
    meanReversion,
    { closes: falling, held: { SPX: 600 } },
    ['sell 600 SPX stop 96 lasting'],
  ],
  ['reversion: is protected', meanReversion, { closes: falling, held: { SPX: 600 }, working: [stop] }, []],
  [
    'reversion: sells above its average',
    meanReversion,
    { closes: [100, 99, 98, 97, 103], held: { SPX: 600 }, working: [stop] },
    ['cancel 7', 'sell 600 SPX'],
  ],
])('%s', (_, rule, situation, expected) => {
  expect(wishes(rule, situation)).toEqual(expected)
})
