/**
 * The auditor: what must hold in every committed state, each rule a query that finds those who break it. All
 * rules are asked in one statement and so see one state, also of a platform at full work.
 */

import { fragment, join, type Sql } from '../database/sql.ts'
import { accountRules } from './audit-accounts.ts'
import { billingRules } from './audit-billing.ts'
import { signalRules } from './audit-signals.ts'
import { tradeRules } from './audit-trades.ts'

export interface Violation {
  readonly rule: string
  readonly detail: string
}

/** Finds what breaks the rules; nothing on a sound platform. At most a thousand are named. */
export async function auditViolations(sql: Sql): Promise<Violation[]> {
  const rules = Object.entries({ ...signalRules, ...tradeRules, ...accountRules, ...billingRules })
  const queries = rules.map(
    ([rule, query]) =>
      fragment`select ${rule}::text as rule, broken.detail::text as detail from (${query}) broken (detail)`,
  )
  return sql.rows<Violation>`select * from (${join(queries, ' union all ')}) violations limit 1000`
}
