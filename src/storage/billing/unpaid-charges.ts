/** Charges that nobody has paid, as an operator reads them. */
import type { Sql } from '../database/sql.ts'
import type { NewCharge, ProviderName } from './charges.ts'

export interface UnpaidCharge {
  readonly id: number
  readonly subscriptionId: number
  readonly personId: number
  /** One of the two. */
  readonly strategyId: number | null
  readonly planId: number | null
  readonly purpose: NewCharge['purpose']
  readonly amount: string
  readonly currency: string
  readonly provider: ProviderName
  /** asked: its provider is being asked, or has not answered yet. failed: it is not asked for by itself any more. */
  readonly state: 'due' | 'asked' | 'failed'
  readonly tries: number
  /** Of the next try; null after the last one. */
  readonly dueAt: number | null
  /** Of the last try that was declined; null where none was. */
  readonly reason: string | null
}

/** The latest, the newest first, of one person or of all. */
export const listUnpaidCharges = (
  sql: Sql,
  { personId, limit }: { readonly personId: number | undefined; readonly limit: number },
): Promise<UnpaidCharge[]> =>
  sql.rows<UnpaidCharge>`
    select c.id, c.subscription_id as "subscriptionId", s.person_id as "personId", s.strategy_id as "strategyId",
      coalesce(c.plan_id, s.plan_id) as "planId", c.purpose, (c.amount::numeric / 100)::numeric(20, 2)::text as amount,
      c.currency, c.provider, case when c.claimed_until is not null then 'asked' else c.status end as state,
      c.attempts as tries, c.next_try_at as "dueAt", c.failure_reason as reason
    from charge c join subscription s on s.id = c.subscription_id
    where c.status in ('due', 'failed') and (${personId}::bigint is null or s.person_id = ${personId}::bigint)
    order by c.id desc limit ${limit}::int`
