/** Desired positions over HTTP: what is ordered, canceled and cut, what a repeated call does, and who is refused. */
import { beforeEach, describe, expect, test } from 'vitest'
import type { HostName } from '../../src/contract/index.ts'
import { type Answer, call, faultsOf, resultsOf } from '../support/http.ts'
import { buildTown } from './support/town.ts'

const town = await buildTown()
const compat = await buildTown('compat')
const { key } = town.people.owner

type Wish = readonly [symbol: string, quantity: number]
interface Plan {
  NewSignals: unknown[]
  CanceledSignals: unknown[]
  RejectedSignals?: unknown[]
}

let strategyId = 0

/** A strategy of its own for every test, in a market where A costs 10 and B 20, and C has no quote. */
beforeEach(async () => {
  const added = await town.ask('AddStrategy', { StrategyName: 'D', StartingCapital: 1_000_000 }, { key })
  strategyId = resultsOf<{ StrategyId: number }>(added)[0]?.StrategyId ?? 0
})
await town.door(
  '/instruments',
  ['A', 'B', 'C'].map((symbol) => ({ symbol, securityType: 'CS' })),
)
const quoteAll = () =>
  town.door('/quotes', [
    { symbol: 'A', bid: 9.99, ask: 10 },
    { symbol: 'B', bid: 19.99, ask: 20 },
  ])
await quoteAll()

const positionsOf = (wishes: readonly Wish[]) =>
  wishes.map(([FullSymbol, Quantity]) => ({
    Quantity,
    PlatformSymbol: { FullSymbol, SymbolType: 'stock' },
  }))
const send = (wishes: readonly Wish[], host: HostName = 'Gen'): Promise<Answer> =>
  town.ask('SetDesiredPositions', { StrategyId: strategyId, Positions: positionsOf(wishes) }, { key, host })
const want = async (...wishes: Wish[]): Promise<Plan> => {
  const [plan] = resultsOf<Plan>(await send(wishes))
  if (!plan) throw new Error('no plan')
  return plan
}
const held = async () => {
  const rows = resultsOf<{ Quantity: number; PlatformSymbol: { FullSymbol: string } }>(
    await town.ask('GetStrategyOpenPositions', { StrategyIds: strategyId }, { key }),
  )
  return rows.map(({ Quantity, PlatformSymbol }) => `${PlatformSymbol.FullSymbol} ${Quantity}`).join(', ')
}
const order = async (symbol: string, terms: object): Promise<number> => {
  const Order = {
    StrategyId: strategyId,
    TIF: '1',
    PlatformSymbol: { FullSymbol: symbol, SymbolType: 'stock' },
    ...terms,
  }
  const answer = await town.ask('NewStrategyOrder', { Order }, { key })
  return resultsOf<{ SignalId: number }>(answer)[0]?.SignalId ?? 0
}
const live = async () =>
  resultsOf<{ Id: number; OrderQuantity: number }>(
    await town.ask('GetStrategyActiveOrders', { StrategyIds: strategyId }, { key }),
  )
const nothing = { NewSignals: [], CanceledSignals: [] }

