/**
 * Which classes a strategy may trade, for statements that join `variant` by its strategy: what its owner chose, and of
 * a variant that follows its parent only what it copies. Anything else is closed again.
 */
import type { SecurityType } from '../../domain/codes.ts'
import { type Fragment, fragment } from '../database/sql.ts'

/** True where `strategy` may trade the class; the column says what its owner chose. */
const both = (column: Fragment, type: SecurityType): Fragment => fragment`(${column}
  and (variant.ended_at is not null or coalesce(${type}::text = any(variant.security_types), true)))`

/** For each class whether `strategy` may trade it. */
export const enabledClasses = (strategy: Fragment): Readonly<Record<SecurityType, Fragment>> => ({
  CS: both(fragment`${strategy}.stocks_enabled`, 'CS'),
  OPT: both(fragment`${strategy}.options_enabled`, 'OPT'),
  FUT: both(fragment`${strategy}.futures_enabled`, 'FUT'),
  FOR: both(fragment`${strategy}.forex_enabled`, 'FOR'),
})

/** The same as every view of a strategy names it. */
export function enabledColumns(strategy: Fragment): Fragment {
  const { CS, OPT, FUT, FOR } = enabledClasses(strategy)
  return fragment`${CS} as "stocksEnabled", ${OPT} as "optionsEnabled", ${FUT} as "futuresEnabled", ${FOR} as "forexEnabled"`
}
