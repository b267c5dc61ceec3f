/** Closed trades over HTTP: every member, the order, and for whom. */
import { expect, test } from 'vitest'
import type { Dialect } from '../../src/contract/index.ts'
import { faultsOf, resultsOf } from '../support/http.ts'
import { buildTown, symbolMember, type Town } from './support/town.ts'

const towns: Record<Dialect, Town> = { native: await buildTown(), compat: await buildTown('compat') }
const dialects: Dialect[] = ['native', 'compat']

const list = (town: Town, params: object = {}, key = town.people.stranger.key) =>
  town.ask('GetStrategyHistoricalClosedTrades', { StrategyId: town.strategyId, ...params }, { key })

/** Trades of the town's strategy: the published example, and one that never was under water. */
async function tradeOn(town: Town, dialect: Dialect) {
  const { door, strategyId, people } = town
  const order = async (symbol: string, side: '1' | '2', quantity: number) => {
    const Order = {
      StrategyId: strategyId,
      OrderType: '1',
      Side: side,
      OrderQuantity: quantity,
      TIF: '1',
      [symbolMember(dialect)]: { FullSymbol: symbol, SymbolType: 'stock' },
    }
    const answer = await town.ask('NewStrategyOrder', { Order }, { key: people.owner.key })
    return resultsOf<{ SignalId: number }>(answer)[0]?.SignalId ?? 0
  }
  const quote = (symbol: string, px: number) => door('/quotes', [{ symbol, bid: px, ask: px }])
  await door('/instruments', [
    { symbol: 'UNDER', securityType: 'CS', tick: 0.0001 },
    { symbol: 'OVER', securityType: 'CS' },
  ])
  await quote('UNDER', 54.2577)
  const under = await order('UNDER', '1', 80)
  await door('/clock', { now: '2024-03-12T14:01:00Z' })
  await quote('UNDER', 52.06)
  await door('/clock', { now: '2024-03-12T14:02:00Z' })
  await quote('UNDER', 56.1415)
  await order('UNDER', '2', 80)
  await quote('OVER', 10)
  const over = await order('OVER', '2', 5)
  await door('/clock', { now: '2024-03-12T14:03:00Z' })
  await quote('OVER', 9)
  await order('OVER', '1', 5)
  return { under, over }
}

test.each(dialects)('in %s every member of a trade is shown, the last closed first', async (dialect) => {
  const town = towns[dialect]
  const { under, over } = await tradeOn(town, dialect)
  const symbols = (name: string) => ({
    [symbolMember(dialect)]: { FullSymbol: name, SymbolType: 'stock', Description: name },
    ExchangeSymbol: {
      Symbol: name,
      Currency: 'USD',
      SecurityExchange: 'DEFAULT',
      SecurityType: 'CS',
      PriceMultiplier: 1,
    },
  })
  const rows = resultsOf(await list(town))
  expect(rows).toEqual([
    {
      Id: over,
      TradeId: over,
      StrategyId: town.strategyId,
      OpenDate: '2024-03-12T14:02:00Z',
      CloseDate: '2024-03-12T14:03:00Z',
      AvgOpenFillPrice: 10,
      AvgCloseFillPrice: 9,
      OpenedQuantity: 5,
      ClosedQuantity: 5,
      OpenSide: '2',
      CloseSide: '1',
      ProfitLoss: 5,
      Commission: 0,
      ...symbols('OVER'),
    },
    {
      Id: under,
      TradeId: under,
      StrategyId: town.strategyId,
      OpenDate: '2024-03-12T14:00:00Z',
      CloseDate: '2024-03-12T14:02:00Z',
      AvgOpenFillPrice: 54.2577,
      AvgCloseFillPrice: 56.1415,
      OpenedQuantity: 80,
      ClosedQuantity: 80,
      OpenSide: '1',
      CloseSide: '2',
      ProfitLoss: 150.7,
      Commission: 0,
      MaxDrawdown: -175.82,
      MaxDrawdown_DateCalculated: '2024-03-12T14:02:00Z',
      MaxDrawdown_WorstPrice: 52.06,
      MaxDrawdown_WorstPriceDate: '2024-03-12T14:01:00Z',
      // The town's strategy holds 100 AAPL, bought at 100 and marked at 99.99.
      MaxDrawdown_StrategyEquity: 99_823.18,
      MaxDrawdown_EntryPrice: 54.2577,
      MaxDrawdown_OpenQuantity: 80,
      ...symbols('UNDER'),
    },
  ])
})

