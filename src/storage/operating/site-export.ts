/**
 * What a white-label site exports about its members: sign-ins, subscriptions, accounts and what their orders
 * executed in a stretch of time. Every list is bounded and newest first, and says how many there are in all.
 */
import { dayLength, type Instant } from '../../domain/time.ts'
import { asked } from '../database/asked.ts'
import { type Fragment, fragment, type Sql } from '../database/sql.ts'
import { instant } from '../database/wire.ts'
import { readStretches, type Stretch } from '../market/executed-stretches.ts'
import { sinceSplits } from '../market/units-since-splits.ts'
import { orderNumber } from '../mirror/account-orders.ts'

export interface ExportFilter {
  readonly siteId: number
  /** Both ends are part of it. */
  readonly from: Instant
  readonly until: Instant
  /** What is later than this has hardly happened. */
  readonly now: Instant
  readonly personId: number | bigint | null
  readonly strategyId: number | bigint | null
}

/** Rows of an export, and how many there were without the limit. */
export interface Exported<Row> {
  readonly rows: readonly Row[]
  readonly total: number
}

/** What is read of the listed rows alone: columns beside those of `listed`, and what they are joined from. */
interface Details {
  readonly select: Fragment
  readonly from: Fragment
}

const nothing: Details = { select: fragment`listed.*`, from: fragment`` }

/** Runs a query whose rows carry `total`, their number before the limit. */
async function exported<Row extends object>(
  sql: Sql,
  query: Fragment,
  limit: number,
  { select, from }: Details = nothing,
): Promise<Exported<Row>> {
  const rows = await sql.rows<Row & { total: number }>`
    select ${select}, listed.total from (
      select *, count(*) over ()::int as total from (${query}) wanted order by wanted.rank desc, wanted.id desc
      limit ${limit}::int
    ) listed ${from} order by listed.rank desc, listed.id desc`
  return { rows, total: rows[0]?.total ?? 0 }
}

const within = (column: Fragment, { from, until }: ExportFilter): Fragment =>
  fragment`${column} between ${instant(from)}::timestamptz and ${instant(until)}::timestamptz`

const ofPerson = (column: Fragment, { personId }: ExportFilter): Fragment =>
  asked`${column} = ${personId}::bigint`

const ofStrategy = (column: Fragment, { strategyId }: ExportFilter): Fragment =>
  asked`${column} = ${strategyId}::bigint`

export interface SignInRow {
  id: number
  personId: number
  kind: 'sso' | 'login'
  outcome: 'success' | 'failure'
  at: Instant
  ipAddress: string | null
}

const signIns = (filter: ExportFilter): Fragment => fragment`
  select id, person_id as "personId", kind, outcome, occurred_at as at, ip_address as "ipAddress", occurred_at as rank
  from sign_in
  where site_id = ${filter.siteId}::bigint and ${within(fragment`occurred_at`, filter)}
    and ${ofPerson(fragment`person_id`, filter)}`

/** Sign-ins of the window, the latest first, at most `limit`, and how many there are in all. */
export const exportSignIns = (sql: Sql, filter: ExportFilter, limit: number): Promise<Exported<SignInRow>> =>
  exported<SignInRow>(sql, signIns(filter), limit)

/** All sign-ins of the stretch, listed or not. */
export const countSignIns = (
  sql: Sql,
  filter: ExportFilter,
): Promise<{ sso: number; login: number; failed: number }> =>
  sql.one<{ sso: number; login: number; failed: number }>`
    select count(*) filter (where kind = 'sso')::int as sso, count(*) filter (where kind = 'login')::int as login,
      count(*) filter (where outcome = 'failure')::int as failed
    from (${signIns(filter)}) asked`

export interface SubscriptionExportRow {
  id: number
  personId: number
  strategyId: number
  isSimulation: boolean
  isAlive: boolean
  startedAt: Instant
  endedAt: Instant | null
  /** Of the present term, in dollars. */
  cost: string
}

