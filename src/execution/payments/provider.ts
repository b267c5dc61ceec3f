/**
 * The port to whoever collects money. A provider is asked with a key that names the attempt: asked again with the
 * same key it makes no second payment. What it does not answer, or cannot say yet, stays unknown until it is asked
 * again or tells by itself; a time-out is never taken for a decline.
 */
import type { ClaimedCharge, ProviderName } from '../../storage/billing/charges.ts'
import type { ChargeAnswer } from '../../storage/billing/settlement.ts'
import type { WorkContext } from '../context.ts'

export interface PaymentProvider {
  readonly name: ProviderName
  /** Asks for payments; answers those whose outcome is known. */
  pay(ctx: WorkContext, charges: readonly ClaimedCharge[]): Promise<ChargeAnswer[]>
}
