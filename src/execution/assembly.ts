/**
 * A worker's parts put together once, for the worker process, the demo and the test door alike: the strategies'
 * side, the accounts' side and the paper broker, which also serves as the scripted broker of checks.
 */
import { accountSteps, nextChase } from './account-side.ts'
import { createPaperBroker, type PaperControls, type PaperOptions } from './brokers/paper.ts'
import type { Step, WorkContext, WorkSettings } from './context.ts'
import { closeSteps } from './daily-close.ts'
import { expiryStep, nextSignalExpiry, nextSignalRelease, releaseStep } from './expiries.ts'
import { housekeepingStep } from './housekeeping.ts'
import { marginCallStep } from './margin-calls.ts'
import { arrivalStep } from './matcher.ts'
import { statisticsStep } from './statistics.ts'

export interface AssemblyOptions extends Pick<WorkContext, 'db' | 'clock' | 'log' | 'workerId'> {
  /** Code of this platform in its client order ids. */
  readonly environment: string
  readonly commissionPlan?: WorkSettings['commissionPlan']
  readonly paper?: PaperOptions
  /** The paper broker also serves the brokers of checks, which count as live ones. */
  readonly isScripted?: boolean
}

export interface Assembly {
  readonly ctx: WorkContext
  readonly steps: readonly Step[]
  /** What a script can make the paper broker do. */
  readonly controls: PaperControls
}

/** What makes track records of what has been traded. */
export const recordSteps: readonly Step[] = [...closeSteps, statisticsStep]

/** Builds context and steps; nothing runs until a worker does. */
export function assembleWork(options: AssemblyOptions): Assembly {
  const {
    environment,
    commissionPlan = 'default',
    paper: paperOptions,
    isScripted = false,
    ...context
  } = options
  const paper = createPaperBroker(paperOptions)
  const settings: WorkSettings = {
    environment,
    commissionPlan,
    quoteSinks: [paper.quoteSink],
    barSinks: [paper.barSink],
    dueSources: [nextSignalExpiry, nextSignalRelease, nextChase, paper.dueSource],
  }
  const brokers = { paper: paper.broker, ...(isScripted && { scripted: paper.broker }) }
  const steps = [
    arrivalStep,
    expiryStep,
    releaseStep,
    marginCallStep,
    ...accountSteps(brokers),
    ...recordSteps,
    housekeepingStep,
  ]
  return { ctx: { ...context, settings }, steps, controls: paper.controls }
}
