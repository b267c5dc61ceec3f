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

describe('mirror.sync', () => {
  const setup = {
    classes: { ES: 'FUT' },
    settings: { FUT: { scalingPercentage: 50 } },
    willSyncToOpen: { FUT: true },
  }
  const signal = { signalId: 7, symbol: 'ES', side: '1', openClose: 'O', type: '2', quantity: 10, limit: 100 }

  test('places, corrects and reports', () => {
    const input = { ...setup, strategy: { positions: { ES: 4 }, orders: [signal] }, account: {} }
    expect(run('mirror.sync', input)).toEqual({
      actions: [
        {
          action: 'place',
          signalId: 7,
          symbol: 'ES',
          side: '1',
          openClose: 'O',
          type: '2',
          qty: 5,
          limit: 100,
          stop: null,
        },
        { action: 'open', symbol: 'ES', side: '1', qty: 2 },
      ],
      report: [
        {
          symbol: 'ES',
          AccountQuantity: 0,
          StrategyQuantity: 4,
          ScaledQuantity: 2,
          InSync: false,
          NotInSyncReason: 'Opening',
        },
      ],
      clearedExclusions: [],
    })
  })

  test.each([
    ['limit', { limit: 40 }, 25],
    ['stop', { type: '3', limit: undefined, stop: 40 }, 25],
    ['market', { type: '1', limit: undefined }, 20],
  ])('sizes the copy of a %s order at the price of the order', (_name, more, qty) => {
    const order = { ...signal, quantity: 100, ...more }
    const stocks = {
      ...setup,
      classes: { ES: 'CS' },
      settings: { CS: { maxDollars: 1000 } },
      referencePrices: { ES: 50 },
    }
    const input = { ...stocks, strategy: { orders: [order] }, account: {} }
    expect(run('mirror.sync', input)).toMatchObject({ actions: [{ action: 'place', qty }] })
  })

  test('names every action', () => {
    const copy = { symbol: 'ES', side: '1', openClose: 'O', type: '2', executed: 0, filledBefore: 0 }
    const orders = [
      { ...copy, clientOrderId: 'dead', signalId: 5, leaves: 1 },
      { ...copy, clientOrderId: 'behind', signalId: 6, leaves: 2 },
      { ...copy, clientOrderId: 'dear', signalId: 7, leaves: 5, limit: 101 },
    ]
    const strategy = {
      positions: { ES: 4 },
      orders: [signal],
      finishedSignals: { 6: { status: '2', ageSec: 31 } },
    }
    expect(run('mirror.sync', { ...setup, strategy, account: { orders } })).toMatchObject({
      actions: [
        { action: 'cancel', clientOrderId: 'dead' },
        { action: 'toMarket', clientOrderId: 'behind', qty: 2 },
        { action: 'replace', clientOrderId: 'dear', qty: 5, limit: 100, stop: null },
      ],
    })
  })

  test.each([
    ['closing only for the account', { closingOrdersOnly: true }, 'ClosingOrdersOnly'],
    ['sync off', { isSyncEnabled: false }, 'SyncDisabled'],
    ['sync-to-open off', { willSyncToOpen: undefined }, 'SyncToOpenDisabled'],
    ['excluded', { excludedSymbols: ['ES'], excludedSigns: { ES: 1 } }, 'Excluded'],
  ])('%s', (_name, more, reason) => {
    const input = { ...setup, strategy: { positions: { ES: 4 } }, account: { positions: {} }, ...more }
    expect(run('mirror.sync', input)).toMatchObject({ actions: [], report: [{ NotInSyncReason: reason }] })
  })
})

describe('ops of an account', () => {
  test('mirror.autoStopLoss', () => {
    const input = { accountQuantity: 2, avgPx: 5000, dollars: 1000, pointValue: 50, fx: 1, tick: 0.25 }
    expect(run('mirror.autoStopLoss', input)).toEqual({ stop: 4990, side: '2', quantity: 2 })
    expect(run('mirror.autoStopLoss', { ...input, dollars: 0 })).toEqual({
      stop: null,
      side: null,
      quantity: 0,
    })
  })

  test('mirror.classifyExternal', () => {
    const input = { prefix: 'LSP-', ledgers: [3], brokerPosition: 3, executions: [{ clientOrderId: null }] }
    expect(run('mirror.classifyExternal', input)).toEqual({
      isSyncEnabled: false,
      reason: 'ExternalExecution',
    })
    expect(run('mirror.classifyExternal', { ...input, executions: [] })).toEqual({
      isSyncEnabled: true,
      reason: null,
    })
  })

  test('mirror.executionGap of a missed trade', () => {
    const leader = { openSide: '2', qty: 2, open: 50, close: 40, commission: 1 }
    const input = { leader, follower: { qty: 0 }, scalingPercentage: 50, pointValue: 2, fx: 1 }
    const parts = { quantity: -20, entry: 0, exit: 0, fees: 0, total: -20, ideal: 20, actual: 0 }
    expect(run('mirror.executionGap', input)).toEqual(parts)
  })

  test('broker.applyReports', () => {
    const fill = {
      event: 'REPORT',
      execId: 'a',
      ordStatus: '1',
      cumQty: 60,
      avgPx: 11,
      lastQty: 40,
      lastPx: 12,
    }
    expect(
      run('broker.applyReports', { orderQuantity: 100, reports: [fill, fill, { event: 'GAP_TIMEOUT' }] }),
    ).toEqual({
      status: '1',
      filledQuantity: 60,
      avgFillPrice: 11,
      duplicates: 1,
      missingQuantity: 0,
      overfill: 0,
      inferredQuantity: 20,
    })
  })
})
