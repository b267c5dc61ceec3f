/**
 * Charges: payments asked for, once each. A charge is asked of its provider attempt by attempt; who asks claims it
 * first, and a claim that outlives its holder is taken over with the same attempt, so that the provider hears the
 * same key again.
 */
import type { Collected, Price } from '../../domain/billing/revenue.ts'
import { hasCome } from '../database/moments.ts'
import { type Fragment, fragment, type Sql } from '../database/sql.ts'
import { instant } from '../database/wire.ts'

export type ProviderName = 'simulated' | 'stripe'

/** In cents. What is less or more Stripe collects from nobody, and no ledger adds up, however often it is asked. */
export const collectedBy: Readonly<Record<ProviderName, Collected>> = {
  simulated: { least: 1n, most: 10n ** 15n },
  stripe: { least: 50n, most: 99_999_999n },
}

/** A condition in SQL on a charge `c`: its provider collects such an amount. */
export const isCollectibleCharge: Fragment = fragment`c.amount between
  case c.provider when 'stripe' then ${collectedBy.stripe.least}::bigint else ${collectedBy.simulated.least}::bigint end and
  case c.provider when 'stripe' then ${collectedBy.stripe.most}::bigint else ${collectedBy.simulated.most}::bigint end`

export interface NewCharge {
  subscriptionId: number
  purpose: 'term' | 'upgrade' | 'performance'
  from: number
  to: number
  price: Price
  provider: ProviderName
  /** When it is first asked for. */
  dueAt: number
  /** That an upgrade leads to, and what it costs in whole. */
  plan?: { readonly id: number; readonly price: bigint }
}

/**
 * Asks for payments; what was asked for already, and what costs nothing, is left out. Answers the new ids, which rise in
 * the order given: of what is paid at one moment the last one is the latest.
 */
export async function insertCharges(sql: Sql, charges: readonly NewCharge[]): Promise<number[]> {
  const priced = charges.filter(({ price }) => price.base + price.markup > 0n)
  if (priced.length === 0) return []
  const column = <K extends keyof NewCharge>(name: K): NewCharge[K][] => priced.map((charge) => charge[name])
  const times = (name: 'from' | 'to' | 'dueAt'): string[] => priced.map((charge) => instant(charge[name]))
  const rows = await sql.rows<{ id: number }>`
    insert into charge (subscription_id, purpose, period_started_at, period_ends_at, base_price, markup, currency,
      provider, next_try_at, plan_id, plan_price)
    select asked.subscription_id, asked.purpose, asked.period_started_at, asked.period_ends_at, asked.base_price,
      asked.markup, subscription.currency, asked.provider, asked.due_at, asked.plan_id,
      asked.plan_price
    from unnest(${column('subscriptionId')}::bigint[], ${column('purpose')}::text[], ${times('from')}::timestamptz[],
      ${times('to')}::timestamptz[], ${priced.map(({ price }) => price.base)}::bigint[],
      ${priced.map(({ price }) => price.markup)}::bigint[], ${column('provider')}::text[],
      ${times('dueAt')}::timestamptz[], ${priced.map(({ plan }) => plan?.id)}::bigint[],
      ${priced.map(({ plan }) => plan?.price)}::bigint[])
      with ordinality asked (subscription_id, purpose, period_started_at, period_ends_at, base_price, markup, provider,
        due_at, plan_id, plan_price, place)
    join subscription on subscription.id = asked.subscription_id
    order by asked.place
    on conflict (subscription_id, purpose, period_started_at) do nothing
    returning id`
  return rows.map(({ id }) => id)
}

/** A charge that is being asked for. */
export interface ClaimedCharge {
  readonly id: number
  readonly attempt: number
  /** An earlier claim has asked for this attempt already and heard nothing. */
  readonly isAskedAgain: boolean
  /** Its subscription has ended: it is asked about, and made no more. A fee is owed after the end too. */
  readonly isOver: boolean
  readonly amount: bigint
  readonly currency: string
  /** Start of the paid period: with id and attempt it names the attempt across installations. */
  readonly periodStartedAt: number
  /** The moment at which this attempt was due. */
  readonly dueAt: number
  /** The provider's name of this attempt, when it has told one and not the outcome. */
  readonly paymentRef: string | null
  /** How the person pays there; null when nobody has said. */
  readonly customerRef: string | null
  readonly methodRef: string | null
}

