/** What happens to people who subscribe and pay: each act, done to the platform and to the model alike. */
import { expect } from 'vitest'
import { isRefused } from '../../../src/operations/context.ts'
import { choosePlan } from '../../../src/operations/subscribe-plan.ts'
import { notePaidOtherwise, waiveCharge } from '../../../src/storage/billing/by-hand.ts'
import { changeCatalogEntry } from '../../../src/storage/billing/catalog.ts'
import { retryCharges } from '../../../src/storage/billing/charges.ts'
import { cancelPlan, withdrawPlan } from '../../../src/storage/billing/plan-subscriptions.ts'
import { changeStrategy } from '../../../src/storage/operating/administration.ts'
import type { Happening } from '../../execution/lives.ts'
import { call } from '../../support/http.ts'
import { day } from './money.ts'
import { type Person, type Plan, refused, type Strategy } from './money-model.ts'
import { type Account, dollars, MoneyTown, pickOf } from './money-town.ts'

const waits = [0, 1, 3, 5, 7, 9, 14, 16, 20, 29, 30, 31, 45]
const cents = [0, 1, 999, 2999, 5000, 9999, 12_345]
const percents = [20, 10, 0, 33]

export class MoneyLife extends MoneyTown {
  /** What has happened, for whoever looks into a life that went wrong. */
  readonly told: string[] = []
  private readonly markups = new Map<Strategy, number>()

  /** A whole life, with a check after each act of its story; in the end its books add up. */
  async live(
    { pick, story }: { readonly pick: number; readonly story: readonly Happening[] },
    beginning: readonly string[],
    check: (act: string) => Promise<void>,
  ): Promise<void> {
    await this.begin(pick)
    try {
      for (const [place, act] of beginning.entries()) await this.happen(act, pick + place * 7)
      for (const one of story) {
        await this.happen(one.act, one.pick)
        await check(one.act)
      }
      expect((await call(this.platform.url, '/test/audit')).json).toEqual({ violations: [] })
      expect(this.platform.errors).toEqual([])
    } catch (error) {
      console.error(this.told.join('\n'))
      throw error
    }
  }

  /** One thing happens, to both. */
  async happen(act: string, pick: number): Promise<void> {
    await this.gains.read(false)
    // Small numbers are many among those given: spread, they choose everything.
    const came = await this.acts[act]?.(((pick + 1) * 48_271) % 65_521)
    this.told.push(`${new Date(this.now).toISOString()} ${act} ${came ?? ''}`)
    if (act === 'wait' || act === 'retry') await this.door('/clock', { now: new Date(this.now) })
    this.gains.now = this.now
    await this.gains.read(true)
    this.model.passTo(this.now)
  }

