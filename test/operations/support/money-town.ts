/** A small platform of people who subscribe and pay, beside the plain model of what they owe. */
import { isOpen } from '../../../src/domain/market/calendar.ts'
import { savePlan } from '../../../src/storage/billing/plan-subscriptions.ts'
import { findPlatformSite } from '../../../src/storage/operating/provision.ts'
import { insertVariant } from '../../../src/storage/strategies/variants.ts'
import { call, doorOf, resultsOf } from '../../support/http.ts'
import type { testPlatform } from '../../support/platform.ts'
import type { Citizen, Row } from './money.ts'
import { Gains, type Traded } from './money-gains.ts'
import { type Kind, MoneyModel, type Person, type Plan, type Strategy } from './money-model.ts'

export type Platform = Awaited<ReturnType<typeof testPlatform>>

/** Before a month end, a leap day and both changes of the hour in New York, at ten or eleven there. */
const beginnings = ['2023-12-30', '2024-01-31', '2024-02-28', '2024-03-08', '2024-10-30'].map((date) =>
  Date.parse(`${date}T15:00:00Z`),
)
/** The owner of strategies, the admin of the site, and customers of it and of none. */
const town = [
  ['Olga', 'user', undefined],
  ['Adam', 'whitelabel_admin', 'west'],
  ['Carl', 'user', 'west'],
  ['Gwen', 'user', undefined],
  ['Wilma', 'user', 'west'],
] as const

/** Who has which account, in which currency, by the place among the people. */
const held = [
  [0, 'paid'],
  [1, 'paid'],
  [2, 'paid'],
  [2, 'paid', 'EUR'],
  [2, 'paper'],
  [3, 'paid', 'JPY'],
  [3, 'paper'],
  [3, 'simulated'],
  [4, 'paid'],
] as const

export const pickOf = <T>(pick: number, from: readonly T[], by = 1): T =>
  from[Math.floor(pick / by) % from.length] as T
export const dollars = (amount: number): string => (amount / 100).toFixed(2)

export interface Account {
  readonly name: string
  readonly kind: Kind
  readonly holder: Person
}

export class MoneyTown {
  now = 0
  site = 0
  readonly keys = new Map<number, string>()
  readonly people: Person[] = []
  readonly strategies: Strategy[] = []
  readonly noSubs = new Set<Strategy>()
  readonly plans: Plan[] = []
  readonly accounts: Account[] = []
  admin = 0
  readonly gains: Gains
  readonly model: MoneyModel
  protected readonly door: ReturnType<typeof doorOf>
  readonly platform: Platform
  constructor(platform: Platform) {
    this.platform = platform
    this.door = doorOf(platform.url)
    this.gains = new Gains(platform)
    this.model = new MoneyModel(
      ({ person, strategy }, at, percent) => this.gains.settle(person.id, strategy?.id ?? 0, at, percent),
      ({ person, strategy }, at, percent) => this.gains.takeBack(person.id, strategy?.id ?? 0, at, percent),
    )
  }

  async begin(pick: number): Promise<void> {
    this.now = pickOf(pick, beginnings)
    await this.door('/reset', { now: new Date(this.now) })
    const [site = 0] = await this.door<number[]>('/sites', [
      { kind: 'whitelabel', name: 'west', domain: 'west.example' },
    ])
    this.site = site
    const cast = await this.door<Citizen[]>(
      '/people',
      town.map(([firstName, role, code]) => {
        const named = { firstName, lastName: 'X', email: `${firstName}@example.org`, role }
        return { ...named, ...(code && { site: code }) }
      }),
    )
    for (const [place, { personId, key }] of cast.entries()) {
      this.keys.set(personId, key)
      this.people.push({ id: personId, site: town[place]?.[2] && site, declines: undefined })
    }
    this.admin = cast[1]?.personId ?? 0
    await this.addInstruments()
    await this.addStrategies()
    await this.addAccounts()
    await this.addPlans()
  }

