/**
 * What people owe and pay, written down a second time from what the page on fees says and from nothing else: whole cents,
 * one event after the other. Random lives are held against it.
 */
import { day } from './money.ts'

export type Kind = 'paid' | 'paper' | 'simulated'
export type PlanKind = 'investor' | 'manager'

export interface Strategy {
  readonly id: number
  readonly owner: number
  price: number
  /** Of gains, in percent. */
  percent: number
  isAlive: boolean
  /** What the white-label site asks on top of it; undefined where it is not in the site's catalog. */
  markup: number | undefined
}

export interface Plan {
  readonly id: number
  readonly name: string
  /** The site that offers it; undefined: the platform. */
  readonly site: number | undefined
  readonly kind: PlanKind
  readonly days: number
  price: number
  isOffered: boolean
}

export interface Person {
  readonly id: number
  /** A white-label site; undefined: the platform's own. */
  readonly site: number | undefined
  declines: string | undefined
}

export interface Subscription {
  readonly person: Person
  readonly strategy: Strategy | undefined
  plan: Plan | undefined
  next: Plan | undefined
  kind: Kind
  status: 'active' | 'suspended' | 'ended'
  readonly startedAt: number
  from: number
  to: number | undefined
  base: number
  markup: number
  percent: number
  isCanceled: boolean
  endedAt: number | undefined
  failures: number
  reason: string | undefined
  failedAt: number | undefined
}

export interface Charge {
  readonly of: Subscription
  readonly purpose: 'term' | 'upgrade' | 'performance'
  readonly from: number
  readonly to: number
  readonly base: number
  readonly markup: number
  status: 'due' | 'paid' | 'failed' | 'waived'
  tries: number
  tryAt: number | undefined
  paidAt: number | undefined
  hasFailed: boolean
  /** Its provider has not collected it. */
  isPaidOtherwise: boolean
  /** Of a fee: a wrong price has made it. */
  isVoid: boolean
}

/** Fees on what the accounts of a subscriber have gained until a moment, in cents; it is settled by asking. */
export type AskFee = (of: Subscription, at: number, percent: number) => number
/** Takes back what was settled at a moment, unless it was charged above that since, or a higher percentage holds now. */
export type TakeBack = (of: Subscription, at: number, percent: number) => boolean

const waits = [1, 3, 5, 7]
export const refused = 'refused'

export class MoneyModel {
  readonly subscriptions: Subscription[] = []
  readonly charges: Charge[] = []
  private readonly askFee: AskFee
  private readonly takeBack: TakeBack
  constructor(askFee: AskFee, takeBack: TakeBack) {
    this.askFee = askFee
    this.takeBack = takeBack
  }

  present = (person: Person, strategy: Strategy): Subscription | undefined =>
    this.subscriptions.find(
      (one) => one.person === person && one.strategy === strategy && one.endedAt === undefined,
    )

  presentPlan = (person: Person, kind: PlanKind): Subscription | undefined =>
    this.subscriptions.find(
      (one) => one.person === person && one.plan?.kind === kind && one.endedAt === undefined,
    )

  priceOf({
    person,
    strategy,
    plan,
    next,
    kind,
  }: Pick<Subscription, 'person' | 'strategy' | 'plan' | 'next' | 'kind'>) {
    if (kind === 'simulated' || strategy?.owner === person.id) return { base: 0, markup: 0 }
    const chosen = next?.isOffered ? next : plan
    if (chosen)
      return chosen.site === undefined ? { base: chosen.price, markup: 0 } : { base: 0, markup: chosen.price }
    return { base: strategy?.price ?? 0, markup: person.site === undefined ? 0 : (strategy?.markup ?? 0) }
  }

  /** Opens or joins a subscription to a strategy. */
  subscribe(person: Person, strategy: Strategy, kind: Kind, now: number): typeof refused | undefined {
    const present = this.present(person, strategy)
    if (present?.status === 'suspended') return refused
    if (present && (present.kind !== 'simulated' || kind === 'simulated')) {
      present.isCanceled = false
      if (kind === 'paid' && present.kind !== 'paid') {
        present.kind = 'paid'
        this.passGains(present, now)
      }
      return undefined
    }
    const price = this.priceOf({ person, strategy, kind, plan: undefined, next: undefined })
    if (price.base + price.markup > 0 && person.declines !== undefined) return refused
    if (present) this.end(present, now)
    this.open(
      { person, strategy, plan: undefined, kind, days: kind === 'simulated' ? undefined : 30 },
      price,
      now,
    )
    return undefined
  }

