/**
 * The account side of the worker: plan, send, take in reports, follow, close, keep in step. Each step finds its own work in
 * the rows, so any number of workers may run them side by side.
 */
import type { Broker } from './brokers/broker.ts'
import { tradesStep } from './brokers/trades.ts'
import type { Step } from './context.ts'
import { syncStep } from './mirror/auto-sync.ts'
import { chaseStep } from './mirror/chase.ts'
import { closingStep } from './mirror/closings.ts'
import { mirrorStep } from './mirror/mirror.ts'
import { confirmationStep } from './mirror/order-confirmations.ts'
import { queueStep, senderStep, shutOutStep } from './mirror/sender.ts'
import { reconciliationStep } from './reports/reconciliation.ts'
import { reportStep } from './reports/reports.ts'

/** The steps for these brokers, named as the `adapter` of the rows that they serve. */
export const movingSteps = (brokers: Readonly<Record<string, Broker>>): Step[] => [
  tradesStep(brokers),
  mirrorStep,
  chaseStep,
  closingStep,
  ...Object.entries(brokers).flatMap(([adapter, broker]) => [
    senderStep(adapter, broker),
    queueStep(adapter, broker),
    shutOutStep(adapter),
  ]),
  // One program may serve several adapters.
  ...[...new Set(Object.values(brokers))].flatMap((broker) => broker.steps),
  reportStep,
]

/** The same, and what holds accounts against their brokers' word and their strategies, last. */
export const accountSteps = (brokers: Readonly<Record<string, Broker>>): Step[] => [
  ...movingSteps(brokers),
  confirmationStep,
  ...Object.entries(brokers).map(([adapter, broker]) => reconciliationStep(adapter, broker)),
  syncStep,
]
