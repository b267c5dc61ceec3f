/** Holds everything that a platform says of money against the plain model of it, and every list against its sum. */
import { expect } from 'vitest'
import { call, resultsOf } from '../../support/http.ts'
import type { Row } from './money.ts'
import type { MoneyLife } from './money-life.ts'
import type { Charge, Person, Subscription } from './money-model.ts'

const wire = (at: number): string => new Date(at).toISOString().replace(/\.\d+Z$/, 'Z')
const sorted = <T>(rows: readonly T[]): string[] => rows.map((row) => JSON.stringify(row)).sort()
const without = (row: Row, ...names: string[]): Row =>
  Object.fromEntries(Object.entries(row).filter(([name]) => !names.includes(name)))
const given = (row: Row): Row =>
  Object.fromEntries(Object.entries(row).filter(([, value]) => value !== undefined))
const ordered = (row: Row): Row =>
  Object.fromEntries(Object.entries(row).sort(([a], [b]) => (a < b ? -1 : 1)))
const same = (rows: readonly Row[], expected: readonly Row[], what: string): void =>
  expect(sorted(rows.map(ordered)), what).toEqual(sorted(expected.map((row) => ordered(given(row)))))

/** In cents. */
const sumOf = (rows: readonly Row[], name: string): number =>
  rows.reduce((sum, row) => sum + Math.round(Number(row[name] ?? 0) * 100), 0)

async function listed(life: MoneyLife, path: string, params: object, who: number): Promise<Row[]> {
  const query = new URLSearchParams(params as Record<string, string>)
  return resultsOf(await call(life.platform.url, `${path}?${query}`, { key: life.keys.get(who) }))
}

const amountOf = ({ base, markup }: { base: number; markup: number }): number => base + markup

function shownSubscribed(life: MoneyLife, of: Subscription): Row {
  const { strategy, to, endedAt } = of
  const end = endedAt ?? to
  const price = life.model.priceOf(of)
  const isCharged =
    endedAt === undefined &&
    price.base + price.markup > 0 &&
    !of.isCanceled &&
    of.status === 'active' &&
    strategy?.isAlive
  const tries = life.model.charges.filter((one) => one.of === of && one.hasFailed && one.tryAt !== undefined)
  const again = Math.min(...tries.map(({ tryAt = 0 }) => tryAt))
  const isFirst = tries.length > 0 && !(isCharged && end !== undefined && end < again)
  const tried = tries.filter(({ tryAt }) => tryAt === again).reduce((sum, one) => sum + amountOf(one), 0)
  return {
    PersonId: of.person.id,
    StrategyId: strategy?.id,
    IsSimulation: of.kind === 'simulated',
    IsPaperTrade: of.kind === 'paper',
    IsAlive: of.status === 'active',
    StartDate: wire(of.startedAt),
    EndDate: end && wire(end),
    MonthlyCost: (of.base + of.markup) / 100,
    ...(isCharged && { NextChargeDate: end && wire(end), NextBillingPrice: amountOf(price) / 100 }),
    ...(isFirst && { NextChargeDate: wire(again), NextBillingPrice: tried / 100 }),
    ...(isCharged && { BillingInterval: 'day', BillingIntervalCount: 30 }),
    IsCancelPending: of.isCanceled && endedAt === undefined,
    BillingFailureCount: of.failures,
    LastBillingFailureReason: of.reason,
    LastBillingFailureAt: of.failedAt && wire(of.failedAt),
  }
}

const shownPlan = (of: Subscription): Row => ({
  PersonId: of.person.id,
  LicenseType: of.plan?.kind === 'investor' ? 'InvestorPlan' : 'ManagerPlan',
  LicenseTypeId: of.plan?.id,
  StartDate: wire(of.startedAt),
  EndDate: wire(of.endedAt ?? of.to ?? 0),
  IsRecurring: of.status === 'active' && !of.isCanceled && !!(of.plan?.isOffered || of.next?.isOffered),
  Cost: (of.base + of.markup) / 100,
})

