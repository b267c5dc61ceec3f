/**
 * Which setups AutoSync has to look at, and when. A mark is written in the transaction of what it is about, under
 * the account's or the strategy's lock, in the order of the setups; a cycle takes it away under both locks.
 */
import type { Instant } from '../../domain/time.ts'
import { asked } from '../database/asked.ts'
import type { Database } from '../database/database.ts'
import { firstMoment, hasCome } from '../database/moments.ts'
import { live } from '../database/order-statuses.ts'
import { type Fragment, fragment, idsOf, type Sql, type Transaction, uncounted } from '../database/sql.ts'
import { instant } from '../database/wire.ts'
import { type Among, isAmong } from '../work/among.ts'
import { claimStrategies } from '../work/matching.ts'
import { isUnheard } from './mirror-due.ts'

/** Makes a cycle due at once, or at another moment, for setups that a query names. */
const mark = (sql: Sql, setups: Fragment, at: Instant): Promise<number> => sql.run`
  insert into sync_due (setup_id, due_at) select id, ${instant(at)}::timestamptz from (${setups}) named order by id
  on conflict (setup_id) do update set due_at = least(sync_due.due_at, excluded.due_at)
    where sync_due.due_at > excluded.due_at`

/** Something has happened in these setups. */
export async function markSetups(tx: Sql, setupIds: readonly number[], now: Instant): Promise<void> {
  if (setupIds.length === 0) return
  await mark(tx, fragment`select distinct id from unnest(${setupIds}::bigint[]) named (id)`, now)
}

/** Something has happened to these strategies: all who follow them are looked at. */
export const markFollowers = (
  tx: Transaction,
  strategyIds: readonly number[],
  now: Instant,
): Promise<number> =>
  mark(
    tx,
    fragment`select id from setup where strategy_id = any(${strategyIds}::bigint[]) and stopped_at is null`,
    now,
  )

const accountsAtOnce = 500
/** Milliseconds: whoever holds an account's lock, such as a cycle, may take all of its own time. */
const accountPatience = 60_000

/**
 * What kept everybody from opening, or with `brokerId` those who have their accounts there, is over, and that is
 * committed. Under the locks of their accounts: a cycle that still read it as it was would take the mark away. Few at
 * once, for nothing is sent or booked in an account meanwhile.
 */
export async function markAccounts(
  db: Pick<Database, 'transaction'>,
  now: Instant,
  brokerId: number | null = null,
): Promise<void> {
  const markAfter = (last: number) => async (tx: Transaction) => {
    const accounts = await tx.rows<{ id: number }>`
      select id from account
      where id > ${last}::bigint and ${asked`broker_id = ${brokerId}::int`}
      order by id limit ${accountsAtOnce}::int for no key update`
    const ids = accounts.map(({ id }) => id)
    const setups = fragment`select id from setup where account_id = any(${ids}::bigint[]) and stopped_at is null`
    if (ids.length > 0) await mark(tx, setups, now)
    return ids.at(-1)
  }
  let last: number | undefined = 0
  while (last !== undefined)
    last = await db.transaction(markAfter(last), { statementTimeoutMs: accountPatience })
}

/**
 * Setups (as `setup`) whose cycle is due. A strategy whose signals still wait for their copies waits as well:
 * its followers have not heard of what it holds.
 */
export const dueSyncs = (now: Instant): Fragment => fragment`
  sync_due d join setup on setup.id = d.setup_id
  where ${hasCome(fragment`d.due_at`, now)}
    and not ${isUnheard(now)}`

/** True while a cycle is due. */
export const isSyncDue = (now: Instant): Fragment => fragment`exists (select from ${dueSyncs(now)})`

/** Setups whose cycle is due. */
export const listDueSyncs = (sql: Sql, now: Instant, among: Among, limit: number): Promise<number[]> =>
  idsOf(sql.rows`
    select setup.id from ${dueSyncs(now)} and ${isAmong(fragment`setup.id`, among)}
    order by setup.id limit ${limit}::int`)

