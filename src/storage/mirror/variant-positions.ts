/** What variants and their parents hold, side by side, and how they came to hold it. */
import type { SecurityType, Side } from '../../domain/codes.ts'
import type { Instant } from '../../domain/time.ts'
import { type Fragment, fragment, type Sql } from '../database/sql.ts'
import { instant } from '../database/wire.ts'

/** A symbol that a variant or its parent holds. */
export interface VariantPositionRow {
  readonly strategyId: number
  readonly instrumentId: number
  readonly symbol: string
  readonly securityType: SecurityType
  readonly parentQuantity: string
  readonly quantity: string
  /** Since when the variant is there. */
  readonly since: Instant
}

/** The symbols of these variants, by variant and symbol. */
export const listVariantPositions = (
  sql: Sql,
  strategyIds: readonly number[],
): Promise<VariantPositionRow[]> => sql.rows<VariantPositionRow>`
  select v.strategy_id as "strategyId", i.id as "instrumentId", i.symbol, i.security_type as "securityType",
    coalesce(sum(p.quantity) filter (where p.strategy_id = v.parent_id), 0) as "parentQuantity",
    coalesce(sum(p.quantity) filter (where p.strategy_id = v.strategy_id), 0) as quantity,
    v.created_at as since
  from variant v
    cross join lateral (
      select * from position where strategy_id in (v.strategy_id, v.parent_id) and quantity <> 0) p
    join instrument i on i.id = p.instrument_id
  where v.strategy_id = any(${strategyIds}::bigint[]) group by v.strategy_id, i.id order by v.strategy_id, i.symbol`

/** A symbol of a variant, and since when it is asked about. */
type AskedSymbol = Pick<VariantPositionRow, 'strategyId' | 'instrumentId' | 'since'>

/** What is asked, `a`, with its place, and the variants `v` that it is asked about. */
const variantsOf = (asked: readonly AskedSymbol[]): Fragment => fragment`
  unnest(${asked.map(({ strategyId }) => strategyId)}::bigint[],
    ${asked.map(({ instrumentId }) => instrumentId)}::bigint[],
    ${asked.map(({ since }) => instant(since))}::timestamptz[])
    with ordinality a (strategy_id, instrument_id, since, place)
  join variant v on v.strategy_id = a.strategy_id`

export interface FamilyFillRow {
  /** Place of the symbol that was asked for. */
  readonly place: number
  readonly isParent: boolean
  readonly side: Side
  readonly quantity: string
  readonly at: Instant
}

/** Fills of one symbol that are read back at most. */
const fillsAtMost = 500

/** The fills of variants and their parents in these symbols since these moments, each symbol's newest first. */
export const listFamilyFills = (
  sql: Sql,
  asked: readonly AskedSymbol[],
): Promise<FamilyFillRow[]> => sql.rows<FamilyFillRow>`
  select a.place::int as place, f.*
  from ${variantsOf(asked)}
    cross join lateral (
      select f.strategy_id = v.parent_id as "isParent", f.side, f.quantity, f.filled_at as at from fill f
      where f.strategy_id in (v.strategy_id, v.parent_id) and f.instrument_id = a.instrument_id
        and f.filled_at >= a.since
      order by f.filled_at desc, f.id desc limit ${fillsAtMost}::int
    ) f`

export interface FamilySplitRow {
  /** Place of the symbol that was asked for. */
  readonly place: number
  readonly parentChange: string
  readonly variantChange: string
  readonly at: Instant
}

/** What splits added to variants and their parents in these symbols since these moments, each symbol's newest first. */
export const listFamilySplits = (
  sql: Sql,
  asked: readonly AskedSymbol[],
): Promise<FamilySplitRow[]> => sql.rows<FamilySplitRow>`
  select a.place::int as place, c.takes_effect_at as at,
    coalesce(sum(p.quantity_change) filter (where p.strategy_id = v.parent_id), 0) as "parentChange",
    coalesce(sum(p.quantity_change) filter (where p.strategy_id = v.strategy_id), 0) as "variantChange"
  from ${variantsOf(asked)}
    join corporate_action c on c.instrument_id = a.instrument_id and c.kind = 'split' and c.takes_effect_at >= a.since
    join position_adjustment p on p.action_id = c.id and p.strategy_id in (v.strategy_id, v.parent_id)
  group by a.place, c.id order by c.takes_effect_at desc`