async function checkPerson(life: MoneyLife, person: Person): Promise<void> {
  const own = life.model.subscriptions.filter((one) => one.person === person)
  const asked = { PersonId: person.id, ActiveOnly: false }
  const strategies = await listed(life, '/geo/General/GetSubscribedStrategies', asked, person.id)
  const expected = own.filter((one) => one.strategy).map((one) => shownSubscribed(life, one))
  same(
    strategies.map((row) => without(row, 'Id', 'StrategyName')),
    expected,
    `subscribed of ${person.id}`,
  )
  const running = await listed(
    life,
    '/gen/General/GetSubscribedStrategies',
    { PersonId: person.id },
    person.id,
  )
  const present = own.filter((one) => one.strategy && one.endedAt === undefined)
  expect(running.map((row) => row.StrategyId)).toEqual(present.map((one) => one.strategy?.id))
  for (const kind of ['investor', 'manager'] as const) {
    const operation = kind === 'investor' ? 'GetInvestorPlanSubscriptions' : 'GetManagerPlanSubscriptions'
    const plans = await listed(life, `/gen/General/${operation}`, asked, person.id)
    const wanted = own.filter((one) => one.plan?.kind === kind).map(shownPlan)
    same(
      plans.map((row) => without(row, 'Id')),
      wanted,
      `${kind} plans of ${person.id}`,
    )
  }
  for (const strategy of life.strategies) {
    const query = `/gen/Strategies/GetStrategyActiveOrders?StrategyIds=${strategy.id}`
    const { status } = await call(life.platform.url, query, { key: life.keys.get(person.id) })
    const sees =
      person.id === strategy.owner ||
      (person.id === life.admin && strategy.owner === life.admin) ||
      own.some((one) => one.strategy === strategy && one.status === 'active' && one.kind !== 'simulated')
    expect(status, `${person.id} sees ${strategy.id}`).toBe(sees ? 200 : 403)
  }
}

const shownRow = (life: MoneyLife, of: Subscription, price: { base: number; markup: number }) => ({
  StrategyId: of.strategy?.id,
  PersonId: of.person.id,
  SubscriberId: of.person.id,
  IsStrategyOwner: of.strategy?.owner === of.person.id,
  BasePrice: price.base / 100,
  Markup: price.markup / 100,
  Cost: amountOf(price) / 100,
  IsResale: price.markup > 0 ? 1 : 0,
  WhiteLabelSiteId: of.person.site === undefined ? undefined : life.site,
})
const names = ['StrategyName', 'Alias', 'FirstName', 'LastName', 'Email']

const shownPayment = (life: MoneyLife, charge: Charge): Row => ({
  ...shownRow(life, charge.of, charge),
  StartDate: wire(charge.from),
  EndDate: wire(charge.to),
  LastTransactionDate: wire(charge.paidAt ?? 0),
  LastTransactionAmount: amountOf(charge) / 100,
})

function shownSubscriber(life: MoneyLife, of: Subscription): Row {
  const paid = life.model.charges
    .filter((one) => one.of === of && one.status === 'paid')
    .sort((a, b) => (a.paidAt ?? 0) - (b.paidAt ?? 0))
    .at(-1)
  return {
    ...shownRow(life, of, of),
    StartDate: wire(of.startedAt),
    EndDate: wire(of.endedAt ?? of.to ?? 0),
    LastTransactionDate: paid && wire(paid.paidAt ?? 0),
    LastTransactionAmount: paid && amountOf(paid) / 100,
  }
}

/** The payments of a stretch of time, both of whose ends belong to it. */
async function checkStretch(
  life: MoneyLife,
  StrategyId: number,
  seer: number,
  paid: Charge[],
): Promise<void> {
  const moments = paid.map(({ paidAt = 0 }) => paidAt).sort((a, b) => a - b)
  const [from = life.now, to = life.now] = [moments[Math.floor(moments.length / 3)], moments.at(-2)]
  if (from > to) return
  const [StartDate, EndDate] = [from, to].map((at) => new Date(at).toISOString())
  const asked = { StrategyId, StartDate, EndDate }
  const rows = await listed(life, '/gen/Strategies/GetSubscriptionRevenue', asked, seer)
  const within = paid.filter(({ paidAt = 0 }) => from <= paidAt && paidAt <= to)
  expect(sumOf(rows, 'Cost'), `paid from ${StartDate} to ${EndDate}`).toBe(
    within.reduce((sum, one) => sum + amountOf(one), 0),
  )
}

async function checkRevenue(life: MoneyLife): Promise<void> {
  const paid = life.model.charges.filter(({ of, status }) => of.strategy && status === 'paid')
  for (const [seer, sees] of [
    [life.people[0]?.id ?? 0, (one: Subscription) => one.strategy?.owner === life.people[0]?.id],
    [life.admin, (one: Subscription) => one.person.site === life.site || one.strategy?.owner === life.admin],
  ] as const)
    for (const strategy of life.strategies) {
      if (seer !== life.admin && strategy.owner !== seer) continue
      const asked = { StrategyId: strategy.id }
      const seen = (of: Subscription) => of.strategy === strategy && (sees(of) || of.person.id === seer)
      const rows = await listed(life, '/gen/Strategies/GetSubscriptionRevenue', asked, seer)
      const payments = paid.filter(({ of }) => seen(of))
      const shown = rows.map((row) => without(row, 'Id', 'SubscriptionId', ...names))
      same(
        shown,
        payments.map((one) => shownPayment(life, one)),
        `revenue of ${strategy.id} for ${seer}`,
      )
      await checkStretch(life, strategy.id, seer, payments)
      expect(sumOf(rows, 'LastTransactionAmount')).toBe(payments.reduce((sum, one) => sum + amountOf(one), 0))
      const subscribers = await listed(life, '/gen/Strategies/GetSubscribers', asked, seer)
      const real = life.model.subscriptions.filter((of) => of.kind !== 'simulated' && seen(of))
      same(
        subscribers.map((row) => without(row, 'Id', 'SubscriptionId', ...names)),
        real.map((of) => shownSubscriber(life, of)),
        `subscribers of ${strategy.id} for ${seer}`,
      )
    }
}

