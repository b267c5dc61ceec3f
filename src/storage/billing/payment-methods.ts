/** How people pay: a provider's references, never a number of a card. */

import type { Sql } from '../database/sql.ts'
import { instant } from '../database/wire.ts'
import type { ProviderName } from './charges.ts'

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

/** Who has a subscription that goes on and costs something, and has not said how he pays with a provider; by id. */
export const listWithoutMethod = async (sql: Sql, provider: ProviderName): Promise<number[]> =>
  (
    await sql.rows<{ id: number }>`
      select distinct s.person_id as id from subscription s
      where s.ended_at is null and not s.is_cancel_pending
        and (s.base_price + s.markup > 0 or s.performance_fee_percent > 0)
        and not exists (select from payment_method m where m.person_id = s.person_id and m.provider = ${provider})
      order by 1`
  ).map(({ id }) => id)
