/**
 * The operations as the edge sees them: who calls, how often, whether the platform is open, and the way of a
 * call to its answer. Everything below (rows, secrets, handlers) stays out of the edge's sight.
 */
import { setTimeout as pause } from 'node:timers/promises'
import type { Charging } from '../domain/positions/tables/commission-plans.ts'
import type { Database } from '../storage/database/database.ts'
import { makeLooks } from '../storage/database/looks.ts'
import { confirmEmail, isGoodLink } from '../storage/people/email-confirmations.ts'
import { listSwitches, switchChannel } from '../storage/work/switches.ts'
import { type Approvals, createApprovals } from './approvals.ts'
import { newLoad } from './batch.ts'
import { type Authenticator, createAuthenticator } from './caller.ts'
import type { Clock } from './context.ts'
import type { HandlerTable } from './handler.ts'
import { createLimiter, type Limiter } from './limits.ts'
import { createRunner, type Load, type Run } from './run.ts'
import { hashToken, type Secrets } from './secrets.ts'

export interface OperationsOptions {
  db: Database
  clock: Clock
  handlers: HandlerTable
  secrets: Secrets
  /** Environment of the access keys that are let in, lower-case letters. */
  keyEnvironment: string
  /** Code of this platform in its client order ids. */
  environment: string
  /** Whether fills of strategies are charged (default). */
  charging?: Charging
  log: { warn(fields: object, message: string): void }
}

export interface EmailConfirmations {
  /** Whether the link is ours, and good; nothing is changed. */
  isGood(token: string): Promise<boolean>
  /** Confirms the address that the link was sent to; false when it is not good. */
  confirm(token: string): Promise<boolean>
}

export interface Operations extends Pick<Authenticator, 'authenticate'> {
  readonly run: Run
  readonly limiter: Limiter
  readonly load: Load
  readonly approvals: Approvals
  /** Whether the operator has closed the platform. */
  isInMaintenance(): boolean
  /** The links that e-mail addresses are confirmed by. Throw DatabaseUnavailable. */
  readonly emailConfirmations: EmailConfirmations
  /** Whether the database answers within half a second. */
  isReady(): Promise<boolean>
  /** Stops listening and counting; the database stays open. */
  close(): Promise<void>
}

const readyWithinMs = 500

/** Wires the operations to a database. Throws DatabaseUnavailable. */
export async function createOperations(options: OperationsOptions): Promise<Operations> {
  const { db, clock, secrets, keyEnvironment, log } = options
  const authenticator = await createAuthenticator({ db, clock, secrets, keyEnvironment })
  const limiter = createLimiter({ db, log })
  const maintenance = await watchMaintenance(db, log)
  const load = { reads: newLoad(), writes: newLoad() }
  return {
    run: createRunner({ ...options, load }),
    load,
    authenticate: authenticator.authenticate,
    limiter,
    approvals: createApprovals(options),
    isInMaintenance: maintenance.isOn,
    emailConfirmations: {
      isGood: (token) => isGoodLink(db.read, hashToken(secrets, 'confirmation', token), clock.now()),
      confirm: (token) => confirmEmail(db.write, hashToken(secrets, 'confirmation', token), clock.now()),
    },
    isReady: () => takesWorkWithin(db, readyWithinMs),
    close: async () => {
      await Promise.all([authenticator.close(), maintenance.stop()])
      await limiter.close()
    },
  }
}

async function watchMaintenance(
  db: Database,
  log: OperationsOptions['log'],
): Promise<{ isOn(): boolean; stop(): Promise<void> }> {
  let isOn = false
  const look = async (): Promise<void> => {
    isOn = (await listSwitches(db.read)).get('maintenance') === true
  }
  await look()
  const looks = makeLooks(look, (error) =>
    log.warn({ error: String(error) }, 'the switches could not be read'),
  )
  const subscription = await db.listen(switchChannel, looks.ask)
  return {
    isOn: () => isOn,
    stop: () => {
      looks.stop()
      return subscription.stop()
    },
  }
}

/** A standby that has come in the database's place answers, and takes nothing. */
async function takesWorkWithin(db: Database, milliseconds: number): Promise<boolean> {
  const answered = db.read.one<{ takesWrites: boolean }>`
    select not pg_is_in_recovery() as "takesWrites"`.then(
    ({ takesWrites }) => takesWrites,
    () => false,
  )
  return Promise.race([answered, pause(milliseconds, false, { ref: false })])
}
