/**
 * What the demo plays on: the product's own operations and worker over a clock that the history moves. Nothing
 * is written past them but the people, accounts and instruments that a platform begins with.
 */
import { assembleWork, recordSteps } from '../execution/assembly.ts'
import type { Step, WorkContext } from '../execution/context.ts'
import { syncStep } from '../execution/mirror/auto-sync.ts'
import { reportStep } from '../execution/reports/reports.ts'
import { createWorker, type Worker } from '../execution/worker.ts'
import { type Context, isRefused, type Refused } from '../operations/context.ts'
import type { Secrets } from '../operations/secrets.ts'
import { createPasswords, type Passwords } from '../services/passwords.ts'
import type { Database } from '../storage/database/database.ts'
import type { Transaction } from '../storage/database/sql.ts'

export interface Stage {
  readonly db: Database
  readonly work: WorkContext
  /** Trades. */
  readonly worker: Worker
  /** Carries orders to the brokers. What these say to them is heard together with the fills. */
  readonly sending: Worker
  /** AutoSync, whenever trading has come to rest. */
  readonly sync: Worker
  /** Does what only time gives reason to as well, before and after people act. */
  readonly keeping: Worker
  /** Makes track records when the history is over; two of them share the days that have ended. */
  readonly records: Worker
  readonly clock: { time: number; now(): number }
  /** Code of this platform in its client order ids. */
  readonly environment: string
  readonly secrets: Secrets
  readonly passwords: Passwords
}

/** A stage whose worker works when it is asked to, by the clock that the history moves. */
export function buildStage(
  db: Database,
  log: WorkContext['log'],
  environment: string,
  secrets: Secrets,
): Stage {
  const clock = { time: 0, now: (): number => clock.time }
  const { ctx: work, steps, tradingSteps } = assembleWork({ db, clock, log, workerId: 'demo', environment })
  const isKeeping = (step: Step): boolean => !recordSteps.includes(step)
  const worker = createWorker({ ctx: work, steps: tradingSteps })
  const sending = createWorker({ ctx: work, steps: tradingSteps.filter((step) => step !== reportStep) })
  const sync = createWorker({ ctx: work, steps: [syncStep] })
  const keeping = createWorker({ ctx: work, steps: steps.filter(isKeeping) })
  const records = createWorker({ ctx: work, steps: recordSteps })
  const passwords = createPasswords(secrets.passwords)
  return { db, work, worker, sending, sync, keeping, records, clock, environment, secrets, passwords }
}

/** Whoever trades or follows. */
export interface Actor {
  readonly personId: number
  readonly siteId: number
  readonly siteKind: 'platform' | 'whitelabel'
}

/** The context of a person's call at the clock's moment. */
export const contextOf = (stage: Stage, sql: Transaction, actor: Actor): Context => ({
  sql,
  now: stage.clock.now(),
  caller: { ...actor, accessKeyId: 0, keyId: 'demo', role: 'user', permissions: null },
  host: 'Gen',
  dialect: 'native',
  requestId: `demo ${new Date(stage.clock.now()).toISOString()}`,
  origin: 'http://localhost',
  environment: stage.environment,
  charging: stage.work.settings.commissionPlan,
  secrets: stage.secrets,
  passwords: stage.passwords,
})

/** What was answered. Throws when it is a refusal: the demo asks for nothing that may be refused. */
export function granted<Answer>(answer: Answer | Refused): Answer {
  if (isRefused(answer)) throw new Error(`the demo was refused: ${JSON.stringify(answer)}`)
  return answer
}
