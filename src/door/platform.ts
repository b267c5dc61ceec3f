/**
 * A whole platform in one process for checks: the three hosts, a worker that works when somebody waits for it,
 * a clock that stands still, and the door. It keeps its rows in a database of its own and begins empty.
 */
import { type AssemblyOptions, assembleWork } from '../execution/assembly.ts'
import { createWorker } from '../execution/worker.ts'
import { createServer, type ServerOptions } from '../http/server.ts'
import { handlers } from '../operations/index.ts'
import { createOperations, type Operations } from '../operations/operations.ts'
import { confirmationToken, type Secrets } from '../operations/secrets.ts'
import type { Mailer } from '../services/mail.ts'
import { createOutbound } from '../services/outbound.ts'
import type { Database } from '../storage/database/database.ts'
import type { DoorState } from './call.ts'
import { beginning, emptyRows } from './calls/platform.ts'
import { createClock } from './clock.ts'
import { doorDatabase, openDoorDatabase } from './database.ts'
import { createDoor } from './door.ts'

export interface DoorOptions extends Pick<ServerOptions, 'hosts' | 'pages' | 'documents' | 'log'> {
  /** A database server; the platform makes a database of its own on it. */
  readonly serverUrl: string
  /** That database's name where several test platforms share a server; begins with `lockstep_door`. */
  readonly database?: string
  readonly port: number
  readonly host: string
  readonly secrets: Secrets
  /** Environment of the access keys, lower-case letters. */
  readonly keyEnvironment: string
  /** Code of this platform in its client order ids. */
  readonly environment: string
  /** Takes the mail that is sent; absent, it waits. */
  readonly mailer?: Mailer
  /** Whether this is production, where there is no such platform. */
  readonly production: boolean
}

export interface DoorPlatform {
  /** Where it listens. */
  readonly url: string
  readonly db: Database
  close(): Promise<void>
}

/** Longer than any call out takes: what is sent has been answered before anybody goes on. */
const patienceMs = 20_000

/** How people and sites are told of things; receivers on this machine are among them. */
const tellers = ({ mailer, secrets }: DoorOptions, publicUrl: () => string) => ({
  ...(mailer && {
    mail: { mailer, publicUrl, tokenOf: (seed: string) => confirmationToken(secrets, seed) },
  }),
  webhooks: { keyRing: secrets.keyRing, patienceMs, outbound: createOutbound({ permitsLocal: true }) },
})

const served = ({ hosts, log, pages = {}, documents = {} }: DoorOptions) => ({ hosts, log, pages, documents })

/** Starts it empty. Throws in production, and when the server does not let it make a database. */
export async function startDoorPlatform(options: DoorOptions): Promise<DoorPlatform> {
  if (options.production) throw new Error('the test door does not open in production')
  const db = await openDoorDatabase(options.serverUrl, options.database ?? doorDatabase, options.log)
  const { log } = options
  const clock = createClock(beginning)
  const begin = () =>
    createOperations({ ...options, db, clock, handlers, charging: parts.ctx.settings.commissionPlan })
  let url = ''
  const told = tellers(options, () => url)
  const assemble = () => assembleParts({ db, clock, log, environment: options.environment, ...told })
  let parts = assemble()
  let operations: Operations
  let limits = false
  const state: DoorState = {
    clock,
    secrets: options.secrets,
    keyEnvironment: options.keyEnvironment,
    get work() {
      return parts.ctx
    },
    get controls() {
      return parts.controls
    },
    drain: () => parts.worker.drain(),
    renew: async (fresh, empty) => {
      await operations.close()
      parts = assemble()
      await empty()
      operations = await begin()
      limits = fresh.limits
    },
  }
  await emptyRows(state, beginning)
  operations = await begin()
  const { routes, settle } = createDoor(state)
  const server = createServer({
    ...served(options),
    extra: routes,
    afterWrite: settle,
    operations: present(() => operations),
    isCounting: () => limits,
  })
  url = await server.listen(options.port, options.host)
  const close = async (): Promise<void> => {
    for (const part of [server, operations, told.webhooks.outbound]) await part.close()
    options.mailer?.close()
    await db.close()
  }
  return { url, db, close }
}

const assembleParts = (base: Omit<AssemblyOptions, 'workerId'>) => {
  const parts = assembleWork({ ...base, workerId: 'door', commissionPlan: 'none', isScripted: true })
  return { ...parts, worker: createWorker(parts) }
}

/** The operations of the moment: those of before a reset are not to be reached any more. */
const present = (now: () => Operations): Operations => ({
  run: (call) => now().run(call),
  authenticate: (header, dialect) => now().authenticate(header, dialect),
  get limiter() {
    return now().limiter
  },
  get load() {
    return now().load
  },
  get approvals() {
    return now().approvals
  },
  get emailConfirmations() {
    return now().emailConfirmations
  },
  isInMaintenance: () => now().isInMaintenance(),
  isReady: () => now().isReady(),
  close: () => now().close(),
})
