/** How people pay: a provider's references, never a number of a card. */

import { type Fragment, fragment, type Sql } from '../database/sql.ts'
import { instant } from '../database/wire.ts'
import { nextPrice, offerTables } from '../people/subscriptions.ts'
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

/** A term of it ends with another one: what waits for its payment is given up otherwise. */
const goesOn: Fragment = fragment`
  subscription.status <> 'suspended' and not subscription.is_cancel_pending and coalesce(strategy.is_alive, plan.is_offered)`

/** When the term ends, whether or not it goes on, or with the next one. */
const takesOfGains: Fragment = fragment`
  subscription.kind = 'paid' and strategy.owner_person_id <> person.id
  and (subscription.status <> 'pending' and subscription.performance_fee_percent > 0
    or ${goesOn} and strategy.performance_fee_percent > 0)`

/** Who lives, will be charged when a term ends, and has not said how he pays with a provider; by id. */
export async function listWithoutMethod(sql: Sql, provider: ProviderName): Promise<number[]> {
  const { least, most } = collectedBy[provider]
  const rows = await sql.rows<{ id: number }>`
    select distinct person.id from subscription ${offerTables} cross join lateral (select ${nextPrice}) next
    where subscription.ended_at is null and person.is_alive
      and (${goesOn} and next.base + next.markup between ${least}::bigint and ${most}::bigint or ${takesOfGains})
      and not exists (select from payment_method m where m.person_id = person.id and m.provider = ${provider})
    order by 1`
  return rows.map(({ id }) => id)
}
