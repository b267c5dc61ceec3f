/**
 * What the accounts of subscribers have gained, added up from their executions alone, and the fees on it: of each account
 * and strategy only what exceeds the highest gain that was ever settled, wherever its setups stopped and began again.
 */
import type { testPlatform } from '../../support/platform.ts'

interface Fill {
  readonly id: number
  readonly setupId: number
  readonly signed: number
  readonly px: number
  readonly at: number
}

interface Setup {
  readonly id: number
  readonly account: string
  readonly strategyId: number
  readonly personId: number
  readonly isLive: boolean
  readonly stoppedAt: number | null
  readonly isLeftOpen: boolean
}

export class Gains {
  setups: Setup[] = []
  /** Dollars. */
  price = 100
  private fills: Fill[] = []
  /** Of fills that had happened before what happens now. */
  private known = 0
  private readonly heights = new Map<string, number>()
  private readonly settled = new Map<number, { at: number; gain: number }>()
  private readonly platform: Awaited<ReturnType<typeof testPlatform>>
  constructor(platform: Awaited<ReturnType<typeof testPlatform>>) {
    this.platform = platform
  }

  /** `happens`: what is read has been brought by what happens now. */
  async read(happens: boolean): Promise<void> {
    const { read } = this.platform.db
    this.setups = await read.rows<Setup>`
      select t.id, a.account, t.strategy_id as "strategyId", a.person_id as "personId", a.kind = 0 as "isLive",
        t.stopped_at as "stoppedAt", coalesce(t.positions_left_open, false) as "isLeftOpen"
      from setup t join account a on a.id = t.account_id order by t.id`
    this.fills = await read.rows<Fill>`
      select id, setup_id as "setupId", px::float8 as px, executed_at as at,
        (case side when '1' then quantity else -quantity end)::float8 as signed
      from execution where setup_id is not null order by id`
    if (!happens) this.known = this.fills.at(-1)?.id ?? 0
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
      const gain = chain.reduce((sum, setup) => sum + this.contributionOf(setup, at), 0)
      const key = `${account} ${strategyId}`
      const height = this.heights.get(key) ?? 0
      total += Math.round((percent * Math.max(0, gain - height)) / 100)
      this.heights.set(key, Math.max(height, gain))
    }
    return total
  }

  /** What was left open at a stop is its holder's own once it was settled after that. In cents. */
  private contributionOf(setup: Setup, at: number): number {
    const before = this.settled.get(setup.id)
    if (setup.isLeftOpen && before && before.at > (setup.stoppedAt ?? at)) return before.gain
    let cash = 0
    let held = 0
    for (const { id, setupId, signed, px, at: filledAt } of this.fills) {
      if (setupId !== setup.id || !(id <= this.known || filledAt < at)) continue
      cash -= Math.round(signed * px * 100)
      held += signed
    }
    const gain = cash + Math.round(held * this.price * 100)
    this.settled.set(setup.id, { at, gain })
    return gain
  }
}