/** Subscriptions to strategies that ran at any time of the stretch. */
export const exportSubscriptions = (
  sql: Sql,
  filter: ExportFilter,
  limit: number,
): Promise<Exported<SubscriptionExportRow>> =>
  exported<SubscriptionExportRow>(
    sql,
    fragment`
      select id, person_id as "personId", strategy_id as "strategyId", kind = 'simulated' as "isSimulation",
        status = 'active' as "isAlive", started_at as "startedAt", ended_at as "endedAt",
        (base_price + markup)::numeric / 100 as cost, started_at as rank
      from subscription
      where site_id = ${filter.siteId}::bigint and strategy_id is not null
        and started_at <= ${instant(filter.until)}::timestamptz
        and (ended_at is null or ended_at >= ${instant(filter.from)}::timestamptz)
        and ${ofPerson(fragment`person_id`, filter)} and ${ofStrategy(fragment`strategy_id`, filter)}`,
    limit,
  )

/** The site's accounts `a` that existed by the end of the stretch; with a strategy those that ever followed it. */
const accountsOf = (filter: ExportFilter): Fragment => fragment`
  a.site_id = ${filter.siteId}::bigint and a.created_at <= ${instant(filter.until)}::timestamptz
  and ${ofPerson(fragment`a.person_id`, filter)}
  and ${asked`exists (
    select from setup where setup.account_id = a.id and setup.strategy_id = ${filter.strategyId}::bigint)`}`

/** Accounts that follow somebody now, what they follow, and accounts barred from Autotrade. */
export const countAutotrade = (
  sql: Sql,
  filter: ExportFilter,
): Promise<{ accounts: number; setups: number; disabled: number }> =>
  sql.one<{ accounts: number; setups: number; disabled: number }>`
    select count(distinct setup.account_id)::int as accounts, count(setup.id)::int as setups,
      count(distinct a.id) filter (where a.is_autotrade_disabled)::int as disabled
    from account a left join setup on setup.account_id = a.id and setup.stopped_at is null
      and ${ofStrategy(fragment`setup.strategy_id`, filter)}
    where ${accountsOf(filter)}`

export interface StabilityRow {
  personId: number
  account: string
  connects: number
  disconnects: number
  disables: number
}

/** What befell each account in the stretch; the most troubled first. */
export const exportStability = (
  sql: Sql,
  filter: ExportFilter,
  limit: number,
): Promise<Exported<StabilityRow>> =>
  exported<StabilityRow>(
    sql,
    fragment`
      select a.id, a.person_id as "personId", a.account,
        count(*) filter (where e.kind = 'connect')::int as connects,
        count(*) filter (where e.kind = 'disconnect')::int as disconnects,
        count(*) filter (where e.kind = 'disable')::int as disables,
        count(*) filter (where e.kind <> 'connect')::int as rank
      from account a left join account_event e on e.account_id = a.id and ${within(fragment`e.occurred_at`, filter)}
      where ${accountsOf(filter)} group by a.id`,
    limit,
  )

export interface ExecutionExportRow {
  /** The account order's. */
  id: number
  personId: number
  account: string
  strategyId: number
  /** The number under which the order is listed. */
  signalId: number
  symbol: string
  side: '1' | '2'
  quantity: string
  avgPx: string
  at: Instant
}

/** Which executions a list counts. */
interface Counting extends Stretch {
  readonly until: Instant
  /** As this snapshot of the database saw them; as the statement does where there is only one. */
  readonly snapshot: string | null
}

/** Executions `x` after one moment and until another that count: what its broker took back does not. */
const counted = ({ since, until, snapshot }: Counting): Fragment => {
  const isSeen = (xid: Fragment): Fragment => asked`pg_visible_in_snapshot(${xid}, ${snapshot}::pg_snapshot)`
  return fragment`
  x.executed_at > ${instant(since)}::timestamptz and x.executed_at <= ${instant(until)}::timestamptz
  and ${isSeen(fragment`x.xid`)} and x.busts is null and not exists (
    select from execution b where b.account_id = x.account_id and b.broker_id = x.broker_id and b.busts = x.exec_id
      and ${isSeen(fragment`b.xid`)})`
}