/** Why a payment is not made any more. */
export const endedReason = 'subscription ended'

/** How long a claim keeps others away; longer than any provider may take to answer. */
const claimSeconds = 120

/** A condition in SQL: something is due with one of the providers. */
export const areChargesDue = (now: number, providers: readonly ProviderName[]): Fragment => fragment`exists (
  select from charge where status = 'due' and ${hasCome(fragment`next_try_at`, now)}
    and provider = any(${providers}::text[]) and (claimed_until is null or claimed_until < clock_timestamp()))`

/** Claims due charges of a provider, the oldest first; only these where ids are given. */
export async function claimCharges(
  sql: Sql,
  wanted: { provider: ProviderName; now: number; limit: number; ids?: readonly number[] },
): Promise<ClaimedCharge[]> {
  const rows = await sql.rows<Omit<ClaimedCharge, 'amount'> & { amount: number | bigint }>`
    with due as materialized (
      select id, claimed_until is not null as is_asked_again from charge
      where status = 'due' and next_try_at <= ${instant(wanted.now)}::timestamptz and provider = ${wanted.provider}
        and (claimed_until is null or claimed_until < clock_timestamp())
        and (${wanted.ids}::bigint[] is null or id = any(${wanted.ids}::bigint[]))
      order by next_try_at, id limit ${wanted.limit}::int for update skip locked
    )
    update charge set claimed_until = clock_timestamp() + make_interval(secs => ${claimSeconds}),
      attempts = case when charge.claimed_until is null then charge.attempts + 1 else charge.attempts end,
      payment_ref = case when charge.claimed_until is null then null else charge.payment_ref end
    from due, subscription s left join payment_method m on m.person_id = s.person_id and m.provider = ${wanted.provider}
    where charge.id = due.id and s.id = charge.subscription_id
    returning charge.id, charge.attempts as attempt, due.is_asked_again as "isAskedAgain",
      s.ended_at is not null and charge.purpose <> 'performance' as "isOver", charge.amount, charge.currency,
      charge.period_started_at as "periodStartedAt", charge.next_try_at as "dueAt",
      charge.payment_ref as "paymentRef", m.customer_ref as "customerRef", m.method_ref as "methodRef"`
  // In whatever order they were joined: what is paid at one moment is told apart by the order in which it is booked.
  return rows
    .map((row) => ({ ...row, amount: BigInt(row.amount) }))
    .sort((one, other) => one.dueAt - other.dueAt || one.id - other.id)
}

/** Notes the provider's name of an attempt whose outcome is awaited; its webhook will name it. */
export async function noteAwaited(sql: Sql, id: number, attempt: number, paymentRef: string): Promise<void> {
  await sql.run`
    update charge set payment_ref = ${paymentRef}, claimed_until = clock_timestamp() + interval '1 hour'
    where id = ${id}::bigint and attempts = ${attempt}::int and status = 'due'`
}

/** When the next payment is due; undefined when none is. */
export const nextChargeDue = async (sql: Sql): Promise<number | undefined> =>
  (
    await sql.one<{ at: number | null }>`
      select min(next_try_at) as at from charge where status = 'due'`
  ).at ?? undefined

/** Which provider takes payments on this platform: the built-in one unless the operator has chosen another. */
export const findProvider = async (sql: Sql): Promise<ProviderName> =>
  (
    await sql.maybe<{ name: ProviderName }>`
      select value #>> '{}' as name from platform_switch where name = 'paymentProvider'`
  )?.name ?? 'simulated'

/**
 * Asks once more, now, for what a subscription owes and was declined, given up or not; after its end for fees alone.
 * Answers whether there was such a charge. The subscription is locked: one that is just ending ends with what it owes.
 */
export const retryCharges = async (sql: Sql, subscriptionId: number, at: number): Promise<boolean> =>
  (await sql.run`
    with owing as materialized (
      select id, ended_at is not null as is_over from subscription where id = ${subscriptionId}::bigint for no key update
    )
    update charge set status = 'due', next_try_at = ${instant(at)}::timestamptz
    from owing where owing.id = charge.subscription_id and charge.purpose <> 'upgrade'
      and (charge.purpose = 'performance' or not owing.is_over)
      and (charge.status = 'failed' or charge.status = 'due' and charge.failed_at is not null
        and charge.claimed_until is null and charge.next_try_at > ${instant(at)}::timestamptz)`) > 0
