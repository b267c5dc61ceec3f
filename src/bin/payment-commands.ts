/** The operator's tools for payments: who collects them, how people pay, what is unpaid, and what becomes of it. */
import type { Command } from 'commander'
import {
  type NotedPayment,
  type NotedWaiver,
  notePaidOtherwise,
  waiveCharge,
} from '../storage/billing/by-hand.ts'
import { type ProviderName, retryCharges } from '../storage/billing/charges.ts'
import { listSurplus } from '../storage/billing/ledger.ts'
import { listWithoutMethod } from '../storage/billing/payment-methods.ts'
import { listUncollected, type UncollectedPrice } from '../storage/billing/uncollected-prices.ts'
import { listUnpaidCharges, type UnpaidCharge } from '../storage/billing/unpaid-charges.ts'
import type { Transaction } from '../storage/database/sql.ts'
import { setSwitch } from '../storage/work/switches.ts'
import { noteCommand, noteSaid } from './acting.ts'
import { systemClock } from './clock.ts'
import { ConfigError } from './config.ts'
import { attachStripeMethod } from './payments.ts'
import {
  firstOf,
  type Output,
  oneOf,
  readId,
  readWhole,
  readWords,
  say,
  sayList,
  tableOf,
  tool,
  utcOf,
  withPlatform,
} from './tool.ts'

/** Adds the choice of the provider, payment methods, second tries, what is unpaid, too much, paid otherwise, or let go. */
export function addPaymentCommands(payments: Command): void {
  tool(payments, 'use <provider>', 'simulated or stripe: who is asked for payments from now on').action(
    useProvider,
  )
  tool(payments, 'attach <method>', "let a person pay with a payment method of Stripe's")
    .requiredOption('--person <id>', 'who pays', readId)
    .action((method: string, options: Output & { person: number }) =>
      withPlatform(async (db, config) => {
        await attachStripeMethod(config, db, { personId: options.person, method })
        say(options, { person: options.person, method }, `Person ${options.person} pays with ${method}.`)
      }),
    )
  tool(payments, 'retry <subscription>', 'ask once more, now, for what was declined').action(
    (subscription: string, output: Output) =>
      withPlatform(async (db) => {
        await db.transaction(async (tx) => {
          if (!(await retryCharges(tx, readId(subscription), Date.now())))
            throw new ConfigError(`subscription ${subscription} owes nothing that was declined`)
          await noteCommand(tx, `subscription ${subscription}`)
        })
        say(output, { subscription: Number(subscription) }, 'It is asked for again.')
      }),
  )
  tool(payments, 'unpaid', 'what was asked for and is not paid, the newest first')
    .option('--person <id>', 'of this person alone', readId)
    .option('--limit <n>', 'how many', (text) => readWhole('--limit', text, 1), 50)
    .action(listUnpaid)
  tool(payments, 'surplus', 'what came beside what was asked for, and is to be given back')
    .option('--all', 'also what was given back')
    .option('--limit <n>', 'how many', (text) => readWhole('--limit', text, 1), 50)
    .action(showSurplus)
  tool(payments, 'settle <charge>', 'it was paid otherwise: nobody is asked for it any more')
    .requiredOption('--note <text>', 'how it was paid, for the audit log: no personal data')
    .option('--looked-up', lookedUpMeans)
    .action(settle)
  tool(
    payments,
    'waive <charge>',
    'it is let go unpaid: nothing is booked, and nobody is asked for it any more',
  )
    .requiredOption('--note <text>', 'why, for the audit log: no personal data')
    .option('--looked-up', lookedUpMeans)
    .option('--wrong-price', 'of a fee on gains: there was no such gain, and the next term settles it anew')
    .action(waive)
}

const lookedUpMeans = 'also while its provider has not answered: it was looked up there, and is not paid'

const useProvider = (typed: string, output: Output): Promise<void> =>
  withPlatform(async (db, config) => {
    const provider = oneOf('the provider', typed, ['simulated', 'stripe'])
    if (provider === 'stripe' && !config.stripe) throw new ConfigError('STRIPE_SECRET_KEY is not set')
    await setSwitch(db.write, 'paymentProvider', provider, Date.now())
    // The built-in one asks nobody how he pays.
    const withoutMethod = provider === 'stripe' ? await listWithoutMethod(db.read, provider) : []
    const uncollected = await listUncollected(db.read, provider)
    say(output, { provider, withoutMethod, uncollected }, [
      `Payments are collected by ${provider}.`,
      ...methodless(withoutMethod),
      ...uncollectedBy(provider, uncollected),
    ])
  })

const listUnpaid = ({
  person,
  limit,
  ...output
}: Output & { person?: number; limit: number }): Promise<void> =>
  withPlatform(async (db) => {
    const unpaid = await listUnpaidCharges(db.read, { personId: person, limit })
    const facts = unpaid.map(({ dueAt, ...charge }) => ({ ...charge, dueUtc: utcOf(dueAt) }))
    sayList(output, { unpaid: facts }, tableOf(unpaid.map(rowOf)), 'Nothing is unpaid.')
  })

