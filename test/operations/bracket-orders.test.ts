/** An entry and its exits: what the answer names, and which of the listed orders shows what was wished for. */
import { expect, test } from 'vitest'
import { resultsOf } from '../support/http.ts'
import { apple, buildTown } from './support/town.ts'

const town = await buildTown()
const { lonelyStrategyId: StrategyId } = town
const { key } = town.people.owner

type Row = Record<string, unknown>
const entry = { StrategyId, OrderType: '2', Limit: 50, Side: '1', OrderQuantity: 1, TIF: '1' }
const shown = ['ProfitTarget', 'StopLoss', 'DoNotCreateOCAGroup', 'ParentSignalId', 'Limit', 'Stop']

test.each<[string, object]>([
  ['in a group', {}],
  ['in no group', { DoNotCreateOCAGroup: true }],
])('exits %s are named by the answer, and the entry alone shows their prices', async (_, wish) => {
  const exits = { ProfitTarget: 60, StopLoss: 40, ...wish }
  const Order = { ...entry, PlatformSymbol: apple, ...exits }
  const [ids = {}] = resultsOf<Row>(await town.ask('NewStrategyOrder', { Order }, { key }))
  const { SignalId, ProfitTargetSignalId, StopLossSignalId, ExitSignalsOCAGroupId } = ids
  expect(ExitSignalsOCAGroupId !== undefined).toBe(!('DoNotCreateOCAGroup' in wish))
  const rows = resultsOf<Row>(await town.ask('GetStrategyActiveOrders', { StrategyIds: StrategyId }, { key }))
  const show = (id: unknown) => {
    const row = rows.find((listed) => listed.SignalId === id) ?? {}
    return Object.fromEntries(shown.filter((name) => name in row).map((name) => [name, row[name]]))
  }
  expect(show(SignalId)).toEqual({ Limit: 50, ...exits })
  expect(show(ProfitTargetSignalId)).toEqual({ Limit: 60, ParentSignalId: SignalId })
  expect(show(StopLossSignalId)).toEqual({ Stop: 40, ParentSignalId: SignalId })
})
