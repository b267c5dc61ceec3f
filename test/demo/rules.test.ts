/** The demo's rules and the tape they read from: what is known when, and what is ordered then. */
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { fallingKnives, givingUp, martingale } from '../../src/demo/risky-rules.ts'
import {
  buyAndHold,
  type DemoSymbol,
  meanReversion,
  monthlyRebalance,
  type Rule,
  type RuleView,
  trend200,
  weekly,
} from '../../src/demo/rules.ts'
import { syntheticBars } from '../../src/demo/synthetic.ts'
import { openTape, type TapeDay } from '../../src/demo/tape.ts'
import { breakout, euroBand, goldChannel, goldenCross, turnOfQuarter } from '../../src/demo/trend-rules.ts'
import { dec, zero } from '../../src/domain/decimal.ts'
import { formatDay, readDay } from '../../src/domain/time.ts'
import { apple, index } from './record.ts'

describe('the tape', () => {
  const tape = openTape()

  test('holds every recorded trade date, Apple where it was recorded', () => {
    expect(tape.days.map(({ day }) => formatDay(day))).toEqual(index.map(({ date }) => date))
    const has = (symbol: string) => (day: TapeDay) =>
      day.bars.some((bar) => 'symbol' in bar && bar.symbol === symbol)
    const ofApple = tape.days.filter(has('AAPL')).map(({ day }) => formatDay(day))
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

  test('holds synthetic gold and euros from 2018 on, starting from the snapshot', () => {
    const euros = tape.days.flatMap(({ day, bars }) =>
      bars.flatMap((bar) => ('symbol' in bar && bar.symbol === 'EURUSD' ? [{ day, ...bar }] : [])),
    )
    expect(euros.map(({ day }) => formatDay(day))).toEqual(
      index.map(({ date }) => date).filter((date) => date >= '2018'),
    )
    const { EURUSD } = JSON.parse(readFileSync('src/demo/rates.json', 'utf8'))
    expect(euros[0]?.open.toFixed()).toBe(Number(EURUSD).toFixed(5))
    for (const [place, { open, high, low, close }] of euros.entries()) {
      expect(open).toEqual(euros[place - 1]?.close ?? open)
      for (const price of [open, close]) {
        expect(price.lessThanOrEqualTo(high) && price.greaterThanOrEqualTo(low)).toBe(true)
      }
    }
    expect(syntheticBars('EURUSD', [17_533, 17_534])).toEqual(syntheticBars('EURUSD', [17_533, 17_534]))
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
  entry?: number
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
    closes: (symbol, count) => (symbol === 'AAPL' ? [] : closes.slice(-count)),
    price: (symbol) => {
      const price = symbol === 'AAPL' ? more.apple : closes.at(-1)
      return price === undefined ? undefined : dec(price)
    },
    position: (symbol) => dec(held[symbol] ?? zero),
    entry: () => (more.entry === undefined ? undefined : dec(more.entry)),
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
const falling = [106, 105, 104, 103, 102, 100]
const gone = (on: string): Rule => givingUp(fallingKnives, readDay(on) ?? 0)
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
    'reversion: bids below after five lower closes',
    meanReversion,
    { closes: falling },
    ['buy 600 SPX limit 99.5'],
  ],
  ['reversion: not after four', meanReversion, { closes: [103, 104, 103, 102, 101, 100] }, []],
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
    { closes: [999, 100, 99, 98, 97, 103], held: { SPX: 600 }, working: [stop] },
    ['cancel 7', 'sell 600 SPX'],
  ],
  ['weekly: nothing on a Thursday', weekly(buyAndHold), { day: '2010-03-04', nextDay: '2010-03-05' }, []],
  ['weekly: on a Friday', weekly(buyAndHold), { day: '2010-03-05', nextDay: '2010-03-08' }, ['buy 60 SPX']],
  [
    'weekly: on the Thursday before Good Friday',
    weekly(buyAndHold),
    { day: '2010-04-01', nextDay: '2010-04-05' },
    ['buy 60 SPX'],
  ],
  [
    'weekly: before a break of more than a week',
    weekly(buyAndHold),
    { day: '2001-09-10', nextDay: '2001-09-20' },
    ['buy 60 SPX'],
  ],
  [
    'golden cross: buys when the short average is above',
    goldenCross,
    { closes: [...level(150, 100), ...level(50, 110)], cash: 11_000 },
    ['buy 95 SPX'],
  ],
  [
    'golden cross: sells below',
    goldenCross,
    { closes: [...level(150, 100), ...level(50, 90)], held: { SPX: 9 } },
    ['sell 9 SPX'],
  ],
  ['breakout: too little is known', breakout, { closes: level(49, 100), cash: 1_000 }, []],
  ['breakout: buys the highest', breakout, { closes: [...level(49, 99), 100], cash: 1_000 }, ['buy 9 SPX']],
  ['breakout: not below it', breakout, { closes: [...level(49, 101), 100], cash: 1_000 }, []],
  [
    'breakout: sells the lowest',
    breakout,
    { closes: [...level(49, 101), 99], held: { SPX: 3 } },
    ['sell 3 SPX'],
  ],
  [
    'turn: buys at the end of a quarter',
    turnOfQuarter,
    { ...monthEnd, closes: [100], cash: 1_000 },
    ['buy 9 SPX'],
  ],
  [
    'turn: not at the end of another month',
    turnOfQuarter,
    { day: '2010-04-30', nextDay: '2010-05-03', closes: [100], cash: 1_000 },
    [],
  ],
  ['turn: holds on the third', turnOfQuarter, { day: '2010-03-03', closes: [100], held: { SPX: 9 } }, []],
  [
    'turn: sells after it',
    turnOfQuarter,
    { day: '2010-03-04', closes: [100], held: { SPX: 9 } },
    ['sell 9 SPX'],
  ],
  ['gold: long at the top', goldChannel, { closes: [...level(39, 99), 100] }, ['buy 10 @MGCZ30 lasting']],
  [
    'gold: short at the bottom',
    goldChannel,
    { closes: [...level(39, 101), 100] },
    ['sell 10 @MGCZ30 lasting'],
  ],
  [
    'gold: covers at the other end',
    goldChannel,
    { closes: [...level(39, 99), 100], held: { '@MGCZ30': -10 } },
    ['buy 10 @MGCZ30 lasting'],
  ],
  [
    'gold: is flat before its prices end',
    goldChannel,
    { closes: [...level(20, 90), ...level(20, 100)], held: { '@MGCZ30': 10 }, nextDay: '2020-04-15' },
    ['sell 10 @MGCZ30 lasting'],
  ],
  ['euro: sells far above', euroBand, { closes: [...level(19, 100), 103] }, ['sell 100 EURUSD lasting']],
  ['euro: buys far below', euroBand, { closes: [...level(19, 100), 97] }, ['buy 100 EURUSD lasting']],
  [
    'euro: out at the average',
    euroBand,
    { closes: level(20, 100), held: { EURUSD: -100 } },
    ['buy 100 EURUSD lasting'],
  ],
  ['martingale: begins small', martingale, { apple: 100, cash: 10_000 }, ['buy 10 AAPL']],
  [
    'martingale: doubles a tenth below',
    martingale,
    { apple: 90, entry: 100, held: { AAPL: 20 }, cash: 10_000 },
    ['buy 20 AAPL'],
  ],
  [
    'martingale: waits before',
    martingale,
    { apple: 90.01, entry: 100, held: { AAPL: 20 }, cash: 10_000 },
    [],
  ],
  [
    'martingale: has nothing left',
    martingale,
    { apple: 90, entry: 100, held: { AAPL: 20 }, cash: 1_000 },
    [],
  ],
  [
    'martingale: takes its gain',
    martingale,
    { apple: 115, entry: 100, held: { AAPL: 20 } },
    ['sell 20 AAPL'],
  ],
  ['martingale: stops with the record', martingale, { apple: 1, day: '2012-05-01', cash: 10_000 }, []],
  ['knives: buys a fall', fallingKnives, { closes: [100, 97], cash: 10_000 }, ['buy 25 SPX']],
  ['knives: not a small one', fallingKnives, { closes: [100, 99], cash: 10_000 }, []],
  [
    'knives: takes its gain',
    fallingKnives,
    { closes: [100, 111], entry: 100, held: { SPX: 5 }, cash: 10_000 },
    ['sell 5 SPX'],
  ],
  [
    'giving up: the rule until the day',
    gone('2010-03-04'),
    { closes: [100, 97], cash: 10_000 },
    ['buy 25 SPX'],
  ],
  [
    'giving up: cancels and closes',
    gone('2010-03-03'),
    { closes: [100, 97], held: { SPX: 5 }, working: [stop], cash: 10_000 },
    ['cancel 7', 'sell 5 SPX'],
  ],
  ['giving up: nothing afterwards', gone('2010-03-03'), { closes: [100, 97], cash: 10_000 }, []],
])('%s', (_, rule, situation, expected) => {
  expect(wishes(rule, situation)).toEqual(expected)
})
