/**
 * What the accounts of subscribers have gained, added up from their executions and dividends alone, each in the currency
 * of its account, and the fees on it: of each account and strategy only what exceeds the highest gain that was ever
 * settled, wherever its setups stopped and began again.
 */
import type { testPlatform } from '../../support/platform.ts'

interface Fill {
  readonly id: number
  readonly execId: string
  readonly busts: string | null
  readonly setupId: number
  readonly kind: string
  readonly signed: number
  readonly px: number
  readonly at: number
}

interface Setup {
  readonly id: number
  readonly account: string
  readonly currency: string
  readonly strategyId: number
  readonly personId: number
  readonly isLive: boolean
  readonly stoppedAt: number | null
  readonly isLeftOpen: boolean
}

/** What is traded: what a point of it is worth in dollars, and whether its price is paid. */
export interface Traded {
  /** An option has another one after a split. */
  symbol: string
  readonly kind: 'CS' | 'OPT' | 'FUT' | 'FOR'
  readonly type: string
  readonly pointValue: number
  readonly isPaidInFull: boolean
  readonly calendar: 'US_EQUITY' | 'CME_GLOBEX' | 'FOREX'
  price: number
}

interface Dividend {
  readonly at: number
  readonly amount: number
}

/** What was settled of an account and strategy, and what was known before it. */
interface Settlement {
  readonly key: string
  readonly personId: number
  readonly strategyId: number
  readonly at: number
  readonly percent: number
  readonly isCharged: boolean
  readonly height: number
  readonly before: readonly (readonly [number, Settled | undefined])[]
}

interface Settled {
  readonly at: number
  readonly gain: number
  readonly held: boolean
}

export class Gains {
  setups: Setup[] = []
  readonly traded: Traded[] = []
  readonly dividends: Dividend[] = []
  /** The stock that everybody trades. */
  get stock(): Traded {
    const [stock] = this.traded
    if (!stock) throw new Error('nothing is traded')
    return stock
  }
  get price(): number {
    return this.stock.price
  }
  /** What a dollar is in other currencies. */
  readonly rates: Record<string, number> = { USD: 1 }
  /** Of two for one. */
  readonly splits: { readonly at: number; isPassed: boolean }[] = []
  now = 0
  fills: Fill[] = []
  /** What a dollar was in the currency of its account when an execution was first seen. */
  private readonly rateOf = new Map<number, number>()
  private readonly dividendRates = new Map<string, number>()
  /** Of fills that had happened before what happens now. */
  private known = 0
  private readonly heights = new Map<string, number>()
  readonly settled = new Map<number, Settled>()
  private settlements: Settlement[] = []
  private readonly platform: Awaited<ReturnType<typeof testPlatform>>
  constructor(platform: Awaited<ReturnType<typeof testPlatform>>) {
    this.platform = platform
  }

  /** `happens`: what is read has been brought by what happens now. */
  async read(happens: boolean): Promise<void> {
    const { read } = this.platform.db
    this.setups = await read.rows<Setup>`
      select t.id, a.account, a.currency, t.strategy_id as "strategyId", a.person_id as "personId",
        a.kind = 0 as "isLive", t.stopped_at as "stoppedAt", coalesce(t.positions_left_open, false) as "isLeftOpen"
      from setup t join account a on a.id = t.account_id order by t.id`
    this.fills = await read.rows<Fill>`
      select e.id, exec_id as "execId", busts, setup_id as "setupId", i.security_type as kind, px::float8 as px, executed_at as at,
        (case side when '1' then quantity else -quantity end)::float8 as signed
      from execution e join instrument i on i.id = e.instrument_id where setup_id is not null order by e.id`
    for (const { id, setupId } of this.fills) {
      const currency = this.setups.find((one) => one.id === setupId)?.currency ?? 'USD'
      if (!this.rateOf.has(id)) this.rateOf.set(id, this.rates[currency] ?? 1)
    }
    await this.passActions()
    if (!happens) this.known = this.fills.at(-1)?.id ?? 0
  }

  /** Notes rates of dividends, and prices after splits. */
  private async passActions(): Promise<void> {
    for (const { at } of this.dividends)
      for (const [currency, rate] of Object.entries(this.rates)) {
        const name = `${currency} ${at}`
        if (at <= this.now && !this.dividendRates.has(name)) this.dividendRates.set(name, rate)
      }
    for (const split of this.splits.filter(({ at, isPassed }) => at <= this.now && !isPassed)) {
      split.isPassed = true
      for (const one of this.traded) if (one.isPaidInFull) one.price /= 2
    }
    const option = this.traded.find(({ kind }) => kind === 'OPT')
    if (option)
      Object.assign(
        option,
        await this.platform.db.read.one`select symbol from instrument where security_type = 'OPT'`,
      )
  }

  follows = (account: string, strategyId: number): boolean =>
    this.setups.some(
      (one) => one.account === account && one.strategyId === strategyId && one.stoppedAt === null,
    )

