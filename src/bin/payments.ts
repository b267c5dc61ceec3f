/** Stripe, where it is configured: for the worker that collects, the api that hears, the operator who sets it up. */

import type { PaymentProvider } from '../execution/payments/provider.ts'
import { attachMethod, connectStripe, readStripeEvent, stripeProvider } from '../execution/payments/stripe.ts'
import type { TakeWebhook } from '../http/webhooks.ts'
import { notePaymentAfterwards, takePaymentEvent } from '../storage/billing/payment-events.ts'
import { findPayer, savePaymentMethod } from '../storage/billing/payment-methods.ts'
import type { Database } from '../storage/database/database.ts'
import { systemClock } from './clock.ts'
import { type Config, ConfigError, type StripeConfig } from './config.ts'
import { environments } from './environment.ts'

/** A client. Throws `ConfigError` where the package is missing. */
async function connect({ secretKey, baseUrl }: StripeConfig) {
  try {
    return await connectStripe({ secretKey, ...(baseUrl !== undefined && { baseUrl }) })
  } catch (error) {
    throw new ConfigError(`STRIPE_SECRET_KEY is set, and Stripe cannot be used: ${error}`)
  }
}

/** Who collects payments beside the built-in provider. */
export async function paymentProviders(config: Config): Promise<PaymentProvider[]> {
  if (!config.stripe) return []
  return [stripeProvider(await connect(config.stripe), environments(config).orders)]
}

/** Takes in what Stripe tells; nothing where it is not configured. */
export async function stripeWebhook(config: Config, db: Database): Promise<TakeWebhook | undefined> {
  const secret = config.stripe?.webhookSecret
  if (!config.stripe || secret === undefined) return undefined
  const stripe = await connect(config.stripe)
  const platform = { environment: environments(config).orders, secret }
  return async (call) => {
    const event = readStripeEvent(stripe, platform, call)
    if (event === 'forged') return false
    const at = systemClock.now()
    if (event)
      await db.transaction((tx) =>
        'chargeId' in event ? takePaymentEvent(tx, event, at) : notePaymentAfterwards(tx, event, at),
      )
    return true
  }
}

/** Lets a person pay with a payment method of Stripe's from now on. */
export async function attachStripeMethod(
  config: Config,
  db: Database,
  { personId, method }: { personId: number; method: string },
): Promise<void> {
  const payer = await findPayer(db.read, personId, 'stripe')
  if (!payer) throw new ConfigError(`there is no living person ${personId}`)
  if (!config.stripe) throw new ConfigError('STRIPE_SECRET_KEY is not set')
  const stripe = await connect(config.stripe)
  const environment = environments(config).orders
  const customerRef = await attachMethod(stripe, { environment, personId, method, ...payer })
  const at = systemClock.now()
  await savePaymentMethod(db.write, { personId, provider: 'stripe', customerRef, methodRef: method, at })
}