  readonly acts: Record<string, (pick: number) => Promise<string>> = {
    wait: async (pick) => {
      const midnight = this.now - (this.now % day)
      const next = midnight + 15 * 3_600_000 + pickOf(pick, waits) * day + (pick % 170) * 60_001
      this.now = Math.max(this.now + 1000, next)
      // Most days on which things happen are days of trading.
      const weekday = new Date(this.now).getUTCDay()
      if (pick % 4 > 0 && weekday % 6 === 0) this.now += (weekday === 0 ? 1 : 2) * day
      return `until ${new Date(this.now).toISOString()}`
    },
    start: (pick) =>
      this.start(pickOf(pick, this.accounts), pickOf(pick, this.strategies, 31), pick % 2 === 0),
    stop: (pick) => this.stop(pick),
    subscribe: async (pick) => {
      const person = pickOf(pick, this.people)
      const strategy = pickOf(pick, this.strategies, 7)
      const kind = pickOf(pick, ['simulated', 'paper', 'paid'] as const, 29)
      const expected = this.model.subscribe(person, strategy, kind, this.now) ? 400 : 200
      const body = [{ personId: person.id, strategyId: strategy.id, kind }]
      expect((await call(this.platform.url, '/test/subscriptions', { body })).status).toBe(expected)
      return `${kind} ${person.id} to ${strategy.id}: ${expected}`
    },
    methods: async (pick) => {
      const person = pickOf(pick, this.people)
      person.declines = pickOf(pick, [undefined, 'card expired', 'no money', undefined], 7)
      await this.door('/payment-methods', [{ personId: person.id, declines: person.declines }])
      return `${person.id} ${person.declines ?? 'pays'}`
    },
    price: async (pick) => {
      const strategy = pickOf(pick, this.strategies)
      strategy.price = pickOf(pick, cents, 3)
      await this.door('/strategies', [{ strategyId: strategy.id, monthlyCost: strategy.price / 100 }])
      return `${strategy.id} ${strategy.price}`
    },
    percent: async (pick) => {
      const strategy = pickOf(pick, this.strategies)
      strategy.percent = pickOf(pick, percents, 3)
      await this.change(strategy, { performanceFee: strategy.percent })
      return `${strategy.id} ${strategy.percent}`
    },
    alive: async (pick) => {
      const strategy = pickOf(pick, this.strategies)
      strategy.isAlive = Math.floor(pick / 3) % 3 > 0
      await this.change(strategy, { isAlive: strategy.isAlive })
      return `${strategy.id} ${strategy.isAlive}`
    },
    closed: async (pick) => {
      const strategy = pickOf(pick, this.strategies)
      const isClosed = Math.floor(pick / 3) % 3 === 0
      if (isClosed) this.noSubs.add(strategy)
      else this.noSubs.delete(strategy)
      await this.change(strategy, { noSubsAllowed: isClosed })
      return `${strategy.id} ${isClosed}`
    },
    catalog: (pick) => this.catalog(pick),
    markup: async (pick) => {
      const strategy = pickOf(pick, this.strategies)
      const markup = pickOf(pick, cents, 3)
      const entry = { name: undefined, markup: dollars(markup) }
      const isThere = await this.platform.db.transaction((tx) =>
        changeCatalogEntry(tx, this.site, strategy.id, entry),
      )
      expect(isThere).toBe(strategy.markup !== undefined)
      if (isThere) strategy.markup = markup
      return `${strategy.id} ${markup}: ${isThere}`
    },
    // One has most of the wishes, so that most of them are changes.
    choose: (pick) => {
      const [, , one, other] = this.people
      const person = pick % 4 > 0 ? one : other
      if (!person) throw new Error('nobody is there to choose')
      return this.choose(person, pickOf(pick, this.plans, 5))
    },
    cancel: async (pick) => {
      const person = pickOf(pick, this.people)
      const kind = pickOf(pick, ['investor', 'investor', 'manager'] as const, 5)
      const expected = this.model.cancelPlan(person, kind)
      expect(await cancelPlan(this.platform.db.write, person.id, kind)).toBe(expected)
      return `${person.id} ${kind}: ${expected}`
    },
    offer: async (pick) => {
      const plan = pickOf(pick, this.plans)
      Object.assign(plan, { price: pickOf(pick, cents, 5), isOffered: true })
      expect(await this.offer(plan)).toBe(plan.id)
      return `${plan.id} ${plan.price}`
    },
    withdraw: async (pick) => {
      const plan = pickOf(pick, this.plans)
      expect(await withdrawPlan(this.platform.db.write, plan.id)).toBe(plan.isOffered)
      plan.isOffered = false
      return `${plan.id}`
    },
    retry: (pick) => this.retry(pick),
    settle: (pick) => this.sayOf(pick, 'settle'),
    waive: (pick) => this.sayOf(pick, 'waive'),
    quote: async (pick) => {
      await this.quote(90 + (pick % 4000) / 100)
      return `${this.gains.price}`
    },
    trade: async (pick) => {
      const strategy = pickOf(pick, [this.strategies[0], this.strategies[2]])
      if (!strategy?.isAlive) return 'nothing'
      const Side = Math.floor(pick / 2) % 4 === 0 ? '2' : '1'
      const OrderQuantity = 10 + (pick % 7) * 10
      const PlatformSymbol = { FullSymbol: 'AAPL', SymbolType: 'stock' }
      const terms = { OrderType: '1', TIF: '1', Side, OrderQuantity, PlatformSymbol }
      const body = { Order: { StrategyId: strategy.id, ...terms } }
      const answer = await call(this.platform.url, '/gen/Strategies/NewStrategyOrder', {
        key: this.keys.get(strategy.owner),
        body,
      })
      await this.quote(this.gains.price)
      return `${strategy.id} ${Side} ${OrderQuantity} at ${this.gains.price}: ${answer.status}`
    },
  }