describe('from what is held to what is wanted', () => {
  test('opens, grows, shrinks and closes with market orders, and repeats nothing', async () => {
    const first = await want(['A', 100], ['B', -50])
    expect(first).toEqual({ NewSignals: [expect.any(Number), expect.any(Number)], CanceledSignals: [] })
    expect(await held()).toBe('A 100, B -50')
    expect(await want(['A', 100], ['B', -50])).toEqual(nothing)
    expect((await want(['A', 150], ['B', -50])).NewSignals).toHaveLength(1)
    expect(await held()).toBe('A 150, B -50')
    expect((await want(['A', 150], ['B', -20])).NewSignals).toHaveLength(1)
    expect(await held()).toBe('A 150, B -20')
    expect((await want(['B', -20])).NewSignals).toHaveLength(1)
    expect(await held()).toBe('B -20')
    expect((await want()).NewSignals).toHaveLength(1)
    expect(await held()).toBe('')
    expect(await want()).toEqual(nothing)
  })

  test('changes sides: a close, and an opening order that waits for it', async () => {
    await want(['A', 100])
    const plan = await want(['A', -50])
    expect(plan).toEqual({ NewSignals: [expect.any(Number), expect.any(Number)], CanceledSignals: [] })
    expect(await held()).toBe('A -50')
    expect(await want(['A', -50])).toEqual(nothing)
    expect((await want(['A', 30])).NewSignals).toHaveLength(2)
    expect(await held()).toBe('A 30')
  })

  test('an order that still waits counts as done', async () => {
    expect((await want(['C', 10])).NewSignals).toHaveLength(1)
    expect(await want(['C', 10])).toEqual(nothing)
    expect((await want(['C', 15])).NewSignals).toHaveLength(1)
    expect((await live()).map(({ OrderQuantity }) => OrderQuantity)).toEqual([10, 5])
    const { NewSignals, CanceledSignals } = await want()
    expect([NewSignals, CanceledSignals.length, await live()]).toEqual([[], 2, []])
  })

  test('opening orders go where the size changes, protective exits stay, cut to the new size', async () => {
    await want(['A', 100])
    const entry = await order('A', { Side: '1', OrderType: '2', Limit: 5, OrderQuantity: 10 })
    const exit = await order('A', { Side: '2', OrderType: '3', Stop: 8, OrderQuantity: 100, OpenClose: 'C' })
    expect(await want(['A', 100])).toEqual(nothing)
    const plan = await want(['A', 40])
    expect([plan.NewSignals.length, plan.CanceledSignals]).toEqual([1, [entry]])
    expect(await live()).toMatchObject([{ Id: exit, OrderQuantity: 40 }])
    await want()
    expect([await held(), await live()]).toEqual(['', []])
  })

  test('orders of a symbol that is not wanted are canceled, whether it is held or not', async () => {
    const resting = await order('B', { Side: '1', OrderType: '2', Limit: 5, OrderQuantity: 10 })
    const plan = await want(['A', 1])
    expect([plan.NewSignals.length, plan.CanceledSignals]).toEqual([1, [resting]])
  })

  test('a stock that is delisted stays until it is paid for, and may be wanted as it is alone', async () => {
    await town.door('/instruments', [{ symbol: 'GONE', securityType: 'CS' }])
    await town.door('/quotes', [{ symbol: 'GONE', bid: 10, ask: 10 }])
    await want(['A', 10], ['GONE', 100])
    await town.door('/corporate-actions', [{ kind: 'delisting', symbol: 'GONE', date: '2024-03-11' }])
    expect((await want(['A', 20])).NewSignals).toHaveLength(1)
    expect([await held(), await live()]).toEqual(['A 20, GONE 100', []])
    expect(await want(['A', 20], ['GONE', 100])).toEqual(nothing)
    for (const quantity of [50, 150, -100])
      expect(faultsOf(await send([['GONE', quantity]]))).toEqual(['1121 Symbol'])
    expect((await want()).NewSignals).toHaveLength(1)
    expect([await held(), await live()]).toEqual(['GONE 100', []])
    await town.door('/corporate-actions', [
      { kind: 'settlement', symbol: 'GONE', date: '2024-03-11', amount: 0 },
    ])
    expect([await want(), await held()]).toEqual([nothing, ''])
  })

  test('makes the instrument of a contract that nobody entered', async () => {
    const Positions = [{ Quantity: 1, PlatformSymbol: { FullSymbol: '@ESM4', SymbolType: 'future' } }]
    const answer = await town.ask('SetDesiredPositions', { StrategyId: strategyId, Positions }, { key })
    expect(resultsOf<Plan>(answer)[0]?.NewSignals).toHaveLength(1)
    const rows = resultsOf<{ PlatformSymbol: { FullSymbol: string } }>(
      await town.ask('GetStrategyActiveOrders', { StrategyIds: strategyId }, { key }),
    )
    expect(rows[0]?.PlatformSymbol.FullSymbol).toBe('@ESM24')
  })

  test('of two equal calls at the same instant one orders', async () => {
    const plans = await Promise.all([send([['A', 7]]), send([['A', 7]]), send([['A', 7]])])
    const made = plans.flatMap((answer) => resultsOf<Plan>(answer)[0]?.NewSignals)
    expect(made).toHaveLength(1)
  })

  test('the second version of the route shows rows, and what was rejected', async () => {
    const [plan] = resultsOf<Plan>(await send([['A', 3]], 'WL'))
    expect(plan).toEqual({
      NewSignals: [
        {
          SignalId: expect.any(Number),
          OrderStatus: '0',
          OrderType: '1',
          Side: '1',
          OpenClose: 'O',
          OrderQuantity: 3,
          TIF: '1',
          FilledQuantity: 0,
          AvgFillPrice: 0,
          PostedDate: '2024-03-12T14:00:00Z',
          PlatformSymbol: { FullSymbol: 'A', SymbolType: 'stock', Description: 'A' },
          ExchangeSymbol: {
            Symbol: 'A',
            Currency: 'USD',
            SecurityExchange: 'DEFAULT',
            SecurityType: 'CS',
            PriceMultiplier: 1,
          },
        },
      ],
      CanceledSignals: [],
      RejectedSignals: [],
    })
    const resting = await order('B', { Side: '1', OrderType: '2', Limit: 5, OrderQuantity: 10 })
    const [{ CanceledSignals = [] } = {}] = resultsOf<Plan>(await send([['A', 3]], 'WL'))
    expect(CanceledSignals).toMatchObject([{ SignalId: resting, OrderStatus: '4', Limit: 5 }])
  })
})

