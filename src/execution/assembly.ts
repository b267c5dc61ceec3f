/**
 * A worker's parts put together once, for the worker process, the demo and the test door alike: the strategies'
 * side, the accounts' side and the paper broker, which also serves as the scripted broker of checks.
 */
import { accountSteps, movingSteps } from './account-side.ts'
import { type HeadKeeper, sealingStep } from './audit-log.ts'
import { billingSteps } from './billing.ts'
import { bookCheckStep } from './book-check.ts'
import type { Broker } from './brokers/broker.ts'
import { createPaperBroker, type PaperControls, type PaperOptions } from './brokers/paper.ts'
import { clockSetBackStep } from './clock-set-back.ts'
import { momentsOf, type Step, type WorkContext, type WorkSettings } from './context.ts'
import { housekeepingStep } from './housekeeping.ts'
import { indexCheckStep } from './index-check.ts'
import { type MailOptions, mailStep } from './mail.ts'
import { approvalExpiryStep } from './mirror/approvals.ts'
import { corporateActionStep } from './orders/corporate-actions.ts'
import { closeSteps } from './orders/daily-close.ts'
import { expiryStep, releaseStep } from './orders/expiries.ts'
import { reopeningStep } from './orders/late-prices.ts'
import { marginCallStep } from './orders/margin-calls.ts'
import { arrivalStep } from './orders/matcher.ts'
import { statisticsStep } from './orders/statistics.ts'
import { transmitStep } from './orders/transmit.ts'
import { variantStep } from './orders/variants.ts'
import type { PaymentProvider } from './payments/provider.ts'
import { simulatedProvider } from './payments/simulated.ts'
import { newTally } from './tally.ts'
import { announceStep, type WebhookOptions, webhookStep, webhookSweepStep } from './webhooks.ts'

export interface AssemblyOptions extends Pick<WorkContext, 'db' | 'clock' | 'log' | 'workerId'> {
  /** Code of this platform in its client order ids. */
  readonly environment: string
  readonly commissionPlan?: WorkSettings['commissionPlan']
  readonly paper?: PaperOptions
  /** Sends the mail that was written; absent, it waits. */
  readonly mail?: MailOptions
  /** Tells sites what they want to be told; absent, it waits. */
  readonly webhooks?: WebhookOptions
  /** Keeps the heads of the audit log outside the database; absent, nobody does. */
  readonly auditHeads?: HeadKeeper
  /** Holds every book against every other again and again, for whoever looks at the tally. */
  readonly checksBooks?: boolean
  /** The paper broker also serves the brokers of checks, which count as live ones. */
  readonly isScripted?: boolean
  /** Brokers beside the paper broker, by the `adapter` of the rows that they serve. */
  readonly brokers?: Readonly<Record<string, Broker>>
  /** Who collects payments beside the built-in provider. */
  readonly paymentProviders?: readonly PaymentProvider[]
}

export interface Assembly {
  readonly ctx: WorkContext
  readonly steps: readonly Step[]
  /** By their adapters. */
  readonly brokers: Readonly<Record<string, Broker>>
  /** Those of them that orders, prices and reports set in motion: a history is played by them alone. */
  readonly tradingSteps: readonly Step[]
  /** What a script can make the paper broker do. */
  readonly controls: PaperControls
}

/** What orders of strategies meet: their market, their end, their date, their margin. */
const signalSteps: readonly Step[] = [arrivalStep, expiryStep, releaseStep, marginCallStep]

/** What makes track records of what has been traded. */
export const recordSteps: readonly Step[] = [reopeningStep, ...closeSteps, statisticsStep]

/** Builds context and steps; nothing runs until a worker does. */
export function assembleWork(options: AssemblyOptions): Assembly {
  const {
    environment,
    commissionPlan = 'default',
    paper: paperOptions,
    mail,
    webhooks,
    auditHeads,
    checksBooks = false,
    isScripted = false,
    brokers: others = {},
    paymentProviders = [],
    ...context
  } = options
  const paper = createPaperBroker(paperOptions)
  const brokers = { ...others, paper: paper.broker, ...(isScripted && { scripted: paper.broker }) }
  const tradingSteps = [...signalSteps, ...movingSteps(brokers)]
  const steps = [
    corporateActionStep,
    // Copies are there before the orders that they copy meet the market.
    variantStep,
    ...signalSteps,
    ...accountSteps(brokers),
    transmitStep,
    ...billingSteps([simulatedProvider, ...paymentProviders]),
    approvalExpiryStep,
    ...recordSteps,
    ...(mail ? [mailStep(mail)] : []),
    announceStep,
    ...(webhooks ? [webhookStep(webhooks)] : []),
    // The test door shows every try that there was.
    ...(isScripted ? [] : [webhookSweepStep]),
    clockSetBackStep,
    housekeepingStep,
    sealingStep(auditHeads),
    indexCheckStep(),
    ...(checksBooks ? [bookCheckStep()] : []),
  ]
  const settings: WorkSettings = {
    environment,
    commissionPlan,
    quoteSinks: [paper.quoteSink],
    barSinks: [paper.barSink],
    dueSources: momentsOf(steps),
  }
  const ctx = { ...context, settings, tally: newTally() }
  return { ctx, steps, brokers, tradingSteps, controls: paper.controls }
}