  private open(
    what: Pick<Subscription, 'person' | 'strategy' | 'plan' | 'kind'> & { days: number | undefined },
    price: { base: number; markup: number },
    now: number,
  ): void {
    const { days, ...named } = what
    const of: Subscription = {
      ...named,
      ...price,
      next: undefined,
      status: 'active',
      startedAt: now,
      from: now,
      to: days && now + days * day,
      percent: what.strategy?.percent ?? 0,
      isCanceled: false,
      endedAt: undefined,
      failures: 0,
      reason: undefined,
      failedAt: undefined,
    }
    this.subscriptions.push(of)
    if (of.strategy && of.kind !== 'simulated') this.passGains(of, now)
    const charge = this.charge({ of, purpose: 'term', from: now, to: of.to ?? now, ...price })
    if (charge) this.pay(charge, now)
  }

  private passGains(of: Subscription, now: number): void {
    if (
      of.kind === 'paid' &&
      of.person.id !== of.strategy?.owner &&
      (of.percent > 0 || (of.strategy?.percent ?? 0) > 0)
    )
      this.askFee(of, now, 0)
  }

  terminate(person: Person, strategy: Strategy, now: number): void {
    const present = this.present(person, strategy)
    if (present?.kind === 'simulated') this.end(present, now)
    else if (present) present.isCanceled = true
  }

  choose(person: Person, plan: Plan, now: number): typeof refused | 'now' | 'later' {
    if (!plan.isOffered || (plan.site !== undefined && plan.site !== person.site)) return refused
    const present = this.presentPlan(person, plan.kind)
    const price = this.priceOf({ person, strategy: undefined, plan, next: undefined, kind: 'paid' })
    if (!present?.plan) {
      if (plan.price > 0 && person.declines !== undefined) return refused
      this.open({ person, strategy: undefined, plan, kind: 'paid', days: plan.days }, price, now)
      return 'now'
    }
    const isOwed = this.charges.some(({ of, status }) => of === present && status === 'due')
    if (present.status !== 'active' || isOwed) return refused
    const { from, to = 0 } = present
    const left = (cents: number) => Math.floor((cents * (to - Math.max(now, from))) / (to - from))
    const isRest = plan.days === present.plan.days
    const cost = (isRest ? left(plan.price) : plan.price) - left(present.base + present.markup)
    if (plan === present.plan || cost <= 0) {
      present.isCanceled = false
      present.next = plan === present.plan ? undefined : plan
      return plan === present.plan ? 'now' : 'later'
    }
    return this.upgrade(present, plan, { cost, isRest, price }, now)
  }

  private upgrade(
    present: Subscription,
    plan: Plan,
    { cost, isRest, price }: { cost: number; isRest: boolean; price: { base: number; markup: number } },
    now: number,
  ): typeof refused | 'now' {
    const isAsked = this.charges.some(
      ({ of, purpose, from }) => of === present && purpose === 'upgrade' && from === now,
    )
    if (isAsked || present.person.declines !== undefined) return refused
    const to = isRest ? (present.to ?? 0) : now + plan.days * day
    const part = price.markup > 0 ? { base: 0, markup: cost } : { base: cost, markup: 0 }
    const charge = this.charge({ of: present, purpose: 'upgrade', from: now, to, ...part })
    Object.assign(present, { plan, next: undefined, isCanceled: false, ...price })
    if (!isRest) Object.assign(present, { from: now, to })
    if (charge) this.pay(charge, now)
    return 'now'
  }

  cancelPlan(person: Person, kind: PlanKind): boolean {
    const present = this.presentPlan(person, kind)
    if (present) Object.assign(present, { isCanceled: true, next: undefined })
    return present !== undefined
  }

  /** Asks once more, now, for what was declined: after the end for fees alone. */
  retry(of: Subscription, now: number): boolean {
    const given = this.charges.filter(
      (one) =>
        one.of === of &&
        (one.status === 'failed' || (one.tryAt ?? now) > now) &&
        (of.endedAt === undefined || one.purpose === 'performance'),
    )
    if (given.length === 0) return false
    for (const one of given) Object.assign(one, { status: 'due', tryAt: now })
    return true
  }

  /** An operator says that a charge was paid otherwise. */
  settle(charge: Charge, now: number) {
    const { of, purpose } = charge
    if (charge.status === 'paid') return charge.isPaidOtherwise ? 'notedBefore' : 'paid'
    if (charge.isVoid) return 'noGain'
    Object.assign(charge, { status: 'paid', paidAt: now, tryAt: undefined, isPaidOtherwise: true })
    this.goOn(of)
    return of.endedAt !== undefined && purpose !== 'performance' ? 'notedInVain' : 'noted'
  }

