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

/** So many are named of each rule: one that is broken everywhere hides no other. */
const namedOfRule = 100

/** Finds what breaks the rules, in the order of their names; nothing on a sound platform. */
export async function auditViolations(sql: Sql): Promise<Violation[]> {
  const rules = Object.entries({ ...signalRules, ...tradeRules, ...accountRules, ...billingRules })
  const queries = rules.map(
    ([rule, query]) =>
      fragment`select ${rule}::text as rule, broken.detail::text as detail from (${query}) broken (detail)`,
  )
  const found = await sql.rows<Violation & { place: number }>`
    select rule, detail, place::int from (
      select rule, detail, row_number() over (partition by rule) as place
      from (${join(queries, ' union all ')}) violations
    ) placed where place <= ${namedOfRule + 1}::int order by rule, place`
  return found.map(({ rule, detail, place }) => ({
    rule,
    detail: place > namedOfRule ? `and more: only ${namedOfRule} of them are named` : detail,
  }))
}