test('an open trade is not listed', async () => {
  const town = towns.native
  expect(resultsOf(await list(town, { StrategyId: town.lonelyStrategyId }))).toEqual([])
})

test('under another plan each trade of a symbol pays for its own shares', async () => {
  const { ask, door, people, lonelyStrategyId: StrategyId } = towns.native
  const { key } = people.owner
  await door('/quotes', [{ symbol: 'OVER', bid: 9, ask: 9 }])
  for (const OrderQuantity of [100, 1000])
    for (const Side of ['1', '2']) {
      const PlatformSymbol = { FullSymbol: 'OVER', SymbolType: 'stock' }
      const Order = { StrategyId, OrderType: '1', Side, OrderQuantity, TIF: '1', PlatformSymbol }
      await ask('NewStrategyOrder', { Order }, { key })
    }
  const rows = resultsOf<{ OpenedQuantity: number; Commission: number }>(
    await list(towns.native, { StrategyId, CommissionPlan: 3 }),
  )
  // Half a cent a share, at least a dollar an order.
  expect(rows.map(({ OpenedQuantity, Commission }) => [OpenedQuantity, Commission])).toEqual([
    [1000, 10],
    [100, 2],
  ])
})

test.each<[string, object, (number | string)[]]>([
  ['no strategy', { StrategyId: '' }, [400, '1130 StrategyId']],
  ['a strategy that is not there', { StrategyId: 999 }, [404, '2013 StrategyId']],
  ['a plan that does not exist', { CommissionPlan: 2 }, [400, '1130 CommissionPlan']],
  ['a viewer who is somebody else', { PersonId: 1 }, [403, '1002 PersonId']],
  ['a viewer who is not there', { PersonId: 999 }, [403, '1002 PersonId']],
])('%s', async (_, params, expected) => {
  const answer = await list(towns.native, params)
  expect([answer.status, ...faultsOf(answer)]).toEqual(expected)
})

test('without a strategy at all; with the caller as the viewer', async () => {
  const town = towns.native
  const { key, personId } = town.people.stranger
  const none = await town.ask('GetStrategyHistoricalClosedTrades', {}, { key })
  expect([none.status, ...faultsOf(none)]).toEqual([400, '1128 StrategyId'])
  expect((await list(town, { PersonId: personId })).status).toBe(200)
})

test('admins look for people of their site, who must see the strategy', async () => {
  const town = towns.native
  const { westAdmin, eastAdmin, northAdmin, operator, neighbour, stranger } = town.people
  const seen = async (key: string, PersonId: number) => {
    const answer = await list(town, { PersonId }, key)
    return [answer.status, ...faultsOf(answer)].join(' ')
  }
  expect(await seen(westAdmin.key, neighbour.personId)).toBe('200')
  expect(await seen(northAdmin.key, neighbour.personId)).toBe('200')
  expect(await seen(operator.key, stranger.personId)).toBe('200')
  expect(await seen(eastAdmin.key, neighbour.personId)).toBe('403 1002 PersonId')
  expect(await seen(westAdmin.key, stranger.personId)).toBe('403 1002 PersonId')
  expect(await seen(operator.key, 999)).toBe('404 2013 PersonId')
  await town.platform.db.write.run`update strategy set is_private = true where id = ${town.strategyId}`
  expect(await seen(westAdmin.key, neighbour.personId)).toBe('404 2013 StrategyId')
  expect(await seen(westAdmin.key, town.people.holder.personId)).toBe('200')
  await town.platform.db.write.run`update strategy set is_private = false where id = ${town.strategyId}`
})

test('a private strategy is as if it were not there', async () => {
  const town = towns.native
  await town.platform.db.write.run`update strategy set is_private = true where id = ${town.lonelyStrategyId}`
  const seen = async (key: string) => (await list(town, { StrategyId: town.lonelyStrategyId }, key)).status
  const { stranger, owner, westAdmin } = town.people
  expect([await seen(stranger.key), await seen(owner.key), await seen(westAdmin.key)]).toEqual([
    404, 200, 200,
  ])
})
