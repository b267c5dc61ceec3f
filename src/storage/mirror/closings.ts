/** What stopped setups still hold and are to close. */

import type { Instant } from '../../domain/time.ts'
import { live } from '../database/order-statuses.ts'
import { type Fragment, fragment, idsOf, type Sql, type Transaction, uncounted } from '../database/sql.ts'
import { instant } from '../database/wire.ts'
import { type Among, isAmong } from '../work/among.ts'
import { cancelOrders } from './account-orders.ts'
import { heldAgainst } from './sending.ts'
import { stoppedInfo } from './setups.ts'

/** Setups that were stopped and may still hold what is to be closed. */
const isStopped = fragment`stopped_at is not null and not positions_left_open and closed_at is null`

/**
 * True while there are such setups. Asked for the first of them, since the planner takes setups that go on for setups
 * that are not closed yet: it believes that there are many, soon met, and reads a whole table in which there is none.
 */
export const isClosingDue: Fragment = fragment`(select min(id) from setup where ${isStopped}) is not null`

const isWorking = fragment`o.status in ${live}`

/**
 * A position (p) of a setup on which nothing works. After a refusal of the broker nothing is tried before the holder
 * says once more that it is to be closed, nothing while Autotrade is disabled in the account (a), and nothing where
 * trading has ended: such an order would wait for a session that never comes, and another one follow it each day.
 */
const isClosable = fragment`p.quantity <> 0 and not a.is_autotrade_disabled
  and not exists (select from instrument i where i.id = p.instrument_id and i.ended_at is not null)
  and not exists (
    select from account_order o where o.setup_id = setup.id and o.instrument_id = p.instrument_id and ${isWorking})
  and coalesce((
    select o.status <> '8' or o.id <= coalesce(setup.retries_after, 0) from account_order o
    where o.source_id = p.instrument_id and o.setup_id = setup.id and o.source = 'X'
    order by o.revision desc limit 1), true)`

/** An order (o) at work that nobody withdraws yet. */
const isKept = fragment`${isWorking} and o.status <> '6'`

/**
 * A closing order (o) that would close more than is held by now: an execution of before it was taken back, or is told
 * only since. What it has not found at its broker, it would open the other way.
 */
const wouldReverse = fragment`o.source = 'X' and o.order_qty - o.cum_qty > ${heldAgainst}`

/** Such an order at work. Not one that its broker has refused to cancel: it would be asked the same at once, over and over. */
const isExcessive = fragment`${wouldReverse} and ${isKept} and o.info = ${stoppedInfo}`

/** A setup that holds nothing and has nothing at work. */
const isOver = fragment`
  not exists (select from account_position p where p.setup_id = setup.id and p.quantity <> 0)
  and not exists (select from account_order o where o.setup_id = setup.id and ${isWorking})`

/** By their ids, for the same reason: those of whom it believes many are looked for in all positions and accounts. */
const closing = (among: Among, limit: number): Fragment => fragment`
  select setup.id from setup join account a on a.id = setup.account_id
  where setup.id = any(array(select id from setup where ${isStopped} order by id)) and ${isStopped}
    and ${isAmong(fragment`setup.id`, among)}
    and (exists (select from account_position p where p.setup_id = setup.id and ${isClosable}) or ${isOver}
      or exists (select from account_order o where o.setup_id = setup.id and ${isExcessive}))
  order by setup.id limit ${limit}::int`

/**
 * Such setups as have something to do. Those that wait, for their orders or their holder, are not among them, lest many
 * of them keep all others waiting.
 */
export const listClosingSetups = (sql: Sql, among: Among, limit: number): Promise<number[]> =>
  idsOf(sql.rows`${closing(among, limit)}`)

/**
 * Locks such setups; those that others hold are passed over. Not against who only writes rows that name them: reports do,
 * and have locked the orders by then that are withdrawn here.
 */
export const claimClosingSetups = (tx: Transaction, among: Among, limit: number): Promise<number[]> =>
  idsOf(tx.rows`${closing(among, limit)} for no key update of setup skip locked`)

/** Withdraws what would close more than is held; what is left then gets an order of its own. Answers how many rows moved. */
export const withdrawExcessive = (
  tx: Transaction,
  setupIds: readonly number[],
  now: Instant,
): Promise<number> => {
  const which = fragment`o.setup_id = any(${setupIds}::bigint[]) and ${isExcessive}`
  return cancelOrders(tx, which, { at: now, info: 'no longer wanted' })
}

/**
 * Withdraws once more what works in these setups, which were stopped: a broker has refused to cancel it. Not what closes
 * positions that are to be closed.
 */
export const withdrawOfStopped = (
  tx: Transaction,
  setupIds: readonly number[],
  now: Instant,
): Promise<number> => {
  const isWanted = fragment`o.source = 'X' and not (${wouldReverse})
    and not (select positions_left_open from setup where id = o.setup_id)`
  const which = fragment`o.setup_id = any(${uncounted(setupIds, 'bigint')}::bigint[]) and ${isKept} and not (${isWanted})`
  return cancelOrders(tx, which, { at: now, info: stoppedInfo })
}

/** An open position without a working order in a stopped setup. */
export interface ClosingRow {
  readonly setupId: number
  readonly accountId: number
  readonly brokerId: number
  readonly strategyId: number
  readonly instrumentId: number
  readonly quantity: string
  readonly scalingPercentage: number
  readonly fence: number
  /** Closing orders so far. */
  readonly revision: number
  readonly bid: string | null
  readonly ask: string | null
}

/** What the setups hold and is to be closed now. */
export const loadClosings = (tx: Transaction, setupIds: readonly number[]): Promise<ClosingRow[]> =>
  tx.rows<ClosingRow>`
    select setup.id as "setupId", setup.account_id as "accountId", a.broker_id as "brokerId",
      setup.strategy_id as "strategyId", p.instrument_id as "instrumentId", p.quantity,
      setup.scaling_percentage as "scalingPercentage", setup.fence, q.bid, q.ask, (
        select coalesce(max(o.revision) + 1, 0) from account_order o
        where o.source_id = p.instrument_id and o.setup_id = setup.id and o.source = 'X') as revision
    from setup join account a on a.id = setup.account_id
    join account_position p on p.setup_id = setup.id
    left join quote q on q.instrument_id = p.instrument_id
    where setup.id = any(${setupIds}::bigint[]) and ${isClosable}
    order by setup.account_id, setup.id, p.instrument_id`

/** Setups that hold nothing and have nothing at work are closed for good; answers how many. */
export const settleClosings = (tx: Transaction, setupIds: readonly number[], now: Instant): Promise<number> =>
  tx.run`
    update setup set closed_at = ${instant(now)}::timestamptz
    where id = any(${setupIds}::bigint[]) and ${isOver}`
