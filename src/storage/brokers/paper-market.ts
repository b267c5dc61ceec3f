/** The paper broker's orders as the market meets them: which ones prices reach, and what becomes of them. */
import type { OrdStatus, OrdType, PositionEffect, Side } from '../../domain/codes.ts'
import type { Decimal } from '../../domain/decimal.ts'
import type { Instant } from '../../domain/time.ts'
import { hasCome } from '../database/moments.ts'
import { type Fragment, fragment, idsOf, type Sql, type Transaction, uncounted } from '../database/sql.ts'
import { type Among, isAmong } from '../work/among.ts'
import type { PriceRange } from '../work/matching.ts'

/** A working order of the book. */
export interface PaperOrderRow {
  readonly id: number
  readonly accountId: number
  readonly brokerId: number
  readonly clientOrderId: string
  readonly instrumentId: number
  readonly side: Side
  readonly ordType: OrdType
  readonly positionEffect: PositionEffect
  readonly orderQty: string
  readonly cumQty: string
  /** What was executed before, by those it replaced, and what splits have made of it all. */
  readonly carriedQty: string
  readonly fillCap: string | null
  readonly fills: number
  readonly limitPx: string | null
  readonly stopPx: string | null
  readonly isTriggered: boolean
  readonly acceptedAt: Instant
  readonly expiresAt: Instant | null
}

const orderColumns = fragment`
  o.id, o.account_id as "accountId", o.broker_id as "brokerId", o.client_order_id as "clientOrderId",
  o.instrument_id as "instrumentId", o.side, o.ord_type as "ordType", o.position_effect as "positionEffect",
  o.order_qty as "orderQty", o.cum_qty as "cumQty", o.carried_qty as "carriedQty", o.fill_cap as "fillCap",
  o.fills, o.limit_px as "limitPx", o.stop_px as "stopPx", o.is_triggered as "isTriggered", o.accepted_at as "acceptedAt", o.expires_at as "expiresAt"`

/** Working orders `o` of these accounts that prices in these ranges may fill or trigger. */
function reachedBy(ranges: readonly PriceRange[], accounts: Among): Fragment {
  const column = <K extends keyof PriceRange>(name: K): PriceRange[K][] => ranges.map((range) => range[name])
  return fragment`
    from unnest(${column('instrumentId')}::bigint[], ${column('buyLow')}::numeric[], ${column('buyHigh')}::numeric[],
      ${column('sellLow')}::numeric[], ${column('sellHigh')}::numeric[])
      r (instrument_id, buy_low, buy_high, sell_low, sell_high)
    join paper_order o on o.instrument_id = r.instrument_id and o.status in ('0', '1')
    where (o.ord_type = '1' or o.is_triggered
      or o.ord_type = '2' and (o.side = '1' and o.limit_px >= r.buy_low or o.side = '2' and o.limit_px <= r.sell_high)
      or o.ord_type = '3' and (o.side = '1' and o.stop_px <= r.buy_high or o.side = '2' and o.stop_px >= r.sell_low))
      and ${isAmong(fragment`o.account_id`, accounts)}`
}

/** Locks the orders that prices reach. */
export const lockReachedPaper = (
  tx: Transaction,
  ranges: readonly PriceRange[],
  accounts: Among,
): Promise<PaperOrderRow[]> =>
  tx.rows<PaperOrderRow>`
    select ${orderColumns} ${reachedBy(ranges, accounts)} order by o.account_id, o.id for update of o`

/** The groups of exits that signals belong to; of those that stand alone nothing is told. */
export async function loadExitGroups(
  tx: Transaction,
  signalIds: readonly number[],
): Promise<Map<number, number>> {
  const rows = await tx.rows<{ id: number; ocaGroupId: number }>`
    select id, oca_group_id as "ocaGroupId" from signal
    where id = any(${uncounted(signalIds, 'bigint')}::bigint[]) and oca_group_id is not null`
  return new Map(rows.map(({ id, ocaGroupId }) => [id, ocaGroupId]))
}

/** The accounts that have such orders. */
export const listReachedPaper = (
  sql: Sql,
  ranges: readonly PriceRange[],
  accounts: Among,
  limit: number,
): Promise<number[]> =>
  idsOf(sql.rows`
    select distinct o.account_id as id ${reachedBy(ranges, accounts)} order by id limit ${limit}::int`)

/** Instruments of the batch, by symbol or id, in which the book has working orders. */
export const listWorkedInstruments = (
  sql: Sql,
  symbols: readonly string[],
  ids: readonly number[],
): Promise<number[]> =>
  idsOf(sql.rows`
    select id from instrument i
    where (symbol = any(${symbols}::text[]) or id = any(${ids}::bigint[]))
      and exists (select from paper_order o where o.instrument_id = i.id and o.status in ('0', '1'))`)

const isArrival = (now: Instant): Fragment =>
  fragment`o.needs_match and ${hasCome(fragment`o.accepted_at`, now)}`

/** True when accepted orders were not yet held against the last quote. */
export const isPaperArrivalDue = (now: Instant): Fragment =>
  fragment`exists (select from paper_order o where ${isArrival(now)})`

/** Whose orders were accepted and not yet held against the last quote, and in which instruments; the oldest ones'. */
export const listPaperArrivals = (
  sql: Sql,
  now: Instant,
  accounts: Among,
  limit: number,
): Promise<{ accountId: number; instrumentId: number }[]> =>
  sql.rows`
    select distinct account_id as "accountId", instrument_id as "instrumentId" from (
      select o.account_id, o.instrument_id from paper_order o
      where ${isArrival(now)} and ${isAmong(fragment`o.account_id`, accounts)}
      order by o.accepted_at, o.id limit ${limit}::int) due`

/** Locks such orders in these instruments, whose quotes are locked; those that others hold are passed over. */
export const lockPaperArrivals = (
  tx: Transaction,
  now: Instant,
  { accounts, instrumentIds }: { readonly accounts: Among; readonly instrumentIds: readonly number[] },
  limit: number,
): Promise<PaperOrderRow[]> =>
  tx.rows<PaperOrderRow>`
    select ${orderColumns} from paper_order o
    where ${isArrival(now)} and ${isAmong(fragment`o.account_id`, accounts)}
      and o.instrument_id = any(${uncounted(instrumentIds, 'bigint')}::bigint[])
    order by o.accepted_at, o.id limit ${limit}::int for update skip locked`

/** Orders after a moment of the market. */
export interface PaperChange {
  readonly id: number
  readonly status: OrdStatus
  readonly cumQty: Decimal
  readonly fills: number
  readonly isTriggered: boolean
}

/** Writes orders as the market left them; they have met the last quote. */
export async function savePaperOrders(tx: Transaction, changes: readonly PaperChange[]): Promise<void> {
  if (changes.length === 0) return
  const column = <K extends keyof PaperChange>(name: K): PaperChange[K][] =>
    changes.map((change) => change[name])
  await tx.run`
    update paper_order o set status = c.status, cum_qty = c.cum_qty, fills = c.fills, is_triggered = c.is_triggered,
      needs_match = false
    from unnest(${uncounted(column('id'), 'bigint')}, ${column('status')}::text[], ${column('cumQty')}::numeric[],
      ${column('fills')}::int[], ${column('isTriggered')}::boolean[]) c (id, status, cum_qty, fills, is_triggered)
    where o.id = c.id`
}
