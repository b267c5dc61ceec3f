/** How people pay: a provider's references, never a number of a card. */

import { type Collected, isCollected } from '../../domain/billing/revenue.ts'
import { decideTermEnd, type Gone, type SubscriptionStatus } from '../../domain/billing/subscription.ts'
import type { Sql } from '../database/sql.ts'
import { instant } from '../database/wire.ts'
import { gone, nextPrice, offerTables } from '../people/subscriptions.ts'
import { collectedBy, type ProviderName } from './charges.ts'

export interface PaymentMethod {
  readonly personId: number
  readonly provider: ProviderName
  readonly customerRef: string
  readonly methodRef: string
  readonly at: number
}

/** As who a living person has paid with a provider, null when as nobody; undefined where no such person lives. */
export const findPayer = (
  sql: Sql,
  personId: number,
  provider: ProviderName,
): Promise<{ customerRef: string | null } | undefined> =>
  sql.maybe<{ customerRef: string | null }>`
    select m.customer_ref as "customerRef"
    from person left join payment_method m on m.person_id = person.id and m.provider = ${provider}
    where person.id = ${personId}::bigint and person.is_alive`

/** The person pays this way from now on. */
export async function savePaymentMethod(sql: Sql, method: PaymentMethod): Promise<void> {
  await sql.run`
    insert into payment_method (person_id, provider, customer_ref, method_ref, changed_at)
    values (${method.personId}::bigint, ${method.provider}, ${method.customerRef}, ${method.methodRef},
      ${instant(method.at)}::timestamptz)
    on conflict (person_id, provider) do update set customer_ref = excluded.customer_ref,
      method_ref = excluded.method_ref, changed_at = excluded.changed_at`
}

interface NextTermRow {
  readonly personId: number
  readonly status: SubscriptionStatus
  readonly isCancelPending: boolean
  readonly gone: Gone | null
  readonly price: number | bigint
  /** Whether what is gained by it may be charged for. */
  readonly isOfGains: boolean
  /** Of its fee on gains, in this term and in the next. */
  readonly percent: number
  readonly nextPercent: number
}

/** Who lives, will be charged when a term ends, and has not said how he pays with a provider; by id. */
export async function listWithoutMethod(sql: Sql, provider: ProviderName): Promise<number[]> {
  const rows = await sql.rows<NextTermRow>`
    select person.id as "personId", subscription.status, subscription.is_cancel_pending as "isCancelPending",
      ${gone} as gone, next.base + next.markup as price,
      subscription.kind = 'paid' and coalesce(strategy.owner_person_id <> person.id, false) as "isOfGains",
      coalesce(subscription.performance_fee_percent, 0) as percent,
      coalesce(strategy.performance_fee_percent, 0) as "nextPercent"
    from subscription ${offerTables} cross join lateral (select ${nextPrice}) next
    where subscription.ended_at is null and person.is_alive
      and not exists (select from payment_method m where m.person_id = person.id and m.provider = ${provider})
    order by person.id`
  const charged = rows.filter((row) => isCharged(row, collectedBy[provider]))
  return [...new Set(charged.map(({ personId }) => personId))]
}

/** Of gains it is when the term ends, whether or not it goes on, or with the next one. */
function isCharged(
  { price, isOfGains, percent, nextPercent, ...term }: NextTermRow,
  limits: Collected,
): boolean {
  const isPending = term.status === 'pending'
  // What waits for its payment is given up where that never comes, and not asked for then.
  const goesOn = decideTermEnd({ ...term, status: isPending ? 'active' : term.status }).act === 'renew'
  const takesOfGains = isOfGains && ((!isPending && percent > 0) || (goesOn && nextPercent > 0))
  return takesOfGains || (goesOn && isCollected(BigInt(price), limits))
}