/** The catalog of the site, and what it offers by the month and the year. */
async function checkOffers(life: MoneyLife): Promise<void> {
  const catalog = await listed(life, '/wl/Strategies/GetSiteCatalog', {}, life.admin)
  const resold = life.strategies.flatMap(({ id, price, markup, isAlive }) =>
    markup === undefined ? [] : [[id, price, markup, price + markup, isAlive]],
  )
  const inCents = (dollars: unknown): number => Math.round(Number(dollars) * 100)
  const shown = catalog.map(({ StrategyId, BaseMonthlyCost, MarkupDollars, SiteMonthlyCost, IsAlive }) => [
    StrategyId,
    ...[BaseMonthlyCost, MarkupDollars, SiteMonthlyCost].map(inCents),
    IsAlive,
  ])
  expect(sorted(shown), 'catalog').toEqual(sorted(resold))
  const [plans] = await listed(life, '/wl/Autotrade/GetAutotradePlans', {}, life.admin)
  const own = life.plans.filter(({ site, isOffered }) => site === life.site && isOffered)
  const offered = ((plans?.MonthlyPlans ?? []) as Row[]).map(({ Id, Price }) => [Id, inCents(Price)])
  expect(offered, 'plans').toEqual(own.map(({ id, price }) => [id, price]))
}

/** 70 % of the price of a strategy are its owner's, rounded down; the markup is the site's; the rest the platform's. */
function expectedBalances(life: MoneyLife): Record<string, number> {
  const balances: Record<string, number> = {}
  const book = (name: string, amount: number): void => {
    if (amount !== 0) balances[name] = (balances[name] ?? 0) + amount
  }
  for (const { of, base, markup, status, isPaidOtherwise } of life.model.charges) {
    if (status !== 'paid') continue
    const owned = of.strategy ? Math.floor((base * 70) / 100) : 0
    book(`provider ${isPaidOtherwise ? 'otherwise' : 'simulated'}`, -base - markup)
    book(`owner ${of.strategy?.owner}`, owned)
    book(`site ${life.site}`, markup)
    book('platform', base - owned)
  }
  return balances
}

async function checkBooks(life: MoneyLife): Promise<void> {
  const { read } = life.platform.db
  const rows = await read.rows<{ name: string; balance: number }>`
    select concat_ws(' ', a.kind, a.provider, case a.kind when 'owner' then a.person_id when 'site' then a.site_id end) as name,
      sum(e.amount)::float8 as balance
    from ledger_entry e join ledger_account a on a.id = e.account_id group by 1 having sum(e.amount) <> 0`
  const balances = Object.fromEntries(rows.map(({ name, balance }) => [name, balance]))
  const charges = await read.rows<Row>`
    select s.person_id as person, coalesce(s.strategy_id, 0) as strategy, s.started_at as "startedAt", c.purpose,
      c.period_started_at as "from", c.period_ends_at as "to", c.base_price as base, c.markup, c.status,
      c.attempts as tries, c.next_try_at as "tryAt", c.paid_at as "paidAt"
    from charge c join subscription s on s.id = c.subscription_id`
  const expected = life.model.charges.map(({ of, tryAt = null, paidAt = null, ...charge }) => {
    const { purpose, from, to, base, markup, status, tries } = charge
    const whose = { person: of.person.id, strategy: of.strategy?.id ?? 0, startedAt: of.startedAt }
    return { ...whose, purpose, from, to, base, markup, status, tries, tryAt, paidAt }
  })
  same(charges, expected, 'charges')
  expect(balances).toEqual(expectedBalances(life))
}

/** Nothing differs. */
export async function checkMoney(life: MoneyLife): Promise<void> {
  const people = life.people.map((person) => checkPerson(life, person))
  await Promise.all([checkBooks(life), ...people, checkRevenue(life), checkOffers(life)])
}
