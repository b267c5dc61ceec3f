/** The ledger as rows: accounts come with their first transfer, and no transfer is booked twice. */
import type { LedgerAccount, Surplus, Transfer } from '../../domain/billing/ledger.ts'
import type { Instant } from '../../domain/time.ts'
import type { Sql } from '../database/sql.ts'
import { instant } from '../database/wire.ts'
import type { ProviderName } from './charges.ts'

/** A transfer of what was paid for a charge. */
export interface Booking extends Transfer {
  readonly chargeId: number
  readonly currency: string
  readonly at: number
  /** Of a surplus, which payment it came by. */
  readonly paymentRef?: string | null
  /** What told that a surplus was given back. */
  readonly eventRef?: string
}

/** The account's key in the ledger. */
function nameOf(account: LedgerAccount, currency: string): string {
  const { kind } = account
  const whose = partsOf(account)
  return `${kind}:${whose.personId ?? whose.siteId ?? whose.provider ?? ''}:${currency}`
}

const partsOf = (account: LedgerAccount) => ({
  personId: 'personId' in account ? account.personId : null,
  siteId: 'siteId' in account ? account.siteId : null,
  provider: 'provider' in account ? account.provider : null,
})

/** Books transfers, in the order given; what is booked already is left as it is. */
export async function book(sql: Sql, bookings: readonly Booking[]): Promise<void> {
  if (bookings.length === 0) return
  const accounts = new Map(
    bookings.flatMap(({ from, to, currency }) =>
      [from, to].map((account) => [nameOf(account, currency), { account, currency }] as const),
    ),
  )
  // In the order of their names, so that two bookings never wait for each other's accounts.
  const wanted = [...accounts].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, row]) => row)
  const parts = wanted.map(({ account }) => partsOf(account))
  await sql.run`
    insert into ledger_account (kind, person_id, site_id, provider, currency)
    select * from unnest(${wanted.map(({ account }) => account.kind)}::text[],
      ${parts.map(({ personId }) => personId)}::bigint[], ${parts.map(({ siteId }) => siteId)}::bigint[],
      ${parts.map(({ provider }) => provider)}::text[], ${wanted.map(({ currency }) => currency)}::text[])
    on conflict (name) do nothing`
  await sql.run`
    insert into ledger_transfer (charge_id, reason, from_account_id, to_account_id, amount, currency, booked_at,
      payment_ref, event_ref)
    select asked.charge_id, asked.reason, giving.id, taking.id, asked.amount, giving.currency, asked.at,
      asked.payment_ref, asked.event_ref
    from unnest(${bookings.map(({ chargeId }) => chargeId)}::bigint[],
      ${bookings.map(({ reason }) => reason)}::text[],
      ${bookings.map(({ from, currency }) => nameOf(from, currency))}::text[],
      ${bookings.map(({ to, currency }) => nameOf(to, currency))}::text[],
      ${bookings.map(({ amount }) => amount)}::bigint[],
      ${bookings.map(({ at }) => instant(at))}::timestamptz[],
      ${bookings.map(({ paymentRef }) => paymentRef ?? null)}::text[],
      ${bookings.map(({ eventRef }) => eventRef ?? null)}::text[])
      with ordinality asked (charge_id, reason, giving, taking, amount, at, payment_ref, event_ref, place)
    join ledger_account giving on giving.name = asked.giving
    join ledger_account taking on taking.name = asked.taking
    order by asked.place
    on conflict (charge_id, reason, payment_ref, event_ref) do nothing`
}

/** What a payment has brought beside what was asked for, and how much of it is gone; undefined where it pays something. */
export async function findSurplus(
  sql: Sql,
  chargeId: number,
  paymentRef: string,
): Promise<(Surplus & { readonly currency: string }) | undefined> {
  const row = await sql.maybe<Record<keyof Surplus, number> & { currency: string }>`
    select currency, coalesce(sum(amount) filter (where reason = 'surplus'), 0)::float8 as amount,
      coalesce(sum(amount) filter (where reason = 'surplusReturned'), 0)::float8 as refunded,
      coalesce(sum(amount) filter (where reason = 'surplusLost'), 0)::float8 as lost
    from ledger_transfer where charge_id = ${chargeId}::bigint and payment_ref = ${paymentRef} group by currency`
  if (!row) return undefined
  const { currency, amount, refunded, lost } = row
  return { currency, amount: BigInt(amount), refunded: BigInt(refunded), lost: BigInt(lost) }
}

export interface StandingSurplus {
  readonly chargeId: number
  readonly personId: number
  readonly provider: ProviderName
  readonly paymentRef: string
  readonly amount: string
  /** Of the amount, what was given back so far, be it by a lost dispute. */
  readonly returned: string
  readonly currency: string
  readonly bookedAt: Instant
}

/** The latest payments that came beside what was asked for, the newest first; without `withReturned` what is still to be given back. */
export const listSurplus = (
  sql: Sql,
  { limit, withReturned }: { readonly limit: number; readonly withReturned: boolean },
): Promise<StandingSurplus[]> =>
  sql.rows<StandingSurplus>`
    select came.charge_id as "chargeId", s.person_id as "personId", c.provider, came.payment_ref as "paymentRef",
      (came.amount::numeric / 100)::numeric(20, 2)::text as amount,
      (gone.amount::numeric / 100)::numeric(20, 2)::text as returned, came.currency, came.booked_at as "bookedAt"
    from ledger_transfer came join charge c on c.id = came.charge_id join subscription s on s.id = c.subscription_id
    cross join lateral (
      select coalesce(sum(t.amount), 0) as amount from ledger_transfer t
      where t.payment_ref = came.payment_ref and t.charge_id = came.charge_id and t.reason <> 'surplus') gone
    where came.payment_ref is not null and came.reason = 'surplus'
      and (${withReturned}::boolean or gone.amount < came.amount)
    order by came.id desc limit ${limit}::int`
