import { expect, test } from 'vitest'
import { kernel } from '../kernel.ts'

test.each([
  ['settings', 'mirror.target', { assetClass: 'CS', strategyQuantity: 10 }, { settings: null }],
  ['a list', 'fills.quotes', { orders: [] }, { quotes: null }],
  [
    'a symbol’s position',
    'strategy.desiredPositions',
    { currentPositions: {}, positions: [{ symbol: 'A', quantity: 3 }] },
    { currentPositions: { A: null } },
  ],
])('%s that is null is absent', (_, op, input, nulls) => {
  expect(kernel(op, { ...input, ...nulls })).toEqual(kernel(op, input))
})
