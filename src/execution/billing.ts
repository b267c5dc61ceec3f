/**
 * What time does to subscriptions: a term that ends is followed by the next one or by nothing, and what is due is
 * asked of its payment provider. Terms begin at their own moment of business time, however late this is noticed;
 * one that was missed for months is made up for term by term.
 */
import { isCollected, totalOf } from '../domain/billing/revenue.ts'
import { decideTermEnd, termEnd } from '../domain/billing/subscription.ts'
import { dayIn, formatDay } from '../domain/time.ts'
import {
  areChargesDue,
  claimCharges,
  collectedBy,
  findProvider,
  insertCharges,
  nextChargeDue,
  type ProviderName,
} from '../storage/billing/charges.ts'
import { areEventsWaiting, takeWaitingEvents } from '../storage/billing/payment-events.ts'
import { settleFees } from '../storage/billing/performance-fees.ts'
import { settleCharges } from '../storage/billing/settlement.ts'
import {
  areTermsOver,
  type EndedTerm,
  type EndingTerm,
  endTerms,
  lockEndingTerms,
  nextTermEnd,
  type RenewedTerm,
  renewTerms,
} from '../storage/billing/terms.ts'
import { insertIncidents, type NewIncident } from '../storage/work/incidents.ts'
import type { Step, WorkContext } from './context.ts'
import type { PaymentProvider } from './payments/provider.ts'

/** Subscriptions that one transaction moves on. */
const termsAtOnce = 1_000
/** Payments that are asked for before their outcomes are written. */
const chargesAtOnce = 50
const eventsAtOnce = 500

/** Whether the next term costs what is not collected: asked for all the same, it would be asked for in vain for ever. */
const isLetGo = ({ price }: EndingTerm, provider: ProviderName): boolean =>
  totalOf(price) > 0n && !isCollected(totalOf(price), collectedBy[provider])

/**
 * Told of a strategy, at the site that marks it up, or a plan once a month for each such price: it may be mended and come
 * back.
 */
function letGoOf(
  { strategyId, planId, price, endsAt, ...term }: EndingTerm,
  provider: ProviderName,
): NewIncident {
  const siteId = strategyId !== null && price.markup > 0n ? term.siteId : null
  const amount = Number(totalOf(price))
  const month = formatDay(dayIn(endsAt, 'UTC')).slice(0, 7)
  const offer = strategyId === null ? `plan ${planId}` : `strategy ${strategyId} at site ${siteId}`
  const key = `price of ${offer} in ${month}: ${amount} ${provider}`
  return {
    key,
    kind: 'priceNotCollected',
    detail: { strategyId, planId, siteId, amount },
    occurredAt: endsAt,
  }
}

/** Moves subscriptions whose term has ended by one term; answers how many. */
async function turnTerms({ db, clock }: WorkContext): Promise<number> {
  const now = clock.now()
  return db.transaction(async (tx) => {
    const ending = await lockEndingTerms(tx, now, termsAtOnce)
    if (ending.length === 0) return 0
    const ended: EndedTerm[] = []
    const renewed: RenewedTerm[] = []
    const letGo: NewIncident[] = []
    const provider = await findProvider(tx)
    // Before the next term begins: a term keeps its own percentage.
    const fees = await settleFees(tx, ending, collectedBy[provider])
    for (const term of ending) {
      const { id, endsAt, days, planId, nextPercent: percent } = term
      const verdict = decideTermEnd(term)
      if (verdict.act === 'end') ended.push({ id, at: endsAt, reason: verdict.reason })
      else {
        const isFree = isLetGo(term, provider)
        if (isFree) letGo.push(letGoOf(term, provider))
        const price = isFree ? { base: 0n, markup: 0n } : term.price
        renewed.push({ id, from: endsAt, to: termEnd(endsAt, days), planId, price, percent })
      }
    }
    await endTerms(tx, ended)
    await renewTerms(tx, renewed)
    await insertIncidents(tx, letGo)
    await insertCharges(tx, [
      ...renewed.map(({ id, from, to, price }) => {
        return { subscriptionId: id, purpose: 'term', from, to, price, provider, dueAt: from } as const
      }),
      ...ending.map(({ id, startedAt: from, endsAt: to }) => {
        const price = { base: fees.get(id) ?? 0n, markup: 0n }
        return { subscriptionId: id, purpose: 'performance', from, to, price, provider, dueAt: to } as const
      }),
    ])
    return ending.length
  })
}

/**
 * Asks for what is due. A claim commits before the provider hears of it; what it does not answer stays claimed and
 * is asked again, with the same key, when the claim runs out.
 */
async function collect(ctx: WorkContext, provider: PaymentProvider): Promise<number> {
  const now = ctx.clock.now()
  const claim = { provider: provider.name, now, limit: chargesAtOnce }
  const claimed = await ctx.db.transaction((tx) => claimCharges(tx, claim))
  if (claimed.length === 0) return 0
  const answers = await provider.pay(ctx, claimed)
  return ctx.db.transaction((tx) => settleCharges(tx, answers))
}

/** Applies what providers have told by themselves; answers how many events. */
const heedEvents = ({ db, clock }: WorkContext): Promise<number> =>
  db.transaction(async (tx) => {
    const events = await takeWaitingEvents(tx, clock.now(), eventsAtOnce)
    await settleCharges(tx, events)
    return events.length
  })

/** Steps of billing, with the providers that this worker can ask. */
export function billingSteps(providers: readonly PaymentProvider[]): Step[] {
  const names = providers.map(({ name }) => name)
  return [
    { name: 'heedPaymentEvents', due: () => areEventsWaiting, run: heedEvents },
    { name: 'turnTerms', due: areTermsOver, moments: [nextTermEnd], run: turnTerms },
    {
      name: 'collectPayments',
      due: (now) => areChargesDue(now, names),
      moments: [nextChargeDue],
      run: async (ctx) => {
        let moved = 0
        for (const provider of providers) moved += await collect(ctx, provider)
        return moved
      },
    },
  ]
}