  /** An operator lets a charge go. */
  waive(charge: Charge, isWrongPrice: boolean) {
    const { of, purpose, to } = charge
    if (charge.status === 'paid') return 'paid'
    if (isWrongPrice) {
      if (purpose !== 'performance') return 'noFee'
      if (charge.isVoid) return 'waivedBefore'
      const live = of.strategy && this.present(of.person, of.strategy)
      if (!this.takeBack(of, to, live?.percent ?? 0)) return 'settledSince'
      charge.isVoid = true
    } else if (charge.status === 'waived') return 'waivedBefore'
    Object.assign(charge, { status: 'waived', tryAt: undefined })
    this.goOn(of)
    return isWrongPrice ? 'settledAnew' : 'waived'
  }

  /** Lets time pass: terms end, then what is due is asked for, moment by moment. */
  passTo(now: number): void {
    for (;;) {
      const ends = this.subscriptions.flatMap(({ to, endedAt }) =>
        endedAt === undefined && to !== undefined ? [to] : [],
      )
      const tries = this.charges.flatMap(({ tryAt }) => (tryAt === undefined ? [] : [tryAt]))
      const at = Math.min(...ends, ...tries)
      if (at > now) return
      for (const one of this.subscriptions) if (one.endedAt === undefined && one.to === at) this.turn(one, at)
      const due = this.charges.filter(({ tryAt }) => tryAt === at)
      for (const one of due) if (one.of.person.declines === undefined) this.pay(one, at)
      for (const one of due) if (one.status === 'due' && one.tryAt === at) this.decline(one, at)
    }
  }

  private turn(of: Subscription, at: number): void {
    const { strategy, person } = of
    const from = of.from
    const next = of.next?.isOffered ? of.next : of.plan
    const isOver =
      of.status !== 'active' || of.isCanceled || strategy?.isAlive === false || next?.isOffered === false
    const isAsked = of.kind === 'paid' && strategy && strategy.owner !== person.id
    const fee = isAsked && (of.percent > 0 || strategy.percent > 0) ? this.askFee(of, at, of.percent) : 0
    if (isOver) this.end(of, at)
    else {
      Object.assign(of, { ...this.priceOf(of), plan: next, next: undefined, from: at })
      of.to = at + (next?.days ?? 30) * day
      of.percent = strategy?.percent ?? 0
      this.charge({ of, purpose: 'term', from: at, to: of.to, base: of.base, markup: of.markup })
    }
    this.charge({ of, purpose: 'performance', from, to: at, base: fee, markup: 0, tryAt: at })
  }

  private end(of: Subscription, at: number): void {
    of.status = 'ended'
    of.endedAt = at
    for (const one of this.charges)
      if (one.of === of && one.status === 'due' && one.purpose !== 'performance')
        Object.assign(one, { status: 'failed', tryAt: undefined })
  }

  private charge(
    asked: Pick<Charge, 'of' | 'purpose' | 'from' | 'to' | 'base' | 'markup'> & { tryAt?: number },
  ): Charge | undefined {
    if (asked.base + asked.markup === 0) return undefined
    const said = { isPaidOtherwise: false, isVoid: false }
    const fresh = { status: 'due', tries: 0, paidAt: undefined, hasFailed: false, ...said } as const
    const charge: Charge = { ...fresh, ...asked, tryAt: asked.tryAt ?? asked.from }
    this.charges.push(charge)
    return charge
  }

  private pay(charge: Charge, at: number): void {
    Object.assign(charge, { status: 'paid', paidAt: at, tryAt: undefined, tries: charge.tries + 1 })
    this.goOn(charge.of)
  }

  /** What a subscription owed is paid or let go. */
  private goOn(of: Subscription): void {
    const others = this.charges.filter((one) => one.of === of)
    if (others.some(({ status }) => status === 'failed')) return
    if (of.endedAt === undefined) of.status = 'active'
    if (!others.some(({ status, hasFailed }) => status === 'due' && hasFailed)) of.failures = 0
  }

  private decline(charge: Charge, at: number): void {
    const { of } = charge
    charge.hasFailed = true
    charge.tries += 1
    const wait = waits[charge.tries - 1]
    Object.assign(
      charge,
      wait === undefined ? { status: 'failed', tryAt: undefined } : { tryAt: at + wait * day },
    )
    if (wait === undefined && of.endedAt === undefined) of.status = 'suspended'
    Object.assign(of, { failures: of.failures + 1, reason: of.person.declines, failedAt: at })
  }
}