/** Executions of one statement, whose time is limited. */
const executionsAtOnce = 300_000
/** A part is looked for by a statement, too. */
const longestMs = 365 * dayLength

/**
 * What each order executed in the stretch, and how many did: of years these are millions, so part by part. What is told or
 * taken back between two parts counts in none: an order would be in both of them, or in neither.
 */
export async function exportExecutions(
  sql: Sql,
  filter: ExportFilter,
  limit: number,
  atOnce = executionsAtOnce,
): Promise<Exported<ExecutionExportRow>> {
  const rows: ExecutionExportRow[] = []
  let total = 0
  let whole: Counting = { since: filter.from - 1, until: filter.until, snapshot: null }
  const { since, until } = whole
  const accounts = fragment`a.site_id = ${filter.siteId}::bigint and ${ofPerson(fragment`a.person_id`, filter)}`
  const wish = { since, until, latest: Math.min(until, filter.now), atOnce, longestMs }
  for await (const part of readStretches(sql, accounts, wish)) {
    if (part.since !== since && whole.snapshot === null)
      whole = { ...whole, snapshot: await presentSnapshot(sql) }
    // Of one row at least the number of all is told.
    const left = limit - rows.length
    const own = { ...whole, since: part.since, until: part.until ?? until }
    const found = await exportPart(sql, filter, { part: own, whole }, Math.max(left, 1))
    rows.push(...found.rows.slice(0, left))
    total += found.total
  }
  return { rows, total }
}

const presentSnapshot = async (sql: Sql): Promise<string> =>
  (await sql.one<{ text: string }>`select pg_current_snapshot()::text as text`).text

/** What the order in the row `executed` executed after a part. */
const laterOf = ({ until }: Counting, whole: Counting): Fragment => fragment`
  select from execution x where x.account_id = executed.account_id and x.order_id = executed.id
    and x.instrument_id = executed.instrument_id and ${counted({ ...whole, since: until })}`

/**
 * The orders whose last execution of all is of this part, in the units of that: a split may come between two. What is shown
 * is read of the listed ones alone.
 */
const exportPart = (
  sql: Sql,
  filter: ExportFilter,
  { part, whole }: { readonly part: Counting; readonly whole: Counting },
  limit: number,
): Promise<Exported<ExecutionExportRow>> =>
  exported<ExecutionExportRow>(
    sql,
    fragment`
      select executed.* from (
        select x.account_id, x.order_id as id, x.instrument_id, max(x.executed_at) as rank
        from execution x join account a on a.id = x.account_id
        where a.site_id = ${filter.siteId}::bigint and x.order_id is not null and ${counted(part)}
          and ${ofPerson(fragment`a.person_id`, filter)}
          and ${asked`x.setup_id in (select id from setup where strategy_id = ${filter.strategyId}::bigint)`}
        group by x.account_id, x.order_id, x.instrument_id) executed
      where ${part.until === whole.until ? fragment`true` : fragment`not exists (${laterOf(part, whole)})`}`,
    limit,
    {
      select: fragment`o.id, a.person_id as "personId", a.account, o.strategy_id as "strategyId",
        ${orderNumber} as "signalId", i.symbol, o.side, executed.quantity, executed.px as "avgPx", listed.rank as at`,
      from: fragment`
        join account a on a.id = listed.account_id
        join account_order o on o.account_id = listed.account_id and o.id = listed.id
        join instrument i on i.id = listed.instrument_id
        cross join lateral (
          select trim_scale(round(sum(x.quantity * since.units), 8)) as quantity,
            trim_scale(sum(x.quantity * since.units * x.px * since.price) / sum(x.quantity * since.units)) as px
          from execution x
          ${sinceSplits(fragment`x.instrument_id`, fragment`x.executed_at`, fragment`a.takes_effect_at <= listed.rank`)}
          where x.account_id = listed.account_id and x.order_id = listed.id
            and x.instrument_id = listed.instrument_id and ${counted(whole)}
        ) executed`,
    },
  )
