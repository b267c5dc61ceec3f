/** The highest leverage of strategies on the running day, as marks and fills show it. */
import type { Decimal } from '../../domain/decimal.ts'
import { type Day, formatDay } from '../../domain/time.ts'
import type { Transaction } from '../database/sql.ts'

/** Leverage at one moment; null, without an account value above zero, is no leverage. */
export interface SeenLeverage {
  readonly strategyId: number
  readonly leverage: Decimal | null
}

/** Keeps what is higher than everything seen on the day. */
export async function raiseLeverage(tx: Transaction, day: Day, seen: readonly SeenLeverage[]): Promise<void> {
  const raised = seen.filter(({ leverage }) => leverage?.greaterThan(0))
  if (raised.length === 0) return
  await tx.run`
    insert into strategy_leverage (strategy_id, day, leverage)
    select strategy_id, ${formatDay(day)}::date, max(round(leverage, 12))
    from unnest(${raised.map(({ strategyId }) => strategyId)}::bigint[], ${raised.map(({ leverage }) => leverage)}::numeric[])
      s (strategy_id, leverage)
    group by strategy_id order by strategy_id
    on conflict (strategy_id, day) do update set leverage = excluded.leverage
    where strategy_leverage.leverage < excluded.leverage`
}
