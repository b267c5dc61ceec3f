/** Settlements of fees on gains that a wrong price made: they are void, and what is settled next goes on from before them. */
import type { Sql } from '../database/sql.ts'

/**
 * Makes the settlements void that a fee is the sum of, and what was settled of their accounts since, which was held against
 * a height that there never was. Answers whether they are: nothing is charged for twice, or dearer than it would have been,
 * so they stand once another fee was charged above them, or where a higher percentage holds now than when they were settled.
 */
export async function voidSettlements(sql: Sql, chargeId: number): Promise<boolean> {
  await sql.run`
    with since as materialized (
      select f.setup_id, f.settled_at, f.settled_at > c.period_ends_at and f.charged > 0 as is_charged,
        max(f.percent) over (partition by setup.account_id, f.settled_at) < coalesce((
          select live.performance_fee_percent from subscription live
          where live.person_id = s.person_id and live.strategy_id = s.strategy_id and live.ended_at is null), 0) as is_dearer
      from charge c join subscription s on s.id = c.subscription_id
        join setup on setup.strategy_id = s.strategy_id and setup.account_id in (
          select own.account_id from fee_settlement wrong join setup own on own.id = wrong.setup_id
          where wrong.subscription_id = c.subscription_id and wrong.settled_at = c.period_ends_at)
        join fee_settlement f on f.setup_id = setup.id and f.settled_at >= c.period_ends_at and not f.is_void
      where c.id = ${chargeId}::bigint
    )
    update fee_settlement f set is_void = true
    from since where f.setup_id = since.setup_id and f.settled_at = since.settled_at
      and not exists (select from since where is_charged or is_dearer)`
  return (await areSettlementsVoid(sql, chargeId)) ?? false
}

/** Undefined of what is no fee. */
export const areSettlementsVoid = async (sql: Sql, chargeId: number): Promise<boolean | undefined> =>
  (
    await sql.maybe<{ areVoid: boolean }>`
      select bool_and(f.is_void) as "areVoid"
      from charge c join fee_settlement f on f.subscription_id = c.subscription_id and f.settled_at = c.period_ends_at
      where c.id = ${chargeId}::bigint and c.purpose = 'performance' group by c.id`
  )?.areVoid
