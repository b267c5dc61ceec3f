import { describe, expect, test } from 'vitest'
import { forex, future, portfolio } from '../../../test/support/portfolio.ts'
import { dec } from '../decimal.ts'
import { type LeverageSnapshot, leverageOf, summarizeLeverage } from './leverage.ts'
import type { MarginPosition } from './margin-position.ts'

const at = (modelAccountValue: number, ...positions: MarginPosition[]): LeverageSnapshot => ({
  positions,
  modelAccountValue: dec(modelAccountValue),
})

const halved = (position: MarginPosition): MarginPosition => ({ ...position, fx: dec('0.5') })

describe('leverage of a moment', () => {
  test.each<[string, LeverageSnapshot, number | null]>([
    ['stock', at(10_000, ...portfolio('+200 S40')), 0.8],
    ['long and short add up', at(10_000, ...portfolio('+200 S40 -100 B.S70')), 1.5],
    ['a future counts in full', at(100_000, future('@ESM6', -2, 13_000)), 5],
    [
      'a future at a price below nothing too',
      at(100_000, { ...future('@CLM0', 2, 1), price: dec(-5000) }),
      5,
    ],
    ['forex by its base currency', at(11_000, forex('EURUSD', 10, 1.1)), 1],
    ['an option by its underlying', at(10_000, ...portfolio('-2 C110@2')), 2],
    ['in account currency', at(10_000, ...portfolio('+200 S40 +1 C90@12').map(halved)), 0.9],
    ['nothing held', at(10_000), 0],
    ['an account value of nothing', at(0, ...portfolio('+1 S')), null],
    ['an account value below nothing', at(-1), null],
  ])('%s', (_, snapshot, expected) => {
    expect(leverageOf(snapshot)?.toNumber() ?? null).toBe(expected)
  })
})

describe('leverage of the days', () => {
  const held = (value: number): LeverageSnapshot => at(value, ...portfolio('+200 S40'))
  const summary = (days: LeverageSnapshot[][]) => {
    const { daily, average, highest } = summarizeLeverage(days)
    return [
      daily.map((day) => day?.toNumber() ?? null),
      average?.toNumber() ?? null,
      highest?.toNumber() ?? null,
    ]
  }

  test.each<[string, LeverageSnapshot[][], unknown[]]>([
    ['a day counts with its highest', [[held(8000), held(4000), held(16_000)]], [[2], 2, 2]],
    ['mean and highest of the days', [[held(8000)], [held(4000)]], [[1, 2], 1.5, 2]],
    ['days without positions are 0', [[], [at(5)], [held(8000)], [held(8000)]], [[0, 0, 1, 1], 0.5, 1]],
    [
      'a moment without value is left out of its day',
      [[held(0), held(8000)], [held(4000)]],
      [[1, 2], 1.5, 2],
    ],
    ['a day without any is left out', [[held(0), held(-5)], [held(4000)], []], [[null, 2, 0], 1, 2]],
    ['no day counts', [[held(0)]], [[null], null, null]],
    ['no day', [], [[], null, null]],
  ])('%s', (_, days, expected) => {
    expect(summary(days)).toEqual(expected)
  })
})
