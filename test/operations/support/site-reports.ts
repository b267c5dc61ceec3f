/** A town whose site west is told what happens there: orders of its strategy, and how their copies are executed. */
import { expect } from 'vitest'
import type { OperationName } from '../../../src/contract/index.ts'
import { type Answer, call, resultsOf } from '../../support/http.ts'
import { apple, buildTown, type CitizenName, holderAccount, type Town } from './town.ts'

/** All of it is about the town that was built last. */
export function siteReports() {
  let town: Town
  const buildAnew = async (): Promise<Town> => {
    town = await buildTown()
    return town
  }
  const asked = (operation: OperationName, params: object, who: CitizenName = 'westAdmin') =>
    town.ask(operation, params, { key: town.people[who].key, host: 'WL' })
  const one = (answer: Answer): Record<string, unknown> => {
    expect(answer.status).toBe(200)
    return resultsOf<Record<string, unknown>>(answer)[0] ?? {}
  }
  const audit = async () =>
    expect((await call(town.platform.url, '/test/audit')).json).toEqual({ violations: [] })

  /** A limit order of the strategy; answers its id and its copy's. */
  async function rest(
    limit: number,
    quantity: number,
    Side = '1',
    more: object = {},
  ): Promise<{ signal: number; copy: string }> {
    const Order = {
      StrategyId: town.strategyId,
      Side,
      OrderQuantity: quantity,
      TIF: '1',
      OrderType: '2',
      Limit: limit,
      PlatformSymbol: apple,
      ...more,
    }
    const placed = await town.ask('NewStrategyOrder', { Order }, { key: town.people.owner.key })
    const signal = resultsOf<{ SignalId: number }>(placed)[0]?.SignalId ?? 0
    return { signal, copy: await copyOf(signal) }
  }
  async function copyOf(signal: number, Account = holderAccount): Promise<string> {
    const { personId: PersonId, key } = town.people.holder
    const copies = await town.ask('GetAutotradeActiveOrders', { Account, PersonId }, { key })
    const copy = resultsOf<{ SignalId: number; OrderId: string }>(copies).find(
      ({ SignalId }) => SignalId === signal,
    )
    return copy?.OrderId ?? ''
  }
  const execute = (clientOrderId: string, px: number, qty: number, side = '1', account = holderAccount) =>
    town.door('/broker', { execution: { account, symbol: 'AAPL', side, qty, px, clientOrderId } })
  const quote = (price: number) =>
    town.door('/quotes', [
      { symbol: 'AAPL', bid: price - 0.01, ask: price, bidSize: 10_000, askSize: 10_000 },
    ])
  const clock = (now: string) => town.door('/clock', { now })
  return { asked, one, rest, copyOf, execute, quote, clock, audit, buildAnew }
}
