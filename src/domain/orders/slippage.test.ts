import { describe, expect, test } from 'vitest'
import type { Side } from '../codes.ts'
import { dec } from '../decimal.ts'
import { slippedPrice, volumeShareSlippage } from './slippage.ts'

describe('the price of a market or stop fill', () => {
  test.each<[string, number, Side, string | null, number, number, string]>([
    ['nothing configured: as seen, off the tick', 10.003, '1', '0.01', 0, 0, '10.003'],
    ['ticks, buy', 10, '1', '0.01', 2, 0, '10.02'],
    ['ticks, sell', 10, '2', '0.01', 2, 0, '9.98'],
    ['basis points on the tick', 100, '1', '0.01', 0, 5, '100.05'],
    ['basis points round a buy up', 100.01, '1', '0.01', 0, 5, '100.07'],
    ['basis points round a sell down', 100.01, '2', '0.01', 0, 5, '99.95'],
    ['both add up', 5000, '1', '0.25', 1, 1, '5000.75'],
    ['a price off the tick is rounded once it slips', 10.003, '2', '0.01', 1, 0, '9.99'],
    ['without a tick nothing is rounded', 100.01, '1', null, 3, 5, '100.060005'],
    ['nor with one of nothing', 100.01, '1', '0', 3, 5, '100.060005'],
    ['a negative price slips against the trader too', -37, '1', '0.01', 0, 100, '-36.63'],
  ])('%s', (_name, price, side, tick, slippageTicks, slippageBps, expected) => {
    const config = {
      tick: tick === null ? null : dec(tick),
      slippageTicks: dec(slippageTicks),
      slippageBps: dec(slippageBps),
    }
    expect(slippedPrice(dec(price), side, config).toString()).toBe(expected)
  })
})

describe('volume-share slippage', () => {
  test.each<[string, number, number | null, boolean, string]>([
    ['a share below the limit', 100, 10_000, false, '0.001'],
    ['the limit caps the share', 9_000, 10_000, false, '0.00625'],
    ['a short order counts by its size', -100, 10_000, false, '0.001'],
    ['no volume: the limit itself', 1, 0, false, '0.00625'],
    ['no volume shown: the limit itself', 1, null, false, '0.00625'],
    ['forex without volume slips nothing', 1, 0, true, '0'],
    ['forex with volume is like any other', 100, 10_000, true, '0.001'],
  ])('%s', (_name, quantity, barVolume, isForex, expected) => {
    const slippage = volumeShareSlippage({
      price: dec(100),
      quantity: dec(quantity),
      barVolume: barVolume === null ? null : dec(barVolume),
      volumeLimit: dec('0.025'),
      priceImpact: dec('0.1'),
      isForex,
    })
    expect(slippage.toString()).toBe(expected)
  })
})
