/**
 * The double-entry ledger of what subscribers pay. Its only fact is a transfer: an amount above zero that leaves
 * one account and arrives at another, in one currency. So the entries of both sides sum to zero in every
 * currency, whatever is booked. Amounts are whole minor units.
 */
import { type Price, sharesOf, totalOf } from './revenue.ts'

/**
 * Whose balance moves. The provider is where money enters: what it has collected for us stands there below zero. What came
 * beside what was asked for is surplus, and nobody's.
 */
export type LedgerAccount =
  | { readonly kind: 'customer' | 'owner'; readonly personId: number }
  | { readonly kind: 'site'; readonly siteId: number }
  | { readonly kind: 'provider'; readonly provider: string }
  | { readonly kind: 'platform' | 'surplus' }

export type TransferReason =
  | 'payment'
  | 'ownerShare'
  | 'siteMarkup'
  | 'platformShare'
  | 'surplus'
  | 'surplusReturned'
  | 'surplusLost'

export interface Transfer {
  readonly reason: TransferReason
  readonly from: LedgerAccount
  readonly to: LedgerAccount
  readonly amount: bigint
}

/** A charge that was paid, with whom it feeds; null where nobody owns what was sold (a plan). */
export interface PaidCharge {
  readonly price: Price
  readonly personId: number
  readonly ownerPersonId: number | null
  readonly ownerPercent: number
  /** The site that resells, or that offers the plan. */
  readonly siteId: number
  readonly provider: string
}

/**
 * The transfers of a payment: from the provider to the customer, and from the customer on to those who earn it.
 * The customer's balance is as before, to the cent.
 */
export function transfersOf(charge: PaidCharge): Transfer[] {
  const { price, personId, ownerPersonId, siteId } = charge
  const customer: LedgerAccount = { kind: 'customer', personId }
  const shares = sharesOf(price, ownerPersonId === null ? 0 : charge.ownerPercent)
  const transfers: Transfer[] = [
    {
      reason: 'payment',
      from: { kind: 'provider', provider: charge.provider },
      to: customer,
      amount: totalOf(price),
    },
    {
      reason: 'ownerShare',
      from: customer,
      to: { kind: 'owner', personId: ownerPersonId ?? 0 },
      amount: shares.owner,
    },
    { reason: 'siteMarkup', from: customer, to: { kind: 'site', siteId }, amount: shares.site },
    { reason: 'platformShare', from: customer, to: { kind: 'platform' }, amount: shares.platform },
  ]
  return transfers.filter(({ amount }) => amount > 0n)
}

/** A payment that pays nothing: it stands apart until it is given back. */
export const surplusOf = (provider: string, amount: bigint): Transfer => ({
  reason: 'surplus',
  from: { kind: 'provider', provider },
  to: { kind: 'surplus' },
  amount,
})

/** What a provider tells of a payment that it gave back: of several refunds all together, of a lost dispute its own. */
export interface GivenBack {
  readonly kind: 'refund' | 'dispute'
  readonly amount: bigint
}

/** A payment that pays nothing, and what of it is gone already. */
export interface Surplus {
  readonly amount: bigint
  readonly refunded: bigint
  /** By disputes. */
  readonly lost: bigint
}

/** What a surplus gives back now; nothing where it has all been booked. */
export function surplusReturned(
  provider: string,
  { amount, refunded, lost }: Surplus,
  told: GivenBack,
): Transfer | undefined {
  const rest = amount - refunded - lost
  let due = told.kind === 'refund' ? told.amount - refunded : told.amount
  if (due > rest) due = rest
  if (due <= 0n) return undefined
  return {
    reason: told.kind === 'refund' ? 'surplusReturned' : 'surplusLost',
    from: { kind: 'surplus' },
    to: { kind: 'provider', provider },
    amount: due,
  }
}
