/** An order of the compat dialect that names its instrument twice, as rows do: as the platform does and as exchanges do. */
import { expect, test } from 'vitest'
import type { OperationName } from '../../src/contract/index.ts'
import { faultsOf, resultsOf } from '../support/http.ts'
import { apple, buildTown } from './support/town.ts'

const exchangeSymbol = {
  Symbol: 'AAPL',
  Currency: 'USD',
  SecurityExchange: 'DEFAULT',
  SecurityType: 'CS',
  PriceMultiplier: 1,
}
const town = await buildTown('compat')
await town.door('/instruments', [{ symbol: 'My Index', securityType: 'CS' }])
const owned = (operation: OperationName, params: object) =>
  town.ask(operation, params, { key: town.people.owner.key })
const terms = { OrderType: '2', Limit: 50, Side: '1', OrderQuantity: 1, TIF: '1' }
const place = (symbols: object) =>
  owned('NewStrategyOrder', { Order: { StrategyId: town.strategyId, ...terms, ...symbols } })
const idOf = (answer: Awaited<ReturnType<typeof place>>) =>
  resultsOf<{ SignalId: number }>(answer)[0]?.SignalId ?? 0
const cancel = (SignalId: number) => owned('CancelStrategyOrder', { StrategyId: town.strategyId, SignalId })

test.each([
  ['a stock', { FullSymbol: 'AAPL', SymbolType: 'stock' }],
  ['a future by one digit of its year', { FullSymbol: '@ESM4', SymbolType: 'future' }],
  ['a pair', { FullSymbol: 'EURUSD', SymbolType: 'forex' }],
  ['an option', { FullSymbol: 'AAPL2421R187.5', SymbolType: 'option' }],
  ['an option by its weekly root', { FullSymbol: 'SPXW2428R5000', SymbolType: 'option' }],
  ['an instrument of a name of its own', { FullSymbol: 'My Index', SymbolType: 'stock' }],
])('%s is taken as it was shown', async (_, C2Symbol) => {
  const first = idOf(await place({ C2Symbol }))
  const rows = resultsOf<{ Id: number; C2Symbol: object; ExchangeSymbol: object }>(
    await owned('GetStrategyActiveOrders', { StrategyIds: town.strategyId }),
  )
  const row = rows.find(({ Id }) => Id === first)
  const again = await place({ C2Symbol: row?.C2Symbol, ExchangeSymbol: row?.ExchangeSymbol })
  expect(again.status).toBe(200)
  await cancel(first)
  await cancel(idOf(again))
})

test.each([
  ['another stock', { ...exchangeSymbol, Symbol: 'MSFT' }],
  ['another class', { ...exchangeSymbol, Symbol: 'EUR/USD', SecurityType: 'FOR' }],
  [
    'its option',
    {
      ...exchangeSymbol,
      SecurityType: 'OPT',
      MaturityMonthYear: '20240621',
      PutOrCall: 0,
      StrikePrice: 190,
    },
  ],
])('two instruments, the second being %s, are refused', async (_, ExchangeSymbol) => {
  const answer = await place({ C2Symbol: apple, ExchangeSymbol })
  expect([answer.status, ...faultsOf(answer)]).toEqual([400, '1121 Symbol'])
})
