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

test.each([
  ['mirror.target', { assetClass: 'CS' }, 'strategyQuantity'],
  ['order.apply', { order: { status: '0', orderQuantity: 5, filledQuantity: 0 } }, 'event'],
  ['fills.quotes', { quotes: [{ t: 0, ask: 2 }] }, 'quotes[0].bid'],
  ['mirror.sync', { strategy: { positions: {} } }, 'account'],
])('%s names what %j lacks', (op, input, name) => {
  const failure = () => kernel(op, input)
  expect(failure).toThrow(`${op}: `)
  expect(failure).toThrow(name)
})