  /** Settles at a moment: the fee of all accounts of a person with a strategy, in cents. */
  settle(personId: number, strategyId: number, at: number, percent: number): number {
    const own = this.setups.filter(
      (one) => one.isLive && one.personId === personId && one.strategyId === strategyId,
    )
    let total = 0
    for (const account of new Set(own.map((one) => one.account))) {
      const chain = own.filter((one) => one.account === account)
      const isDue = chain.some((setup) => this.isDue(setup))
      const rate = this.rates[chain[0]?.currency ?? 'USD']
      // Nobody can say what it is until somebody says what the currency is worth: the next term asks again.
      if (percent > 0 && (!isDue || rate === undefined)) continue
      const before = chain.map(({ id }) => [id, this.settled.get(id)] as const)
      const gain = chain.reduce((sum, setup) => sum + this.contributionOf(setup, at), 0)
      const key = `${account} ${strategyId}`
      const height = this.heights.get(key) ?? 0
      const fee = rounded((percent * Math.max(0, gain - height)) / 100)
      const charged = rounded(fee / (rate ?? 1))
      total += charged
      this.heights.set(key, Math.max(height, gain))
      const hasMoved = before.some(([id, known]) => this.settled.get(id)?.gain !== known?.gain)
      const settlement = { key, personId, strategyId, at, percent, isCharged: charged > 0, height, before }
      if (isDue || hasMoved) this.settlements.push(settlement)
    }
    return total
  }

  /** Takes back what was settled at a moment and since, unless that would charge for something twice, or dearer. */
  takeBack(personId: number, strategyId: number, at: number, percent: number): boolean {
    const own = this.settlements.filter((one) => one.personId === personId && one.strategyId === strategyId)
    const keys = new Set(own.filter((one) => one.at === at).map(({ key }) => key))
    const since = own.filter((one) => keys.has(one.key) && one.at >= at)
    if (since.some((one) => one.percent < percent || (one.at > at && one.isCharged))) return false
    for (const { key, height, before } of since.reverse()) {
      this.heights.set(key, height)
      for (const [id, known] of before)
        if (known) this.settled.set(id, known)
        else this.settled.delete(id)
    }
    this.settlements = this.settlements.filter((one) => !since.includes(one))
    return true
  }

  private ratio(from: number, to: number): number {
    return this.splits.reduce((by, { at }) => (from < at && at <= to ? by * 2 : by), 1)
  }

  private isDue({ id, stoppedAt, isLeftOpen }: Setup): boolean {
    const before = this.settled.get(id)
    return stoppedAt === null || !before || stoppedAt >= before.at || (!isLeftOpen && before.held)
  }

  /** What was left open at a stop is its holder's own once it was settled after that. In hundredths. */
  private contributionOf(setup: Setup, at: number): number {
    const before = this.settled.get(setup.id)
    if (setup.isLeftOpen && before && before.at > (setup.stoppedAt ?? at)) return before.gain
    const rate = this.rates[setup.currency] ?? 1
    const fills = this.fillsOf(setup, at)
    let gain = this.dividendsOn(fills, setup, at)
    let held = false
    for (const traded of this.traded) {
      const own = fills.filter(({ kind }) => kind === traded.kind)
      held ||= own.reduce((sum, { signed }) => sum + signed, 0) !== 0
      gain += traded.isPaidInFull ? this.paid(own, traded, rate) : this.realised(own, traded, rate)
    }
    this.settled.set(setup.id, { at, gain: gain * 100, held })
    return gain * 100
  }

  /** What has happened to a setup and was not taken back, in units of now. */
  private fillsOf({ id: setupId }: Setup, at: number): Fill[] {
    const told = this.fills.filter((one) => one.setupId === setupId && (one.id <= this.known || one.at < at))
    const gone = new Set(told.flatMap(({ busts }) => busts ?? []))
    return told
      .filter(({ execId, busts }) => busts === null && !gone.has(execId))
      .map((one) => {
        const by = one.kind === 'CS' || one.kind === 'OPT' ? this.ratio(one.at, this.now) : 1
        return { ...one, signed: one.signed * by, px: one.px / by }
      })
  }

  private dividendsOn(fills: readonly Fill[], { currency }: Setup, until: number): number {
    let paid = 0
    for (const { at, amount } of this.dividends) {
      if (at > until) continue
      // Of one moment dividends come before splits.
      const unitsNow = this.ratio(at - 1, this.now)
      for (const { kind, at: filledAt, signed } of fills)
        if (kind === 'CS' && filledAt < at)
          paid += (signed / unitsNow) * amount * (this.dividendRates.get(`${currency} ${at}`) ?? 1)
    }
    return paid
  }

  private paid(fills: readonly Fill[], { price, pointValue }: Traded, rate: number): number {
    let held = 0
    let cash = 0
    for (const { id, signed, px } of fills) {
      cash -= signed * px * pointValue * (this.rateOf.get(id) ?? 1)
      held += signed
    }
    return cash + held * price * pointValue * rate
  }

  /** Futures and pairs: what closing has brought at the rate of its moment, and what closing all would bring now. */
  private realised(fills: readonly Fill[], { price, pointValue }: Traded, rate: number): number {
    let held = 0
    let average = 0
    let sum = 0
    for (const { id, signed, px } of fills) {
      const closed = held * signed < 0 ? Math.min(Math.abs(held), Math.abs(signed)) * Math.sign(held) : 0
      sum += closed * (px - average) * pointValue * (this.rateOf.get(id) ?? 1)
      const opened = signed + closed
      const before = held - closed
      held += signed
      if (opened !== 0) average = (before * average + opened * px) / (before + opened)
    }
    return sum + held * (price - average) * pointValue * rate
  }
}

/** Half a cent away from zero, whatever a double makes of it. */
const rounded = (cents: number): number => Math.round(cents + 1e-7)
