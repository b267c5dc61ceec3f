/** The operator's tools for payments: who collects them, how people pay, and asking once more. */
import type { Command } from 'commander'
import { retryCharges } from '../storage/billing/charges.ts'
import { listWithoutMethod } from '../storage/billing/payment-methods.ts'
import { setSwitch } from '../storage/work/switches.ts'
import { noteCommand } from './acting.ts'
import { ConfigError } from './config.ts'
import { attachStripeMethod } from './payments.ts'
import { firstOf, type Output, oneOf, readId, say, tool, withPlatform } from './tool.ts'

/** Adds the choice of the provider, payment methods and second tries. */
export function addPaymentCommands(payments: Command): void {
  tool(payments, 'use <provider>', 'simulated or stripe: who is asked for payments from now on').action(
    (provider: string, output: Output) =>
      withPlatform(async (db, config) => {
        oneOf('the provider', provider, ['simulated', 'stripe'])
        if (provider === 'stripe' && !config.stripe) throw new ConfigError('STRIPE_SECRET_KEY is not set')
        await setSwitch(db.write, 'paymentProvider', provider, Date.now())
        // The built-in one asks nobody how he pays.
        const withoutMethod = provider === 'stripe' ? await listWithoutMethod(db.read, provider) : []
        say(output, { provider, withoutMethod }, [
          `Payments are collected by ${provider}.`,
          ...methodless(withoutMethod),
        ])
      }),
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
}

/** Of many, so many are named; all are in the JSON. */
const namedMax = 20

const methodless = (ids: readonly number[]): string[] =>
  ids.length === 0
    ? []
    : [
        `Without a way to pay there (payments attach), and declined when their terms turn: ${firstOf(ids, namedMax)}`,
      ]