  private change = (strategy: Strategy, terms: object): Promise<unknown> =>
    changeStrategy(this.platform.db.write, { strategyId: strategy.id, changedAt: this.now, ...terms })

  private async start({ name, kind, holder }: Account, strategy: Strategy, isHalf: boolean): Promise<string> {
    const present = this.model.present(holder, strategy)
    const isJoined = present && (kind === 'simulated' || present.kind !== 'simulated')
    const isCovered = isJoined && !(kind === 'paid' && present.kind === 'paper')
    const isFollowed = this.gains.follows(name, strategy.id)
    let isRefusedHere = false
    if (!(isFollowed && isCovered)) {
      const isOpen = strategy.isAlive && (strategy.owner === holder.id || !this.noSubs.has(strategy))
      isRefusedHere = !isOpen || this.model.subscribe(holder, strategy, kind, this.now) === refused
    }
    const body = {
      Account: name,
      StrategyId: strategy.id,
      StocksEnabled: true,
      OptionsEnabled: true,
      FuturesEnabled: true,
      ForexEnabled: true,
      ScalingPercentage: isHalf ? 50 : 100,
    }
    const key = this.keys.get(holder.id)
    const answer = await call(this.platform.url, '/gen/Autotrade/StartAutotrade', { key, body })
    const told = `${name} of ${holder.id} to ${strategy.id}, ${kind}: ${answer.status}`
    expect(answer.status, `${told} ${answer.text}`).toBe(isRefusedHere ? 409 : 200)
    return told
  }

  private async stop(pick: number): Promise<string> {
    const live = this.gains.setups.filter(({ stoppedAt }) => stoppedAt === null)
    if (live.length === 0) return 'nothing'
    const { account, personId, strategyId } = pickOf(pick, live)
    const [leaves, ends] = [Math.floor(pick / 50) % 4 === 0, Math.floor(pick / 200) % 2 === 0]
    const strategy = this.strategies.find(({ id }) => id === strategyId)
    const person = this.people.find(({ id }) => id === personId)
    if (ends && strategy && person) this.model.terminate(person, strategy, this.now)
    const whose = `Account=${account}&PersonId=${personId}&StrategyId=${strategyId}`
    const path = `/gen/Autotrade/StopAutotrade?${whose}&LeavePositionsOpen=${leaves}&TerminateStrategySubscription=${ends}`
    const key = this.keys.get(personId)
    expect((await call(this.platform.url, path, { method: 'DELETE', key })).status).toBe(200)
    await this.quote(this.gains.price)
    return `${account} of ${personId} to ${strategyId}, leaves ${leaves} ends ${ends}`
  }

