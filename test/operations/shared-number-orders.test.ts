/**
 * Two brokers gave accounts of one person the same number. Where an operation takes no broker, what is asked for says
 * which of the two is meant.
 */
import { expect, test } from 'vitest'
import { resultsOf, told } from '../support/http.ts'
import { buildHolder, type ListedOrder } from './support/holder.ts'
import { apple } from './support/town.ts'

const { town, own, held, closing, orders, place, audit } = await buildHolder()
const { personId } = town.people.holder
const other = 7
await town.door('/accounts', [{ account: own().Account, personId, kind: 'paper', cash: 50_000 }])
await town.door('/accounts', [{ account: own().Account, personId, kind: 'live', cash: 1, brokerId: other }])

const numbers = async (): Promise<string[]> =>
  resultsOf<ListedOrder>(await held('GetAutotradeActiveOrders', own())).map(({ OrderId }) => OrderId)

test('a closing order goes where the symbol is held', async () => {
  const placed = await place({ Limit: 130, OrderQuantity: 3 })
  expect(placed).toMatchObject({ BrokerId: 1, OrderStatus: '0', OrderQuantity: 3 })
})

test('an order is replaced and canceled where it works', async () => {
  const { OrderId } = await place({ Limit: 131, OrderQuantity: 2 })
  expect((await held('ReplaceAutotradeOrder', { ...own(), OrderId, Price: 132 })).status).toBe(200)
  const replaced = (await orders()).find(({ Limit }) => Limit === 132)?.OrderId ?? ''
  expect(await numbers()).toContain(replaced)
  expect((await held('CancelAutotradeOrder', { ...own(), OrderId: replaced })).status).toBe(200)
  expect(await numbers()).not.toContain(replaced)
})

test('an order that none of them has is not found', async () => {
  for (const [operation, more] of [
    ['CancelAutotradeOrder', {}],
    ['ReplaceAutotradeOrder', { Price: 1 }],
  ] as const)
    for (const OrderId of ['LSD-ZZ-M1-0', 'nothing'])
      expect(told(await held(operation, { ...own(), OrderId, ...more }))).toEqual([404, '2013 OrderId'])
})

test('what none of them holds is refused for that', async () => {
  await town.door('/instruments', [{ symbol: 'MSFT', securityType: 'CS' }])
  const placed = await place({ PlatformSymbol: { FullSymbol: 'MSFT', SymbolType: 'stock' } })
  expect(placed).toMatchObject({ BrokerId: 1, OrderStatus: '8' })
})

test('the paper one of them is reset', async () => {
  const before = await numbers()
  expect((await held('ResetPaperTrade', own())).status).toBe(200)
  expect(await numbers()).toEqual(before)
  await audit()
})

test('where both hold the symbol a closing order is refused by what it names', async () => {
  const terms = {
    ...own(),
    BrokerId: other,
    StrategyId: town.strategyId,
    StocksEnabled: true,
    MaxStocksDollars: 500,
  }
  expect((await held('StartAutotrade', terms)).text).toBe('true')
  const both = resultsOf<{ Quantity: number }>(
    await held('GetAutoTradeOpenPositions', { Account: own().Account }),
  )
  expect(both).toHaveLength(2)
  expect(told(await held('NewAutotradeOrder', closing({ PlatformSymbol: apple })))).toEqual([
    400,
    '1128 Account',
  ])
})

test('an operator who names nobody means nobody of several people', async () => {
  const Account = 'SHARED'
  await town.door('/accounts', [{ account: Account, personId, kind: 'paper', cash: 1 }])
  const neighbour = town.people.neighbour.personId
  await town.door('/accounts', [
    { account: Account, personId: neighbour, kind: 'live', cash: 1, brokerId: other },
  ])
  const { key } = town.people.operator
  const several = [400, '1128 PersonId']
  expect(told(await town.ask('ResetPaperTrade', { Account }, { key }))).toEqual(several)
  const { Order } = closing({ PlatformSymbol: apple })
  expect(told(await town.ask('NewAutotradeOrder', { Account, Order }, { key }))).toEqual(several)
  expect((await town.ask('ResetPaperTrade', { Account, PersonId: personId }, { key })).status).toBe(200)
})
