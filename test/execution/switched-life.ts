/** One strategy with its followers, each an account of a subscriber of its own. */
import { publishQuotes } from '../../src/execution/orders/matcher.ts'
import type { Sql } from '../../src/storage/database/sql.ts'
import { insertSubscription } from '../../src/storage/people/subscriptions.ts'
import { addFollowers } from '../support/followers.ts'
import type { AccountWorld } from './account-world.ts'
import type { Border } from './switched-border.ts'
import { quote } from './world.ts'

/** A setup with the account that it is in and the subscriber. */
export interface Follower {
  readonly setupId: number
  readonly accountId: number
  readonly account: string
  readonly personId: number
  isStopped: boolean
}

export interface Life {
  readonly world: AccountWorld
  readonly border: Border
  readonly brokerId: number
  readonly strategyId: number
  readonly instrumentId: number
  readonly symbol: string
  readonly followers: Follower[]
  readonly signals: number[]
  bid: number
  isStrategyOff: boolean
  /** Of the link to the broker: answers are kept back, or it is down. */
  isHeld: boolean
  isCut: boolean
}

export type Act = (life: Life, pick: number) => Promise<unknown>

export const nowOf = ({ world }: Life): number => world.clock.time
export const dbOf = ({ world }: Life) => world.ctx.db
export const followerOf = ({ followers }: Life, pick: number): Follower => followers[pick % followers.length]!

/** Under the locks that the interface takes. */
export const under = (life: Life, act: (tx: Sql) => Promise<unknown>): Promise<unknown> =>
  dbOf(life).transaction(async (tx) => {
    await tx.run`select from strategy where id = ${life.strategyId} for no key update`
    await act(tx)
  })

export const say = ({ world, symbol, bid }: Life): Promise<number> =>
  publishQuotes(world.ctx, [quote(symbol, String(bid), String(bid + 1), world.clock.now())])

export async function subscribe(life: Life, personId: number): Promise<void> {
  const price = { base: 0n, markup: 0n }
  const { siteId } = await dbOf(life).read.one<{ siteId: number }>`
    select site_id as "siteId" from person where id = ${personId}`
  const term = { startedAt: nowOf(life), termEndsAt: nowOf(life) + 30 * 86_400_000 }
  const { strategyId } = life
  const row = { personId, strategyId, siteId, price, kind: 'paper', status: 'active', ...term } as const
  await insertSubscription(dbOf(life).write, row)
}

/** Followers, each an account of a subscriber of its own. */
export async function follow(life: Life, count: number, scaling: number): Promise<void> {
  const { strategyId, brokerId } = life
  const db = dbOf(life)
  for (const setupId of await addFollowers(db, { strategyId, brokerId, count, scaling })) {
    const { accountId, account, personId } = await db.write.one<Omit<Follower, 'setupId' | 'isStopped'>>`
      with subscriber as (
        insert into person (site_id, role, alias, first_name, last_name, email, created_at)
        select id, 'user', 'f', 'F', 'F', ${`f${setupId}@example.com`}, now() from site where kind = 'platform'
        returning id)
      update account a set person_id = subscriber.id from subscriber, setup t
      where t.id = ${setupId} and a.id = t.account_id
      returning a.id as "accountId", a.account, a.person_id as "personId"`
    life.followers.push({ setupId, accountId, account, personId, isStopped: false })
    await subscribe(life, personId)
  }
}
