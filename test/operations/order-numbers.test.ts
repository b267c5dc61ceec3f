/** The numbers under which account orders are listed: copies of signals beside what the platform adds itself. */
import { expect, test } from 'vitest'
import { resultsOf } from '../support/http.ts'
import { apple, buildTown, holderAccount, type Town } from './support/town.ts'

const town: Town = await buildTown()
const { holder, owner, operator } = town.people

interface Listed {
  readonly Id: number
  readonly SignalId: number
  readonly SignalType: number
  readonly OrderId: string
}

const listed = async (account: string): Promise<Listed[]> => {
  const params = { Account: account, PersonId: holder.personId }
  return resultsOf<Listed>(await town.ask('GetAutotradeHistoricalOrders', params, { key: holder.key }))
}
const follow = (account: string, more: object = {}) =>
  town.ask(
    'StartAutotrade',
    { Account: account, StrategyId: town.strategyId, StocksEnabled: true, ...more },
    { key: holder.key },
  )
const bid = (Limit: number) =>
  town.ask(
    'NewStrategyOrder',
    {
      Order: {
        StrategyId: town.strategyId,
        OrderType: '2',
        Side: '1',
        OrderQuantity: 1,
        TIF: '1',
        Limit,
        PlatformSymbol: apple,
      },
    },
    { key: owner.key },
  )

test('no two orders share one, and Id is SignalId', async () => {
  await follow(holderAccount, { AutoStopLoss: 500 })
  await town.door('/accounts', [{ account: 'U101', personId: holder.personId, cash: 50_000 }])
  await follow('U101')
  for (let cents = 1; cents <= 20; cents++) await bid(50 + cents / 100)
  const both = [...(await listed(holderAccount)), ...(await listed('U101'))]
  const own = both.filter(({ OrderId }) => /-[LY]/.test(OrderId))
  expect(own.map(({ SignalType }) => SignalType).sort()).toEqual([1, 6])
  for (const { Id, SignalId } of both) expect(SignalId).toBe(Id)
  for (const { Id, OrderId } of own)
    expect(both.filter((other) => other.Id === Id).map((other) => other.OrderId)).toEqual([OrderId])
})

test('an account or a person that is not there is forbidden to an operator too, where there is no 404', async () => {
  const Order = { OrderType: '2', Limit: 110, Side: '2', OrderQuantity: 1, TIF: '1', PlatformSymbol: apple }
  const ask = (params: object) => town.ask('NewAutotradeOrder', { ...params, Order }, { key: operator.key })
  expect((await ask({ Account: 'U999', PersonId: holder.personId })).status).toBe(403)
  expect((await ask({ Account: holderAccount, PersonId: 424242 })).status).toBe(403)
})