  private async addInstruments(): Promise<void> {
    const option = { underlying: 'AAPL', strike: 200, putOrCall: 1, expiry: '2029-01-19' }
    const wanted = [
      ['AAPL', 'CS', 'stock', 1, 'US_EQUITY', 100, {}],
      ['AAPL2919A200', 'OPT', 'option', 100, 'US_EQUITY', 5, option],
      ['@ESZ29', 'FUT', 'future', 50, 'CME_GLOBEX', 5000, { tick: 0.25, lastTradingDay: '2029-12-21' }],
      ['EURUSD', 'FOR', 'forex', 1, 'FOREX', 1.1, { tick: 0.00001 }],
    ] as const
    for (const [symbol, securityType, type, pointValue, calendar, price, more] of wanted) {
      await this.door('/instruments', [{ symbol, securityType, pointValue, calendar, ...more }])
      const isPaidInFull = calendar === 'US_EQUITY'
      const traded = { symbol, kind: securityType, type, pointValue, calendar, price, isPaidInFull }
      this.gains.traded.push(traded)
      await this.quoteOne(traded, price)
    }
    const pair = { securityType: 'FOR', calendar: 'FOREX', tick: 0.001, currency: 'JPY' }
    await this.door('/instruments', [{ symbol: 'USDJPY', ...pair }])
    await this.quoteYen(150)
  }

  protected async quoteYen(price: number): Promise<void> {
    if (isOpen('FOREX', this.now)) this.gains.rates.JPY = price
    await this.door('/quotes', [{ symbol: 'USDJPY', bid: price, ask: price }])
  }

  /** Out of session it says nothing of what something is worth. */
  protected async quoteOne(traded: Traded, price: number): Promise<void> {
    const { symbol, kind, calendar } = traded
    if (isOpen(calendar, this.now)) {
      traded.price = price
      if (kind === 'FOR') this.gains.rates.EUR = 1 / price
    }
    await this.door('/quotes', [{ symbol, bid: price, ask: price }])
  }

  private async addStrategies(): Promise<void> {
    const [owner] = this.people
    if (!owner) throw new Error('there is nobody')
    for (const [place, name] of ['One', 'Two'].entries()) {
      const added = await this.ask('/gen/Strategies/AddStrategy', owner.id, {
        StrategyName: name,
        StartingCapital: 100_000_000,
      })
      const id = Number(added[0]?.StrategyId)
      await this.door('/strategies', [{ strategyId: id, resellable: true }])
      this.strategies.push({ id, owner: owner.id, price: 0, percent: 0, isAlive: true, markup: undefined })
      if (place > 0) continue
      const made = await this.platform.db.transaction((tx) =>
        insertVariant(tx, {
          parentId: id,
          ownerPersonId: this.admin,
          name: 'Half',
          scalingPercentage: 50,
          securityTypes: ['CS', 'OPT', 'FUT', 'FOR'],
          startingCash: undefined,
          createdAt: this.now,
        }),
      )
      await this.door('/strategies', [{ strategyId: made, resellable: true }])
      const variant = {
        id: Number(made),
        owner: this.admin,
        price: 0,
        percent: 0,
        isAlive: true,
        markup: undefined,
      }
      this.strategies.push(variant)
    }
  }

  private async addAccounts(): Promise<void> {
    const kinds = { paid: 'live', paper: 'paper', simulated: 'sim' }
    for (const [place, kind, currency = 'USD'] of held) {
      const holder = this.people[place]
      if (!holder) throw new Error(`there is no person ${place}`)
      const name = `A${this.accounts.length}`
      const account = { account: name, personId: holder.id, kind: kinds[kind], cash: 100_000_000, currency }
      await this.door('/accounts', [account])
      this.accounts.push({ name, kind, holder })
    }
  }

  private async addPlans(): Promise<void> {
    for (const [name, site, kind, days, price] of [
      ['Small', undefined, 'investor', 30, 2999],
      ['Large', undefined, 'investor', 30, 9999],
      ['Year', undefined, 'investor', 365, 30_000],
      ['Manager', undefined, 'manager', 30, 1000],
      ['Own', this.site, 'investor', 30, 5000],
    ] as const) {
      const plan: Plan = { id: 0, name, site, kind, days, price, isOffered: true }
      this.plans.push({ ...plan, id: await this.offer(plan) })
    }
  }

  protected async offer({ name, site, kind, days, price }: Plan): Promise<number> {
    const { db } = this.platform
    const siteId = site ?? (await findPlatformSite(db.read))
    const termDays = days as 30 | 365
    return savePlan(db.write, { siteId, kind, name, termDays, strategiesIncluded: 1, price: dollars(price) })
  }

  protected quote(price: number): Promise<void> {
    return this.quoteOne(this.gains.stock, price)
  }

  protected async ask(path: string, who: number, body: object): Promise<Row[]> {
    return resultsOf(await call(this.platform.url, path, { key: this.keys.get(who), body }))
  }
}