const rowOf = (charge: UnpaidCharge) => ({
  charge: charge.id,
  person: charge.personId,
  subscription: charge.subscriptionId,
  of: charge.planId === null ? `strategy ${charge.strategyId}` : `plan ${charge.planId}`,
  for: charge.purpose,
  amount: `${charge.amount} ${charge.currency}`,
  by: charge.provider,
  state: charge.state,
  tries: charge.tries,
  due: utcOf(charge.dueAt) ?? '-',
  reason: charge.reason ?? '',
})

const showSurplus = ({ all, limit, ...output }: Output & { all?: true; limit: number }): Promise<void> =>
  withPlatform(async (db) => {
    const rows = await listSurplus(db.read, { limit, withReturned: all ?? false })
    const surplus = rows.map(({ bookedAt, ...row }) => ({ ...row, bookedUtc: utcOf(bookedAt) }))
    const lines = surplus.map((row) => ({
      charge: row.chargeId,
      person: row.personId,
      payment: row.paymentRef,
      by: row.provider,
      amount: `${row.amount} ${row.currency}`,
      returned: row.returned,
      booked: row.bookedUtc ?? '-',
    }))
    sayList(output, { surplus }, tableOf(lines), 'Nothing is to be given back.')
  })

type Noted = NotedPayment | NotedWaiver

/** What is said of a charge after its number. */
const saysOf: Record<Exclude<Noted, Fault>, string> = {
  noted: 'is noted as paid',
  notedInVain: 'is noted as paid. Its subscription has ended or gone on without it: nothing begins by it',
  notedBefore: 'was noted as paid before, and stays as it was noted',
  waived: 'is let go',
  settledAnew: 'is let go. What was gained is settled anew with the next term, if there is one',
  waivedBefore: 'was let go before',
}

type Fault = keyof typeof faults

const faults = {
  absent: (charge: number) => `there is no charge ${charge} (payments unpaid)`,
  paid: (charge: number) => `charge ${charge} is paid already`,
  asked: (charge: number) =>
    `charge ${charge} is being asked for and may be paid: wait for the provider's answer, then try again, or look it up there and add --looked-up`,
  noFee: (charge: number) => `charge ${charge} is no fee on gains: --wrong-price is of those`,
  noGain: (charge: number) =>
    `charge ${charge} was let go as made by a wrong price, and what was gained is settled anew: paid too, it would be paid for twice`,
  settledSince: (charge: number) =>
    `the gain of charge ${charge} cannot be settled anew: another fee was charged since, gains have passed free, or a higher percentage holds now. Without --wrong-price it is let go, and its height stays`,
}

const isFault = (noted: Noted): noted is Fault => noted in faults

interface SaidOfCharge extends Output {
  note: string
  lookedUp?: true
}

const settle = (text: string, options: SaidOfCharge): Promise<void> =>
  sayOf(text, options, (tx, said) => notePaidOtherwise(tx, { ...said, at: systemClock.now() }))

const waive = (text: string, options: SaidOfCharge & { wrongPrice?: true }): Promise<void> =>
  sayOf(text, options, (tx, said) => waiveCharge(tx, { ...said, isWrongPrice: options.wrongPrice ?? false }))

/** Notes something of a charge, once, with the operator's words in the audit log. */
const sayOf = (
  text: string,
  { note, lookedUp, ...output }: SaidOfCharge,
  noting: (tx: Transaction, said: { chargeId: number; isLookedUp: boolean }) => Promise<Noted>,
): Promise<void> =>
  withPlatform(async (db) => {
    const charge = readId(text)
    const words = readWords('--note', note)
    const noted = await db.transaction(async (tx) => {
      const found = await noting(tx, { chargeId: charge, isLookedUp: lookedUp ?? false })
      if (isNews(found)) await noteSaid(tx, `charge ${charge}`, { note: words })
      return found
    })
    if (isFault(noted)) throw new ConfigError(faults[noted](charge))
    say(output, { charge, noted: isNews(noted) }, `Charge ${charge} ${saysOf[noted]}.`)
  })

const isNews = (noted: Noted): boolean => ['noted', 'notedInVain', 'waived', 'settledAnew'].includes(noted)

/** Of many, so many are named; all are in the JSON. */
const namedMax = 20

const methodless = (ids: readonly number[]): string[] =>
  ids.length === 0
    ? []
    : [
        `Without a way to pay there (payments attach), and declined when their terms turn: ${firstOf(ids, namedMax)}`,
      ]

const uncollectedBy = (provider: ProviderName, prices: readonly UncollectedPrice[]): string[] =>
  prices.length === 0
    ? []
    : [
        `Not collected by ${provider}, so that nobody new can subscribe and terms are let go: ${firstOf(prices.map(priceOf), namedMax)}`,
      ]

function priceOf({ strategyId, planId, siteId, amount }: UncollectedPrice): string {
  if (planId !== null) return `plan ${planId} at ${amount} USD`
  return siteId === null
    ? `strategy ${strategyId} at ${amount} USD`
    : `strategy ${strategyId} at ${amount} USD with the markup of site ${siteId}`
}
