/** Strategies: their rows and what they hold. */

import { asked } from '../database/asked.ts'
import { byPlace } from '../database/places.ts'
import { fragment, type Sql } from '../database/sql.ts'
import { type InstrumentColumns, instrumentColumns } from '../market/instruments.ts'

export interface NewStrategy {
  siteId: number
  ownerPersonId: number
  name: string
  startedAt: string
  startingCash: string
}

/** A new, empty, public strategy; answers its id. */
export const insertStrategy = async (sql: Sql, strategy: NewStrategy): Promise<number> =>
  (
    await sql.one<{ id: number }>`
      insert into strategy (site_id, owner_person_id, name, started_at, starting_cash, cash)
      values (${strategy.siteId}::bigint, ${strategy.ownerPersonId}::bigint, ${strategy.name},
        ${strategy.startedAt}::timestamptz, ${strategy.startingCash}::numeric, ${strategy.startingCash}::numeric)
      returning id`
  ).id

/** An open position of a strategy or, in an account, of the sub-ledger that follows one. */
export interface PositionRow extends InstrumentColumns {
  strategyId: number
  strategyName: string
  quantity: string
  avgPx: string
  openedAt: number
}

const positionColumns = fragment`
  p.strategy_id as "strategyId", strategy.name as "strategyName", p.quantity, p.avg_px as "avgPx",
  p.opened_at as "openedAt", ${instrumentColumns}`

export interface PositionFilter {
  strategyIds: readonly (number | bigint)[]
  securityType?: string | undefined
}

/** Open positions for each filter, by strategy and symbol; one statement for all of them. */
export async function listPositions(sql: Sql, filters: readonly PositionFilter[]): Promise<PositionRow[][]> {
  const asked = filters.flatMap((filter, place) =>
    [...new Set(filter.strategyIds)].map((id) => ({ id, place, ...filter })),
  )
  const rows = await sql.rows<PositionRow & { place: number }>`
    select asked.place, ${positionColumns}
    from unnest(${asked.map(({ place }) => place)}::int[], ${asked.map(({ id }) => id)}::bigint[],
      ${asked.map(({ securityType }) => securityType)}::text[]) asked (place, strategy_id, security_type)
    -- Fenced: from many questions the planner would conclude that reading every position is cheaper.
    cross join lateral (
      select * from position where strategy_id = asked.strategy_id and quantity <> 0 offset 0) p
    join strategy on strategy.id = p.strategy_id join instrument i on i.id = p.instrument_id
    where asked.security_type is null or i.security_type = asked.security_type
    order by p.strategy_id, i.symbol`
  return byPlace(rows, filters.length)
}

/**
 * Open positions of accounts, by strategy and symbol. What a stopped setup left open is the owner's own: under the
 * strategy it is shown only until the account follows it again.
 */
export const listAccountPositions = (
  sql: Sql,
  accountIds: readonly number[],
  strategyId: number | bigint | undefined,
): Promise<PositionRow[]> =>
  sql.rows<PositionRow>`
    select ${positionColumns}
    from account_position p
    join strategy on strategy.id = p.strategy_id join instrument i on i.id = p.instrument_id
    join setup s on s.id = p.setup_id
    where p.account_id = any(${accountIds}::bigint[]) and p.quantity <> 0
      and (s.positions_left_open is not true or not exists (
        select from setup later
        where later.account_id = s.account_id and later.strategy_id = s.strategy_id and later.id > s.id))
      and ${asked`p.strategy_id = ${strategyId}::bigint`}
    order by p.strategy_id, i.symbol`