  private async catalog(pick: number): Promise<string> {
    const strategy = pickOf(pick, this.strategies)
    const adds = Math.floor(pick / 3) % 3 > 0
    const [row] = await this.ask('/wl/Strategies/UpdateSiteCatalog', this.admin, {
      Action: adds ? 'Add' : 'Remove',
      StrategyIds: [strategy.id],
    })
    const paying = this.model.subscriptions.filter(
      (one) =>
        one.strategy === strategy &&
        one.person.site === this.site &&
        one.status === 'active' &&
        one.person.id !== strategy.owner &&
        (one.kind === 'paid' || one.base + one.markup > 0),
    )
    const isThere = strategy.markup !== undefined
    const expected = adds
      ? isThere
        ? 'already_in_catalog'
        : 'added'
      : !isThere
        ? 'not_in_catalog'
        : paying.length > 0
          ? 'active_subscribers'
          : 'removed'
    expect(row?.Status).toBe(expected)
    if (expected === 'active_subscribers') expect(row?.ActiveSubscribers).toBe(paying.length)
    if (expected === 'removed') {
      this.markups.set(strategy, strategy.markup ?? 0)
      strategy.markup = undefined
    }
    if (expected === 'added') strategy.markup = this.markups.get(strategy) ?? 0
    return `${strategy.id} ${expected}`
  }

  private async choose(person: Person, plan: Plan): Promise<string> {
    const expected = this.model.choose(person, plan, this.now)
    const wanted = { personId: person.id, planId: plan.id, at: this.now }
    let told = ''
    const outcome = await this.platform.db
      .transaction(async (tx) => {
        const chosen = await choosePlan(tx, wanted)
        if (!isRefused(chosen)) return chosen.begins
        told = `${chosen.refused} ${chosen.message}`
        throw new Error(refused)
      })
      .catch((error: Error) => {
        if (error.message !== refused) throw error
        return refused
      })
    expect(outcome, `${person.id} ${plan.id} ${told}`).toBe(expected)
    return `${person.id} ${plan.id} at ${plan.price}: ${expected} ${told}`
  }

  /** Mostly of what is unpaid: that it was paid otherwise, or is let go. */
  private async sayOf(pick: number, what: 'settle' | 'waive'): Promise<string> {
    const { charges } = this.model
    const unpaid = charges.filter(({ status }) => status === 'due' || status === 'failed')
    const those = unpaid.length > 0 && pick % 8 > 0 ? unpaid : charges
    if (those.length === 0) return 'nothing'
    const charge = pickOf(pick, those, 8)
    const { of, purpose, from } = charge
    const { id } = await this.platform.db.read.one<{ id: number }>`
      select c.id from charge c join subscription s on s.id = c.subscription_id
      where s.person_id = ${of.person.id} and s.started_at = ${new Date(of.startedAt).toISOString()}
        and coalesce(s.strategy_id, 0) = ${of.strategy?.id ?? 0} and coalesce(s.plan_id, 0) = ${of.plan?.id ?? 0}
        and c.purpose = ${purpose} and c.period_started_at = ${new Date(from).toISOString()}`
    const isWrongPrice = purpose === 'performance' ? pick % 3 > 0 : pick % 16 === 1
    const expected =
      what === 'settle' ? this.model.settle(charge, this.now) : this.model.waive(charge, isWrongPrice)
    const said = { chargeId: id, at: this.now, isLookedUp: false, isWrongPrice }
    const noted = await this.platform.db.transaction<string>((tx) =>
      what === 'settle' ? notePaidOtherwise(tx, said) : waiveCharge(tx, said),
    )
    expect(noted, `${what} ${purpose} ${id}, wrong price ${isWrongPrice}`).toBe(expected)
    return `${purpose} ${id}: ${noted}`
  }

  private async retry(pick: number): Promise<string> {
    const owing = this.model.subscriptions.filter((of) =>
      this.model.charges.some((one) => one.of === of && one.status !== 'paid'),
    )
    if (owing.length === 0) return 'nothing'
    const of = pickOf(pick, owing)
    const { id } = await this.platform.db.read.one<{ id: number }>`
      select id from subscription where person_id = ${of.person.id} and started_at = ${new Date(of.startedAt).toISOString()}
        and coalesce(strategy_id, -1) = ${of.strategy?.id ?? -1} and (strategy_id is not null or plan_id = ${of.plan?.id ?? 0})
      order by id desc limit 1`
    const expected = this.model.retry(of, this.now)
    expect(await retryCharges(this.platform.db.write, id, this.now)).toBe(expected)
    return `${id}: ${expected}`
  }
}
