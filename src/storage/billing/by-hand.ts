/** What an operator says of a charge: that it was paid otherwise than by its provider, or that it is let go, and why. */
import type { Sql } from '../database/sql.ts'
import { bookAnswers, type ChargeRow, isCollectible, lockCharges, resume } from './settlement.ts'
import { areSettlementsVoid, voidSettlements } from './void-settlements.ts'

/** What a payment that no provider has made is named by: one that a provider tells of later is a second one. */
const otherwiseRef = (chargeId: number): string => `otherwise-${chargeId}`

export interface Said {
  readonly chargeId: number
  readonly at: number
  /** Somebody has looked up at the provider that what it has not answered is not paid. */
  readonly isLookedUp: boolean
}

export interface Waiver extends Omit<Said, 'at'> {
  /** Of a fee on gains: a wrong price has made it, and there was no such gain. */
  readonly isWrongPrice?: boolean
}

/** absent: there is no such charge. asked: its provider is being asked, and may have collected it. */
type Unsaid = 'paid' | 'asked' | 'absent'
/**
 * notedInVain: nothing begins by the payment, as its subscription has ended, or gone on without it. noGain: a wrong price
 * has made the fee, and what was gained is settled anew: paid too, it would be paid for twice.
 */
export type NotedPayment = 'noted' | 'notedInVain' | 'notedBefore' | 'noGain' | Unsaid
/**
 * settledAnew: with the next term, as the height is again what it was. noFee: of no other charge a price can be wrong like
 * that. settledSince: the height stays.
 */
export type NotedWaiver = 'waived' | 'settledAnew' | 'waivedBefore' | 'noFee' | 'settledSince' | Unsaid

/** Of what its provider does not collect no payment can be under way. */
const isUnderWay = (charge: ChargeRow): boolean => charge.isAsked && isCollectible(charge)

/** The charge, locked, of which something may be said. */
async function lockUnpaid(
  sql: Sql,
  { chargeId, isLookedUp }: Omit<Said, 'at'>,
): Promise<ChargeRow | Unsaid | 'notedBefore'> {
  const [charge] = await lockCharges(sql, [chargeId])
  if (!charge) return 'absent'
  if (charge.status === 'paid') return charge.paymentRef === otherwiseRef(chargeId) ? 'notedBefore' : 'paid'
  return isUnderWay(charge) && !isLookedUp ? 'asked' : charge
}

/**
 * Notes that a charge was paid otherwise than by its provider, which is asked for it no more. All that hangs on it goes on
 * as with any payment.
 */
export async function notePaidOtherwise(sql: Sql, said: Said): Promise<NotedPayment> {
  const charge = await lockUnpaid(sql, said)
  if (typeof charge === 'string') return charge
  const { id: chargeId, attempt } = charge
  if (charge.isWaived && (await areSettlementsVoid(sql, chargeId))) return 'noGain'
  const named = { chargeId, attempt, at: said.at, paymentRef: otherwiseRef(chargeId) }
  const answer = { ...named, outcome: 'paid', isPaidOtherwise: true } as const
  // Whoever says so is told at once, and by no incident.
  const { unexpected } = await bookAnswers(sql, [answer])
  return unexpected.length > 0 ? 'notedInVain' : 'noted'
}

/**
 * Lets a charge go: nothing is booked, nobody is asked for it any more, and what it stopped goes on. A change of plans is
 * not made by it. What was gained for a fee has passed free then, unless it never was there.
 */
export async function waiveCharge(sql: Sql, said: Waiver): Promise<NotedWaiver> {
  const charge = await lockUnpaid(sql, said)
  if (typeof charge === 'string') return charge === 'notedBefore' ? 'paid' : charge
  if (said.isWrongPrice) {
    const areVoid = await areSettlementsVoid(sql, charge.id)
    if (areVoid === undefined) return 'noFee'
    if (areVoid) return 'waivedBefore'
    if (!(await voidSettlements(sql, charge.id))) return 'settledSince'
  } else if (charge.status === 'waived') return 'waivedBefore'
  await sql.run`
    update charge set status = 'waived', next_try_at = null, claimed_until = null where id = ${charge.id}::bigint`
  await resume(sql, [charge.subscriptionId])
  return said.isWrongPrice ? 'settledAnew' : 'waived'
}
