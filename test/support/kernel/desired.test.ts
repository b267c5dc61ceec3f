import { describe, expect, test } from 'vitest'
import { kernel } from '../kernel.ts'

const desired = (input: Record<string, unknown>): unknown => kernel('strategy.desiredPositions', input)

describe('desired positions over JSON', () => {
  test('orders in the order of the request, then of what is absent', () => {
    const answer = desired({
      currentPositions: { A: 10, B: -3, C: 7 },
      workingOrders: [
        { signalId: 1, symbol: 'A' },
        { signalId: 2, symbol: 'B', openClose: 'C', leaves: 3 },
        { signalId: 3, symbol: 'C' },
        { signalId: 4, symbol: 'D', openClose: 'C' },
        { signalId: 5, symbol: 'B', openClose: 'O' },
      ],
      positions: [
        { symbol: 'C', quantity: 7 },
        { symbol: 'A', quantity: -5 },
        { symbol: 'B', quantity: -1 },
      ],
    })
    expect(answer).toEqual({
      newOrders: [
        { symbol: 'A', side: '2', openClose: 'C', qty: 10, conditional: false },
        { symbol: 'A', side: '2', openClose: 'O', qty: 5, conditional: true },
        { symbol: 'B', side: '1', openClose: 'C', qty: 2, conditional: false },
      ],
      canceledSignals: [1, 4, 5],
      reducedSignals: [{ signalId: 2, leaves: 1 }],
    })
  })

  test('an empty list closes everything', () => {
    expect(desired({ currentPositions: { A: 10 }, workingOrders: [], positions: [] })).toMatchObject({
      newOrders: [{ symbol: 'A', side: '2', openClose: 'C', qty: 10, conditional: false }],
      canceledSignals: [],
    })
  })

  test.each([
    ['zero', [{ symbol: 'A', quantity: 0 }]],
    [
      'repeated',
      [
        { symbol: 'A', quantity: 1 },
        { symbol: 'A', quantity: 1 },
      ],
    ],
  ])('%s is refused', (_, positions) => {
    expect(desired({ currentPositions: {}, workingOrders: [], positions })).toMatchObject({ error: 400 })
  })
})
