/**
 * Stripe behind the payment port, over its official SDK, which is loaded only where it is configured. An attempt is
 * one PaymentIntent under one idempotency key: asked again after a broken connection Stripe answers the same. But it
 * forgets keys after a day, and refuses one with another payment method; so what an attempt without an answer has made
 * is looked for before it is asked again. What is neither paid nor declined (a lost connection, a limit, an error of
 * Stripe's) stays unknown.
 */
import type Stripe from 'stripe'
import { fetchWhole } from '../../services/whole-answers.ts'
import { type ClaimedCharge, collectedBy, endedReason, noteAwaited } from '../../storage/billing/charges.ts'
import {
  type NewPaymentEvent,
  type PaymentAfterwards,
  takePaymentEvent,
} from '../../storage/billing/payment-events.ts'
import type { ChargeAnswer } from '../../storage/billing/settlement.ts'
import type { WorkContext } from '../context.ts'
import type { PaymentProvider } from './provider.ts'

interface StripeOptions {
  readonly secretKey: string
  /** Where Stripe is, when it is not the real one. */
  readonly baseUrl?: string
}

const timeoutMs = 20_000

/** A client of Stripe's. Throws where the package is not installed. */
export async function connectStripe({ secretKey, baseUrl }: StripeOptions): Promise<Stripe> {
  const { default: Client } = await import('stripe')
  const base = baseUrl === undefined ? undefined : new URL(baseUrl)
  return new Client(secretKey, {
    timeout: timeoutMs,
    // Node's own client waits for as long as anything comes, were it a byte of a body that never ends.
    httpClient: Client.createFetchHttpClient((input, init) =>
      fetchWhole(input, { ...init, redirect: 'manual' }),
    ),
    maxNetworkRetries: 0, // the claim is the retry
    telemetry: false,
    ...(base && {
      host: base.hostname,
      port: base.port,
      protocol: base.protocol === 'http:' ? ('http' as const) : ('https' as const),
    }),
  })
}

/** The port over a client; `environment` tells platforms apart that share an account at Stripe. */
export function stripeProvider(stripe: Stripe, environment: string): PaymentProvider {
  return {
    name: 'stripe',
    pay: async (ctx, charges) => {
      const answers = await Promise.all(charges.map((charge) => ask(ctx, stripe, environment, charge)))
      return answers.filter((answer) => answer !== undefined)
    },
  }
}

/** Asked for, such a payment would have no answer but a fault, for ever. Who reads this is who pays. */
const tooLargeReason = 'too large for one payment by Stripe, to be paid otherwise'

async function ask(
  ctx: WorkContext,
  stripe: Stripe,
  environment: string,
  charge: ClaimedCharge,
): Promise<ChargeAnswer | undefined> {
  const { id, attempt, customerRef, methodRef, paymentRef } = charge
  const named = { chargeId: id, attempt, at: ctx.clock.now() }
  if (charge.amount > collectedBy.stripe.most)
    return {
      ...named,
      paymentRef: null,
      outcome: 'declined',
      reason: charge.isOver ? endedReason : tooLargeReason,
    }
  if (customerRef === null || methodRef === null)
    return { ...named, paymentRef: null, outcome: 'declined', reason: 'no payment method' }
  try {
    const made = paymentRef === null ? await find(stripe, environment, charge) : { id: paymentRef }
    if (!made && charge.isOver)
      return { ...named, paymentRef: null, outcome: 'declined', reason: endedReason }
    const intent = made
      ? await stripe.paymentIntents.retrieve(made.id)
      : await create(stripe, environment, { ...charge, customerRef, methodRef }).catch((error) =>
          refusalIn(error, () => isMethodOf(stripe, customerRef, methodRef)),
        )
    if (intent.object === 'refusal') {
      ctx.log.warn({ chargeId: id, attempt, error: intent.error }, 'Stripe has refused to make a payment')
      return { ...named, paymentRef: null, outcome: 'declined', reason: intent.reason }
    }
    const outcome = outcomeOf(intent)
    if (outcome?.outcome === 'paid' && !isAsAsked(intent, charge)) await takeOther(ctx, intent, charge)
    else if (outcome) return { ...named, paymentRef: intent.id, ...outcome }
    await noteAwaited(ctx.db.write, id, attempt, intent.id)
    return undefined
  } catch (error) {
    const declined = declineIn(error)
    if (declined) return { ...named, outcome: 'declined', ...declined }
    ctx.log.warn({ chargeId: id, attempt, error }, 'a payment has no answer yet and will be asked for again')
    return undefined
  }
}

const receivedBy = ({ id, amount_received, amount, currency }: Stripe.PaymentIntent) => ({
  paymentRef: id,
  amount: amount_received ?? amount,
  currency: currency.toUpperCase(),
})

