/**
 * One call of the door: a body read strictly, an effect, an answer in plain JSON. What cannot be done is said
 * in the envelope of the interface, so that one client reads both.
 */
import { type Fault, faultEnvelope, faultOf } from '../contract/index.ts'
import type { PaperControls } from '../execution/brokers/paper.ts'
import type { WorkContext } from '../execution/context.ts'
import type { Secrets } from '../operations/secrets.ts'
import { violatedConstraint } from '../storage/database/failure.ts'
import type { DoorClock } from './clock.ts'
import type { BodyFault, Read } from './read.ts'

/** What the calls work on. */
export interface DoorState {
  readonly work: WorkContext
  /** What the scripted broker can be made to do. */
  readonly controls: PaperControls
  readonly clock: DoorClock
  readonly secrets: Secrets
  /** Environment of the access keys that are given out. */
  readonly keyEnvironment: string
  /** Works until nothing moves; answers how many rows moved. The caller has the door to itself. */
  drain(): Promise<number>
  /** Begins a new platform over emptied rows: nothing that a process remembers survives. */
  renew(fresh: { limits: boolean }, empty: () => Promise<void>): Promise<void>
}

export interface DoorReply {
  readonly status: 200 | 400 | 503
  /** JSON text. */
  readonly body: string
}

export interface DoorCall {
  readonly method: 'GET' | 'POST'
  readonly path: string
  handle(door: DoorState, raw: unknown): Promise<DoorReply>
}

/** A body that was read and still cannot be served. Thrown, so that nothing of the call is committed. */
export class Unserved extends Error {
  readonly path: string
  constructor(path: string, message: string) {
    super(message)
    this.path = path
  }
}

const ok = (answer: unknown): DoorReply => ({ status: 200, body: JSON.stringify(answer ?? {}) })
const wrong = (faults: readonly BodyFault[]): DoorReply => ({
  status: 400,
  body: faultEnvelope(400, faults.slice(0, 20).map(asFault)),
})
const asFault = ({ path, message }: BodyFault): Fault => faultOf('InvalidParameter', path, message)

/** What the rows forbid, as the member that the caller would change. Which one of a list it was they do not say. */
const forbidden: Readonly<Record<string, BodyFault>> = {
  person_email: { path: 'email', message: 'Somebody has it already' },
  site_code_key: { path: 'name', message: 'Another site has it already' },
  site_domain_key: { path: 'domain', message: 'Another site has it already' },
  account_broker_id_account_key: { path: 'account', message: 'The broker has it already' },
}

/** A call with a body. What `run` answers is sent; nothing answered is `{}`. */
export const post = <Body>(
  path: string,
  read: Read<Body>,
  run: (door: DoorState, body: Body) => Promise<unknown>,
): DoorCall => ({
  method: 'POST',
  path,
  handle: async (door, raw) => {
    const faults: BodyFault[] = []
    const body = read(raw, '', faults)
    if (faults.length > 0) return wrong(faults)
    try {
      return ok(await run(door, body))
    } catch (error) {
      if (error instanceof Unserved) return wrong([{ path: error.path, message: error.message }])
      const constraint = violatedConstraint(error)
      if (constraint === undefined) throw error
      return wrong([
        forbidden[constraint] ?? { path: '', message: `The rows do not allow it (${constraint})` },
      ])
    }
  },
})

/** A call that reads: it has no body, and answers 200 with what `run` returns. */
export const get = (path: string, run: (door: DoorState) => Promise<unknown>): DoorCall => ({
  method: 'GET',
  path,
  handle: async (door) => ok(await run(door)),
})
