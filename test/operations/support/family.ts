/** A town whose strategies get variants at the site west: they are made, traded beside, and looked at. */
import { expect } from 'vitest'
import { insertVariant, type NewVariant } from '../../../src/storage/strategies/variants.ts'
import { type Answer, call, resultsOf } from '../../support/http.ts'
import type { Row } from './money.ts'
import { apple, buildTown, type CitizenName, townStart } from './town.ts'

export async function buildFamily() {
  const town = await buildTown()
  const { key } = town.people.operator
  const asked = (params: object, who: CitizenName): Promise<Answer> =>
    town.ask('GetStrategyMuxStatus', params, { key: town.people[who].key, host: 'WL' })
  const status = async (params: object = {}, who: CitizenName = 'westAdmin'): Promise<Row> => {
    const answer = await asked(params, who)
    expect(answer.status).toBe(200)
    expect(resultsOf(answer)).toHaveLength(1)
    return resultsOf<Row>(answer)[0] ?? {}
  }
  const quote = (price: number) => town.door('/quotes', [{ symbol: 'AAPL', bid: price, ask: price }])
  const clock = (now: string) => town.door('/clock', { now })
  /** Makes a variant, half of the town's first strategy unless said otherwise, and lets it catch up. */
  const variant = async (more: Partial<NewVariant> = {}): Promise<number | string> => {
    const made = await town.platform.db.transaction((tx) =>
      insertVariant(tx, {
        parentId: town.strategyId,
        ownerPersonId: town.people.westAdmin.personId,
        name: 'Half',
        scalingPercentage: 50,
        securityTypes: ['CS'],
        startingCash: undefined,
        createdAt: Date.parse(townStart),
        ...more,
      }),
    )
    await quote(100)
    return made
  }
  const order = async (terms: object): Promise<number> => {
    const Order = { StrategyId: town.strategyId, TIF: '1', PlatformSymbol: apple, ...terms }
    const answer = await town.ask('NewStrategyOrder', { Order }, { key: town.people.owner.key })
    expect(answer.status).toBe(200)
    return resultsOf<{ SignalId: number }>(answer)[0]?.SignalId ?? 0
  }
  const market = (Side: '1' | '2', OrderQuantity: number) => order({ OrderType: '1', Side, OrderQuantity })
  const positions = async (id: number) =>
    resultsOf<Row>(await town.ask('GetStrategyOpenPositions', { StrategyIds: id }, { key })).map(
      ({ Quantity }) => Quantity,
    )
  const working = async (id: number) =>
    resultsOf<Row>(await town.ask('GetStrategyActiveOrders', { StrategyIds: id }, { key })).map((row) => [
      row.Side,
      row.OpenClose,
      row.OrderType,
      row.OrderQuantity,
      row.Limit ?? row.Stop,
    ])
  const ended = async (id: number) =>
    resultsOf<Row>(
      await town.ask('GetStrategyHistoricalOrders', { StrategyId: id }, { key, host: 'WL' }),
    ).map((row) => [row.Side, row.OrderType, row.FilledQuantity, row.OrderStatus])
  const audit = async () =>
    expect((await call(town.platform.url, '/test/audit')).json).toEqual({ violations: [] })
  return {
    town,
    asked,
    status,
    quote,
    clock,
    variant,
    order,
    market,
    positions,
    working,
    ended,
    audit,
  }
}