/** When the next cycle is due, of those that only wait for time; what waits for signals follows on their own moments. */
export const findNextSync = firstMoment`
  select min(d.due_at) from sync_due d join setup on setup.id = d.setup_id
  where not exists (select from signal s where s.mirror_due and s.strategy_id = setup.strategy_id)`

interface NamedSetup {
  readonly id: number
  readonly accountId: number
  readonly strategyId: number
}

/** Orders and positions of strategies that one transaction looks at, counted anew for each setup: about a second's work. */
const entriesAtOnce = 5_000

/** As many of them as one transaction can look at while their strategies wait, in their order; always the first. */
async function affordable(tx: Transaction, named: readonly NamedSetup[]): Promise<readonly NamedSetup[]> {
  if (named.length <= 1) return named
  const rows = await tx.rows<{ id: number; entries: number }>`
    select id,
      (select count(*) from signal where strategy_id = strategy.id and status in ${live})
        + (select count(*) from position where strategy_id = strategy.id and quantity <> 0) as entries
    from strategy where id = any(${uncounted([...new Set(named.map(({ strategyId }) => strategyId))], 'bigint')}::bigint[])`
  const entriesOf = new Map(rows.map(({ id, entries }) => [id, entries]))
  let entries = 0
  return named.filter(({ strategyId }, place) => {
    entries += entriesOf.get(strategyId) ?? 0
    return place === 0 || entries <= entriesAtOnce
  })
}

/**
 * Locks the setups that have been due for longest, or those that are marked again with each of their executions would
 * keep all others waiting: their strategies, then their accounts; those that others hold are passed over.
 */
export async function claimSyncs(
  tx: Transaction,
  now: Instant,
  among: Among,
  limit: number,
): Promise<number[]> {
  const due = await tx.rows<NamedSetup>`
    select setup.id, setup.account_id as "accountId", setup.strategy_id as "strategyId" from ${dueSyncs(now)}
      and ${isAmong(fragment`setup.id`, among)}
    order by d.due_at, setup.id limit ${limit}::int`
  // Where nobody of those that can be afforded is free, the next are tried: one strategy of thousands would stop all.
  let claimed: number[] = []
  for (let rest: readonly NamedSetup[] = due; rest.length > 0 && claimed.length === 0; ) {
    const named = await affordable(tx, rest)
    claimed = await claimFree(tx, named)
    const tried = new Set(named.map(({ strategyId }) => strategyId))
    rest = rest.filter(({ strategyId }) => !tried.has(strategyId))
  }
  return claimed
}

/** Locks those of the setups whose strategies and accounts are free; answers them in the order of their ids. */
async function claimFree(tx: Transaction, setups: readonly NamedSetup[]): Promise<number[]> {
  const named = setups.toSorted((one, other) => one.id - other.id)
  const strategyIds = named.map(({ strategyId }) => strategyId)
  const accountIds = named.map(({ accountId }) => accountId)
  const isFree = await claimStrategies(tx, strategyIds)
  const accounts = await tx.rows<{ id: number }>`
    select id from account where id = any(${uncounted(accountIds, 'bigint')}::bigint[])
    order by id for no key update skip locked`
  const isOurs = new Set(accounts.map(({ id }) => id))
  return named
    .filter(({ accountId, strategyId }) => isFree.has(strategyId) && isOurs.has(accountId))
    .map(({ id }) => id)
}

/** The marks of claimed setups are done; where a moment is given they are looked at again then. */
export async function settleSyncs(
  tx: Transaction,
  setupIds: readonly number[],
  again: readonly { readonly setupId: number; readonly at: Instant }[],
): Promise<void> {
  await tx.run`delete from sync_due where setup_id = any(${uncounted(setupIds, 'bigint')}::bigint[])`
  if (again.length === 0) return
  await tx.run`
    insert into sync_due (setup_id, due_at)
    select * from unnest(${again.map(({ setupId }) => setupId)}::bigint[],
      ${again.map(({ at }) => instant(at))}::timestamptz[]) a (setup_id, due_at) order by setup_id
    on conflict (setup_id) do update set due_at = least(sync_due.due_at, excluded.due_at)`
}
