/** Strategies: their rows and what they hold. */
import type { InstrumentColumns } from './instruments.ts'
import { instrumentColumns } from './instruments.ts'
import { fragment, type Sql } from './sql.ts'

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

/** Open positions of strategies, by strategy and symbol. */
export const listPositions = (
  sql: Sql,
  strategyIds: readonly (number | bigint)[],
  securityType: string | undefined,
): Promise<PositionRow[]> =>
  sql.rows<PositionRow>`
    select ${positionColumns}
    from position p join strategy on strategy.id = p.strategy_id join instrument i on i.id = p.instrument_id
    where p.strategy_id = any(${strategyIds}::bigint[]) and p.quantity <> 0
      and (${securityType}::text is null or i.security_type = ${securityType}::text)
    order by p.strategy_id, i.symbol`

/** Open positions of accounts, by strategy and symbol. */
export const listAccountPositions = (
  sql: Sql,
  accountIds: readonly number[],
  strategyId: number | bigint | undefined,
): Promise<PositionRow[]> =>
  sql.rows<PositionRow>`
    select ${positionColumns}
    from account_position p
    join strategy on strategy.id = p.strategy_id join instrument i on i.id = p.instrument_id
    where p.account_id = any(${accountIds}::bigint[]) and p.quantity <> 0
      and (${strategyId}::bigint is null or p.strategy_id = ${strategyId}::bigint)
    order by p.strategy_id, i.symbol`