/** Whether a payment is what was asked for: at Stripe's somebody may have changed it. */
function isAsAsked(intent: Stripe.PaymentIntent, charge: ClaimedCharge): boolean {
  const { amount, currency } = receivedBy(intent)
  return BigInt(amount) === charge.amount && currency === charge.currency
}

/** Takes in, as Stripe may have told it by itself, a payment that pays nothing; what it came for has no answer. */
function takeOther(ctx: WorkContext, intent: Stripe.PaymentIntent, charge: ClaimedCharge): Promise<void> {
  const { id: chargeId, attempt, periodStartedAt } = charge
  const named = { provider: 'stripe', eventRef: intent.id, kind: 'paid', reason: null } as const
  const event = { ...named, ...receivedBy(intent), chargeId, attempt, periodStartedAt }
  return ctx.db.transaction((tx) => takePaymentEvent(tx, event, ctx.clock.now()))
}

/** What names an attempt at Stripe. */
const metadataOf = (environment: string, { id, attempt, periodStartedAt }: ClaimedCharge) => ({
  environment,
  charge: String(id),
  attempt: String(attempt),
  period: String(periodStartedAt),
})

/**
 * What an attempt that was asked for without an answer has made; nothing for a new one. The search of Stripe's lags by
 * a minute at most, and a claim runs out after more.
 */
async function find(
  stripe: Stripe,
  environment: string,
  charge: ClaimedCharge,
): Promise<Stripe.PaymentIntent | undefined> {
  if (!charge.isAskedAgain) return undefined
  const named = Object.entries(metadataOf(environment, charge))
  const query = named.map(([name, value]) => `metadata['${name}']:'${value}'`).join(' AND ')
  const { data } = await stripe.paymentIntents.search({ query })
  return data[0]
}

const create = (
  stripe: Stripe,
  environment: string,
  charge: ClaimedCharge & { customerRef: string; methodRef: string },
): Promise<Stripe.PaymentIntent> =>
  stripe.paymentIntents.create(
    {
      amount: Number(charge.amount),
      currency: charge.currency.toLowerCase(),
      customer: charge.customerRef,
      payment_method: charge.methodRef,
      confirm: true,
      off_session: true,
      metadata: metadataOf(environment, charge),
    },
    { idempotencyKey: `${environment}-charge-${charge.id}-${charge.attempt}-${charge.periodStartedAt}` },
  )

/** What an intent says of the payment; nothing while it is under way. */
function outcomeOf({
  status,
  last_payment_error: failure,
}: Stripe.PaymentIntent): { outcome: 'paid' } | { outcome: 'declined'; reason: string } | undefined {
  if (status === 'succeeded') return { outcome: 'paid' }
  if (status === 'processing') return undefined
  const said = failure?.decline_code ?? failure?.code
  return {
    outcome: 'declined',
    reason: said ?? (status === 'requires_action' ? 'authentication required' : status),
  }
}

/** Codes of what its payer can mend; an amount or an account of ours is not his fault. */
const ofThePayer = /^(payment_method|customer|resource_missing)/

/**
 * That a payment was not made and never will be, asked like this: its method was detached, its customer is gone. Only of
 * asking: an error of a look-up, which may have no code either, says nothing of the payment. Nor has a detached method
 * one, nor an account of ours that may collect nothing now: so the method is looked at.
 */
async function refusalIn(error: unknown, isPayable: () => Promise<boolean>) {
  const { type, code } = error as Partial<Stripe.errors.StripeError>
  if (type !== 'StripeInvalidRequestError') throw error
  const isOfThePayer = code === undefined ? !(await isPayable()) : ofThePayer.test(code)
  if (!isOfThePayer) throw error
  return { object: 'refusal', reason: code ?? 'payment method detached', error } as const
}

/** Whether a method is the customer's, as Stripe has it. */
const isMethodOf = (stripe: Stripe, customerRef: string, methodRef: string): Promise<boolean> =>
  stripe.paymentMethods
    .retrieve(methodRef)
    .then(
      ({ customer }) => (typeof customer === 'string' ? customer : customer?.id) === customerRef,
      notMissing,
    )

/** False of what Stripe does not know; any other error says nothing. */
function notMissing(error: Partial<Stripe.errors.StripeError>): false {
  if (error.code !== 'resource_missing') throw error
  return false
}

/** A decline among the errors: of the card, or of a payment that Stripe does not know any more. */
function declineIn(error: unknown): { reason: string; paymentRef: string | null } | undefined {
  const { type, code, decline_code, payment_intent } = error as Partial<Stripe.errors.StripeError> & {
    decline_code?: string
  }
  const isUnknown = type === 'StripeInvalidRequestError' && code === 'resource_missing'
  if (type !== 'StripeCardError' && !isUnknown) return undefined
  return { reason: decline_code ?? code ?? 'declined', paymentRef: payment_intent?.id ?? null }
}

interface Attaching {
  readonly environment: string
  readonly personId: number
  readonly method: string
  /** As who the person has paid so far; null when as nobody. */
  readonly customerRef: string | null
}

