/**
 * The book of the built-in payment provider. It takes every payment unless the person's payment method is one
 * that declines, and answers the same key the same way for ever.
 */

import type { Sql } from '../database/sql.ts'
import { instant } from '../database/wire.ts'
import { type ClaimedCharge, endedReason } from './charges.ts'
import type { PaymentMethod } from './payment-methods.ts'
import type { ChargeAnswer } from './settlement.ts'

/** The method that pays; any other text is the reason for which it declines. */
const acceptedMethod = 'accepted'

const refusalOf = ({ methodRef, isOver }: ClaimedCharge): string | null =>
  isOver ? endedReason : methodRef === acceptedMethod ? null : methodRef

const keyOf = ({ id, attempt }: ClaimedCharge): string => `charge-${id}-${attempt}`

/** Answers charges, each at the moment at which it was due. */
export async function answerSimulated(sql: Sql, charges: readonly ClaimedCharge[]): Promise<ChargeAnswer[]> {
  const keys = charges.map(keyOf)
  await sql.run`
    insert into simulated_payment (payment_key, amount, currency, decline_reason, answered_at)
    select * from unnest(${keys}::text[], ${charges.map(({ amount }) => amount)}::bigint[],
      ${charges.map(({ currency }) => currency)}::text[],
      ${charges.map(refusalOf)}::text[],
      ${charges.map(({ dueAt }) => instant(dueAt))}::timestamptz[])
    on conflict (payment_key) do nothing`
  const rows = await sql.rows<{ key: string; id: number; reason: string | null; at: number }>`
    select payment_key as key, id, decline_reason as reason, answered_at as at
    from simulated_payment where payment_key = any(${keys}::text[])`
  const answers = new Map(rows.map((row) => [row.key, row]))
  return charges.map((charge) => {
    const answer = answers.get(keyOf(charge))
    if (!answer) throw new Error(`the built-in provider did not answer ${keyOf(charge)}`)
    const { at, reason, id } = answer
    const named = { chargeId: charge.id, attempt: charge.attempt, at, paymentRef: `sim_${id}` }
    return reason === null ? { outcome: 'paid', ...named } : { outcome: 'declined', reason, ...named }
  })
}

/** The method of a person who pays, or who declines for a reason. */
export const simulatedMethod = (personId: number, declines: string | null): Omit<PaymentMethod, 'at'> => ({
  provider: 'simulated',
  personId,
  customerRef: `person-${personId}`,
  methodRef: declines ?? acceptedMethod,
})
