/** A strategy of 99.99 a month, its owner, a customer and an admin of a site, and a guest of none. */
import { type Answer, call, resultsOf } from '../../support/http.ts'
import type { testPlatform } from '../../support/platform.ts'
import { at, type Citizen, moneyOf, type Row } from './money.ts'

export function billingOf(platform: Awaited<ReturnType<typeof testPlatform>>) {
  const { door, passTo } = moneyOf(platform)
  let strategyId = 0
  const get = (path: string, params: object, { key }: Citizen): Promise<Answer> => {
    const query = new URLSearchParams(params as Record<string, string>)
    return call(platform.url, `${path}?${query}`, { key })
  }
  const rowsOf = async (path: string, params: object, who: Citizen): Promise<Row[]> => {
    const answer = await get(path, params, who)
    if (answer.status !== 200) throw new Error(answer.text)
    return resultsOf<Row>(answer)
  }
  const begin = async () => {
    await door('/reset', { now: at(0) })
    const [site = 0] = await door<number[]>('/sites', [
      { kind: 'whitelabel', name: 'west', domain: 'west.example' },
    ])
    const people = await door<Citizen[]>('/people', [
      { firstName: 'Olga', lastName: 'O', email: 'olga@example.org' },
      { firstName: 'Carl', lastName: 'C', email: 'carl@example.org', site: 'west' },
      { firstName: 'Gwen', lastName: 'G', email: 'gwen@example.org' },
      { firstName: 'Adam', lastName: 'A', email: 'adam@example.org', role: 'whitelabel_admin', site: 'west' },
    ])
    const [owner, customer, guest, admin] = people as [Citizen, Citizen, Citizen, Citizen]
    const added = await call(platform.url, '/gen/Strategies/AddStrategy', {
      key: owner.key,
      body: { StrategyName: 'Trend', StartingCapital: 10_000 },
    })
    strategyId = resultsOf<{ StrategyId: number }>(added)[0]?.StrategyId ?? 0
    await door('/strategies', [{ strategyId, monthlyCost: 99.99 }])
    return { site, owner, customer, guest, admin, strategyId }
  }
  const subscribe = (who: Citizen, kind = 'paid', more: object = {}): Promise<unknown> =>
    door('/subscriptions', [{ personId: who.personId, strategyId, kind, ...more }])
  return { door, passTo, get, rowsOf, begin, subscribe }
}