/**
 * Lets a person pay with a method, as the customer that he is: a method of his could be given to no other. Answers the
 * customer, a new one where there is none or he was deleted at Stripe's. Asked again it makes no second one. Throws what
 * Stripe says against it, in words: its own error brings the whole call along.
 */
export async function attachMethod(stripe: Stripe, wanted: Attaching): Promise<string> {
  try {
    return await attach(stripe, wanted)
  } catch (error) {
    const { type, message } = error as Partial<Stripe.errors.StripeError>
    throw type?.startsWith('Stripe') ? new Error(`Stripe did not take ${wanted.method}: ${message}`) : error
  }
}

async function attach(
  stripe: Stripe,
  { environment, personId, method, customerRef }: Attaching,
): Promise<string> {
  const isThere = customerRef !== null && (await isCustomer(stripe, customerRef))
  // Asked under the key of the one that was deleted, Stripe would answer that one for a day.
  const key = `${environment}-customer-${personId}${customerRef === null ? '' : `-after-${customerRef}`}`
  const metadata = { environment, person: String(personId) }
  const id = isThere ? customerRef : (await stripe.customers.create({ metadata }, { idempotencyKey: key })).id
  await stripe.paymentMethods.attach(method, { customer: id })
  return id
}

const isCustomer = (stripe: Stripe, customerRef: string): Promise<boolean> =>
  stripe.customers.retrieve(customerRef).then(({ deleted }) => !deleted, notMissing)

const tellingKinds: Readonly<Record<string, NewPaymentEvent['kind']>> = {
  'payment_intent.succeeded': 'paid',
  'payment_intent.payment_failed': 'declined',
}

/** What becomes of a payment after it was made, and of a dispute as it ends: the operator is told. */
const afterPayment: Readonly<Record<string, PaymentAfterwards['kind']>> = {
  'charge.refunded': 'paymentRefunded',
  'charge.dispute.created': 'paymentDisputed',
  'charge.dispute.closed won': 'disputeWon',
  'charge.dispute.closed warning_closed': 'disputeWon',
  'charge.dispute.closed lost': 'disputeLost',
}

/**
 * Which attempt of ours some metadata names; null where it is none of this platform's. Another one in the same account
 * counts its charges alike, so their period belongs to the name; the oldest payments were made without it.
 */
function attemptIn(metadata: Stripe.Metadata | null | undefined, environment: string) {
  const { charge = '', attempt = '', period } = metadata ?? {}
  const isOurs =
    metadata?.environment === environment &&
    /^\d{1,15}$/.test(charge) &&
    /^\d{1,9}$/.test(attempt) &&
    /^\d{1,15}$/.test(period ?? '0')
  if (!isOurs) return null
  const periodStartedAt = period === undefined ? null : Number(period)
  return { chargeId: Number(charge), attempt: Number(attempt), periodStartedAt }
}

/**
 * Reads a webhook call. 'forged' when its signature is not Stripe's or is older than five minutes by this machine's
 * clock; nothing for events that are not about a payment of this platform.
 */
export function readStripeEvent(
  stripe: Stripe,
  { environment, secret }: { environment: string; secret: string },
  call: { readonly body: string; readonly signature: string },
): NewPaymentEvent | PaymentAfterwards | 'forged' | undefined {
  const event = verified(stripe, secret, call)
  if (event === undefined) return 'forged'
  const named = { provider: 'stripe', eventRef: event.id } as const
  const after =
    event.type === 'charge.dispute.closed'
      ? afterPayment[`${event.type} ${event.data.object.status}`]
      : afterPayment[event.type]
  if (after !== undefined) {
    const object = event.data.object as Stripe.Charge | Stripe.Dispute
    const { payment_intent: paid, metadata } = object
    const amount = 'amount_refunded' in object ? object.amount_refunded : object.amount
    const paymentRef = typeof paid === 'string' ? paid : paid?.id
    // A charge has the metadata of its intent, a dispute has none of ours.
    const payer = attemptIn(metadata, environment)
    return paymentRef === undefined ? undefined : { ...named, kind: after, paymentRef, amount, payer }
  }
  const kind = tellingKinds[event.type]
  if (kind === undefined) return undefined
  const intent = event.data.object as Stripe.PaymentIntent
  const attempt = attemptIn(intent.metadata, environment)
  if (!attempt) return undefined
  return {
    ...named,
    kind,
    ...receivedBy(intent),
    ...attempt,
    reason: intent.last_payment_error?.decline_code ?? intent.last_payment_error?.code ?? null,
  }
}

function verified(
  stripe: Stripe,
  secret: string,
  { body, signature }: { readonly body: string; readonly signature: string },
): Stripe.Event | undefined {
  try {
    return stripe.webhooks.constructEvent(body, signature, secret)
  } catch {
    return undefined
  }
}
