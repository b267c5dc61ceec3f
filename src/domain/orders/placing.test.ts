import { describe, expect, test } from 'vitest'
import { dec } from '../decimal.ts'
import { currentPriceOf, immutableDifference, offTick } from './placing.ts'

describe('what a replacement may not change', () => {
  const replaced = { instrumentId: 7, side: '1', positionEffect: 'O' } as const
  test.each([
    ['nothing differs', {}, 7, undefined],
    ['another symbol', {}, 8, 'Symbol'],
    ['the other side', { side: '2' }, 7, 'Side'],
    ['the other effect', { positionEffect: 'C' }, 7, 'OpenClose'],
    ['the same effect, said again', { positionEffect: 'O' }, 7, undefined],
  ] as const)('%s', (_name, over, instrumentId, difference) => {
    expect(immutableDifference(replaced, { side: '1', ...over }, instrumentId)).toBe(difference)
  })
})

describe('prices', () => {
  test.each([
    ['4999.75', '0.25', undefined],
    ['4999.8', '0.25', 'limitPx'],
    ['1.10001', '0.00001', undefined],
    ['1.100015', '0.00001', 'limitPx'],
    ['-37.63', '0.01', undefined],
  ])('%s on a tick of %s: %s', (price, tick, expected) =>
    expect(offTick({ limitPx: dec(price) }, dec(tick))).toBe(expected),
  )

  test('every price of an order is held against the tick', () => {
    const odd = dec('0.1')
    const tick = dec('0.25')
    for (const name of ['limitPx', 'stopPx', 'profitTarget', 'stopLoss'] as const)
      expect(offTick({ limitPx: dec(1), [name]: odd }, tick)).toBe(name)
    expect(offTick({}, tick)).toBeUndefined()
  })

  test('a buy trades at the ask, a sell at the bid, and zero is no price', () => {
    expect(currentPriceOf('1', '99', '101')?.toFixed()).toBe('101')
    expect(currentPriceOf('2', '99', '101')?.toFixed()).toBe('99')
    expect(currentPriceOf('2', '0', '101')).toBeUndefined()
    expect(currentPriceOf('1', null, null)).toBeUndefined()
  })
})
