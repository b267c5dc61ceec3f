/** What the demo tells those who start it: who is there, with which keys, and what to try first. */

/** One line of `demo-keys.json`. */
export interface DemoKey {
  readonly name: string
  readonly role: 'developer' | 'investor' | 'operator' | 'geosite admin' | 'whitelabel admin'
  readonly personId: number
  readonly key: string
  /** The partner site of an admin. */
  readonly siteId?: number
  /** The developer's strategy that the investor follows. */
  readonly strategyId?: number
  /** The investor's account. */
  readonly account?: string
}

export interface DemoFacts {
  readonly keys: readonly DemoKey[]
  /** Strategies by name, in the order of their start. */
  readonly strategies: readonly { readonly id: number; readonly name: string }[]
  /** Accounts that follow them. */
  readonly accounts: readonly string[]
}