describe('what is refused changes nothing', () => {
  test.each<[string, Wish[], (number | string)[]]>([
    ['a quantity of zero', [['A', 0]], [400, '1130 Positions[0].Quantity']],
    [
      'a symbol that is repeated',
      [
        ['A', 10],
        ['B', 1],
        ['A', 5],
      ],
      [400, '1130 Positions[2]'],
    ],
    [
      'a symbol that nobody knows',
      [
        ['A', 1],
        ['NONE', 1],
      ],
      [400, '1121 Symbol'],
    ],
  ])('%s', async (_, wishes, expected) => {
    await want(['A', 10])
    const before = await live()
    const answer = await send(wishes)
    expect([answer.status, ...faultsOf(answer)]).toEqual(expected)
    expect([await held(), await live()]).toEqual(['A 10', before])
  })

  test('what trades no more is neither ordered, replaced nor wanted, and may be closed', async () => {
    await want(['A', 10])
    const id = await order('A', { OrderType: '2', Side: '1', OrderQuantity: 1, Limit: 5 })
    const trades = (isTradable: boolean) =>
      town.platform.db.write
        .run`update instrument set is_tradable = ${isTradable}::boolean where symbol = 'A'`
    await trades(false)
    const terms = { OrderType: '2', Side: '1', OrderQuantity: 1, Limit: 6, TIF: '1' }
    const symbol = { PlatformSymbol: { FullSymbol: 'A', SymbolType: 'stock' } }
    const Order = { StrategyId: strategyId, ...terms, ...symbol }
    const refused = [
      await town.ask('NewStrategyOrder', { Order }, { key }),
      await town.ask('ReplaceStrategyOrder', { Order: { ...Order, CancelReplaceSignalId: id } }, { key }),
      await send([['A', 20]]),
    ]
    expect(refused.flatMap(faultsOf)).toEqual(['1121 Symbol', '1121 Symbol', '1121 Symbol'])
    expect((await want()).CanceledSignals).toEqual([id])
    await trades(true)
  })

  test('a strategy that is not alive', async () => {
    await town.platform.db.write.run`update strategy set is_alive = false where id = ${strategyId}`
    const answer = await send([['A', 1]])
    expect([answer.status, ...faultsOf(answer)]).toEqual([409, '3016 StrategyId'])
  })

  test('two spellings of one contract are one symbol', async () => {
    const Positions = ['@NQM24', '@NQM4'].map((FullSymbol) => ({
      Quantity: 1,
      PlatformSymbol: { FullSymbol, SymbolType: 'future' },
    }))
    const answer = await town.ask('SetDesiredPositions', { StrategyId: strategyId, Positions }, { key })
    expect([answer.status, ...faultsOf(answer)]).toEqual([400, '1130 Positions[1]'])
    const made = await town.platform.db.read.rows`select from instrument where symbol = '@NQM24'`
    expect(made).toEqual([])
  })
})

