/** An exit in an account that is placed anew, after the one before it has executed a part and was canceled. */
import { expect, test } from 'vitest'
import { call, resultsOf } from '../support/http.ts'
import { apple, buildTown, holderAccount } from './support/town.ts'

interface Listed {
  readonly OrderId: string
  readonly SignalId: number
  readonly OrderStatus: string
  readonly OrderQuantity: number
  readonly FilledQuantity: number
  readonly AvgFillPrice: number
}

const town = await buildTown()
const { holder, owner } = town.people
const own = { Account: holderAccount, PersonId: holder.personId }

/** The signals of the strategy's stop, one replacing the other. */
const stops: (number | undefined)[] = []

const listed = async (filter: object = {}): Promise<Listed[]> =>
  resultsOf<Listed>(
    await town.ask('GetAutotradeHistoricalOrders', { ...own, ...filter }, { key: holder.key }),
  ).filter(({ SignalId }) => stops.includes(SignalId))
const shown = async (filter?: object) =>
  (await listed(filter)).map((order) => [
    ...[order.OrderStatus, order.OrderQuantity, order.FilledQuantity, order.AvgFillPrice],
  ])

/** The strategy's stop for all that it holds, or another in its place. */
const stopAt = async (Stop: number): Promise<void> => {
  const replaced = stops.at(-1)
  const terms = { StrategyId: town.strategyId, OrderType: '3', Side: '2', OrderQuantity: 100, TIF: '1' }
  const place = replaced === undefined ? {} : { CancelReplaceSignalId: replaced }
  const Order = { ...terms, Stop, PlatformSymbol: apple, ...place }
  const answer = await town.ask('NewStrategyOrder', { Order }, { key: owner.key })
  stops.push(resultsOf<{ SignalId: number }>(answer)[0]?.SignalId)
}

async function execute(qty: number, px: number): Promise<void> {
  const clientOrderId = (await listed()).at(-1)?.OrderId
  await town.door('/broker', {
    execution: { account: holderAccount, symbol: 'AAPL', side: '2', qty, px, clientOrderId },
  })
}

test('it shows what it executes itself, not what the one before it did', async () => {
  await stopAt(80)
  await execute(40, 79)
  const [exit] = await listed()
  await town.ask('CancelAutotradeOrder', { ...own, OrderId: exit?.OrderId }, { key: holder.key })
  const canceled = ['4', 100, 40, 79]
  const begun = ['0', 60, 0, 0]
  expect(await shown()).toEqual([canceled, begun])
  expect([await shown({ OrderStatus: '0' }), await shown({ OrderStatus: '1' })]).toEqual([[begun], []])
  await execute(20, 76)
  const next = ['1', 60, 20, 76]
  expect(await shown()).toEqual([canceled, next])
  await stopAt(78)
  expect(await shown()).toEqual([canceled, ['5', ...next.slice(1)], next])
  await town.door('/quotes', [{ symbol: 'AAPL', bid: 70, ask: 70.1 }])
  expect((await shown()).at(-1)).toEqual(['2', 60, 60, 72])
  expect((await call(town.platform.url, '/test/audit')).json).toEqual({ violations: [] })
})
