/**
 * A strategy that asks for nothing but 20 % of what followers gain, its owner, a customer of a site and a guest, and what
 * they do: trade, follow it in accounts, and stop.
 */
import { expect } from 'vitest'
import { changeStrategy } from '../../../src/storage/operating/administration.ts'
import { call } from '../../support/http.ts'
import type { testPlatform } from '../../support/platform.ts'
import { feesOf } from './fee-scene.ts'
import { at, type Citizen } from './money.ts'

export function gainsOf(platform: Awaited<ReturnType<typeof testPlatform>>) {
  const { door, quote, ask, addStrategy, trade, ...money } = feesOf(platform)
  let owner: Citizen
  let customer: Citizen
  let strategyId = 0

  const setFee = (performanceFee: number) =>
    changeStrategy(platform.db.write, { strategyId, performanceFee, changedAt: Date.parse(at(0)) })
  const begin = async () => {
    await door('/reset', { now: at(0) })
    await door('/sites', [{ kind: 'whitelabel', name: 'west', domain: 'west.example' }])
    const people = (await door<Citizen[]>('/people', [
      { firstName: 'Olga', lastName: 'O', email: 'olga@example.org' },
      { firstName: 'Carl', lastName: 'C', email: 'carl@example.org', site: 'west' },
      { firstName: 'Gwen', lastName: 'G', email: 'gwen@example.org' },
    ])) as [Citizen, Citizen, Citizen]
    const [, , guest] = people
    ;[owner, customer] = people
    strategyId = await addStrategy(owner)
    await setFee(20)
    return { owner, customer, guest, strategyId }
  }
  /** The strategy is followed in an account that is there. */
  const start = (Account: string, who = customer, ScalingPercentage = 100) =>
    ask('/gen/Autotrade/StartAutotrade', who, {
      Account,
      StrategyId: strategyId,
      StocksEnabled: true,
      ScalingPercentage,
    })
  /** The strategy is followed in a new account. */
  const follow = async (who: Citizen, account: string, kind = 'live', ScalingPercentage = 100, more = {}) => {
    await door('/accounts', [{ account, personId: who.personId, kind, cash: 50_000, ...more }])
    await start(account, who, ScalingPercentage)
  }
  const stop = async (account: string, terminates = false, leaves = false) => {
    const who = `Account=${account}&PersonId=${customer.personId}&LeavePositionsOpen=${leaves}`
    const path = `/gen/Autotrade/StopAutotrade?${who}&StrategyId=${strategyId}&TerminateStrategySubscription=${terminates}`
    const answer = await call(platform.url, path, { method: 'DELETE', key: customer.key })
    expect(answer.status).toBe(200)
  }
  return {
    ...money,
    door,
    quote,
    begin,
    setFee,
    trade: (side: '1' | '2', quantity: number) => trade(owner, strategyId, side, quantity),
    start,
    follow,
    stop,
  }
}