describe('to the other side', () => {
  const shown = async () =>
    resultsOf<{
      Id: number
      OpenClose: string
      OrderQuantity: number
      OrderStatus: string
      ParentSignalId?: number
    }>(await town.ask('GetStrategyActiveOrders', { StrategyIds: strategyId }, { key })).map(
      ({ Id, OpenClose, OrderQuantity, OrderStatus, ParentSignalId }) => ({
        Id,
        is: `${OpenClose} ${OrderQuantity} ${OrderStatus}`,
        after: ParentSignalId,
      }),
    )

  test('closes, and opens when that is filled; the orders of the old side end', async () => {
    await want(['A', 100], ['B', -50])
    const stop = await order('A', { OrderType: '3', Side: '2', OrderQuantity: 100, Stop: 5, OpenClose: 'C' })
    const turned = await want(['A', -30], ['B', 20])
    expect(turned).toEqual({ NewSignals: Array(4).fill(expect.any(Number)), CanceledSignals: [stop] })
    expect(await held()).toBe('A -30, B 20')
    expect(await want(['A', -30], ['B', 20])).toEqual(nothing)
  })

  test('waits with both orders for a quote, repeats nothing, and thinks again when told so', async () => {
    const shares = 100
    await want(['A', shares])
    await town.door('/clock', { now: '2024-03-12T22:00:00Z' })
    const [close, open] = (await want(['A', -30])).NewSignals
    const waiting = [
      { Id: close, is: `C ${shares} 0`, after: undefined },
      { Id: open, is: 'O 30 A', after: close },
    ]
    expect(await shown()).toEqual(waiting)
    expect(await want(['A', -30])).toEqual(nothing)
    expect(await shown()).toEqual(waiting)
    const other = await want(['A', -40])
    expect(other.CanceledSignals).toEqual([close, open])
    expect((await shown()).map(({ is }) => is)).toEqual([`C ${shares} 0`, 'O 40 A'])
    expect((await want(['A', shares])).CanceledSignals).toEqual(other.NewSignals)
    expect([await held(), await shown()]).toEqual([`A ${shares}`, []])
  })
})

describe('in compat', () => {
  const { owner } = compat.people
  const set = (path: string, quantity: number) =>
    call(compat.platform.url, path, {
      key: owner.key,
      body: {
        strategyId: String(compat.lonelyStrategyId),
        positions: [{ quantity, C2Symbol: { FullSymbol: 'AAPL', SymbolType: 'stock' } }],
      },
    })

  test('both versions are on both hosts, and zero means no position', async () => {
    const [first] = resultsOf<Plan>(await set('/gen/v2/Strategies/SetDesiredPositions', 5))
    expect(first?.NewSignals).toMatchObject([{ OrderQuantity: 5, C2Symbol: { FullSymbol: 'AAPL' } }])
    expect(first?.RejectedSignals).toEqual([])
    await compat.door('/quotes', [{ symbol: 'AAPL', bid: 99, ask: 100 }])
    expect(resultsOf(await set('/wl/Strategies/SetDesiredPositions', 5))).toEqual([nothing])
    const [last] = resultsOf<Plan>(await set('/gen/Strategies/SetDesiredPositions', 0))
    expect(last?.NewSignals).toEqual([expect.any(Number)])
    expect(resultsOf(await set('/wl/v2/Strategies/SetDesiredPositions', 0))).toEqual([
      { ...nothing, RejectedSignals: [] },
    ])
  })
})

// The last one: it lets two nights pass.
test('a change of sides that still waits counts as done, and gives way to another wish', async () => {
  await town.door('/clock', { now: '2024-03-13T15:00:00Z' })
  await quoteAll()
  await want(['A', 100])
  await town.door('/clock', { now: '2024-03-13T21:00:00Z' })
  const { NewSignals } = await want(['A', -50])
  expect(await live()).toMatchObject([
    { OrderQuantity: 100, OrderStatus: '0', OpenClose: 'C' },
    { OrderQuantity: 50, OrderStatus: 'A', OpenClose: 'O', ParentSignalId: NewSignals[0] },
  ])
  expect(await want(['A', -50])).toEqual(nothing)
  const other = await want(['A', 120])
  expect([other.NewSignals.length, other.CanceledSignals]).toEqual([1, NewSignals])
  await town.door('/clock', { now: '2024-03-14T14:00:00Z' })
  await quoteAll()
  expect(await held()).toBe('A 120')
})
