import { describe, expect, test } from 'vitest'
import { mirrorOps } from './mirror.ts'

const run = (op: string, input: unknown): Record<string, unknown> => mirrorOps[op]!(input as never) as never

describe('mirror.target', () => {
  test.each([
    ['stock', { assetClass: 'CS', strategyQuantity: 9, settings: { scalingPercentage: 150 } }, 13, null],
    [
      'disabled',
      {
        assetClass: 'FUT',
        strategyQuantity: -4,
        settings: { scalingPercentage: 100, enabled: false },
        heldQuantity: -1,
      },
      -1,
      'AssetClassDisabled',
    ],
    [
      'short rounded away',
      { assetClass: 'FUT', strategyQuantity: -1, settings: { scalingPercentage: 50, lot: null } },
      0,
      'RoundedToZero',
    ],
  ])('%s', (_name, input, target, reason) => {
    expect(run('mirror.target', input)).toEqual({ target, reason })
  })
})

describe('mirror.orderQuantity', () => {
  const scaled = { assetClass: 'FUT', settings: { scalingPercentage: 150 } }
  test.each([
    [
      'first',
      { signedQuantity: 6, strategyPosition: 0, filled: 0, openClose: 'O', accountPosition: 0 },
      9,
      9,
    ],
    [
      'second',
      { signedQuantity: 3, strategyPosition: 6, filled: 0, openClose: 'O', accountPosition: 9 },
      4,
      4,
    ],
    [
      'filled ahead',
      { signedQuantity: 6, strategyPosition: 6, filled: 6, openClose: 'O', accountPosition: 4, executed: 4 },
      9,
      5,
    ],
    [
      'a close filled ahead',
      { signedQuantity: -6, strategyPosition: 0, filled: 6, openClose: 'C', accountPosition: 9 },
      9,
      9,
    ],
    [
      'joined after part was filled',
      {
        signedQuantity: 6,
        strategyPosition: 2,
        filled: 2,
        filledBefore: 2,
        openClose: 'O',
        accountPosition: 3,
      },
      6,
      6,
    ],
  ])('%s', (_name, input, total, quantity) => {
    expect(run('mirror.orderQuantity', { ...scaled, ...input })).toMatchObject({ total, quantity })
  })
})
