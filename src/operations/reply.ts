/** What leaves the operations: a status, a body, headers of this answer. */
import { type Body, type CompiledRow, type Refusal, refusalAnswer } from '../contract/index.ts'
import { isRefused, type Outcome, type Refused } from './context.ts'
import { inTurns, rowsAtOnce } from './turns.ts'

export interface Reply {
  readonly status: number
  /** Empty with 304. */
  readonly body: Body
  readonly headers?: Readonly<Record<string, string>> | undefined
}

/** A reply in one piece. */
export interface TextReply extends Reply {
  readonly body: string
}

/** Seconds after which a request that was refused for a reason of ours may be tried again. */
const retrySeconds: Partial<Record<Refusal, number>> = {
  Disconnected: 1,
  Overloaded: 1,
  Maintenance: 60,
  NotOfferedYet: 86_400,
  OperationUnavailable: 86_400,
}

/** A refusal as a reply. */
export function replyTo({ refused, field, message }: Refused): TextReply {
  const seconds = retrySeconds[refused]
  const reply = refusalAnswer(refused, field, message)
  return seconds === undefined ? reply : { headers: { 'Retry-After': String(seconds) }, ...reply }
}

/** A handler's outcome as a reply in the words of the caller's host. */
export function replyWith(outcome: Outcome<unknown>, compiled: CompiledRow): Reply {
  if (isRefused(outcome)) return replyTo(outcome)
  const { headers } = outcome
  if ('notModified' in outcome) return { status: 304, body: '', headers }
  return { status: 200, body: compiled.writeAnswer(outcome), headers }
}

/** The same for a read, whose list may be long: then it is waited for. */
export function replyInTurns(outcome: Outcome<unknown>, compiled: CompiledRow): Reply | Promise<Reply> {
  const isLong = 'results' in outcome && outcome.results.length > rowsAtOnce
  if (!isLong) return replyWith(outcome, compiled)
  const reply = longReply(outcome, compiled)
  // Another of its batch may fail at once: then nobody waits for this one, and its failure would end the process.
  reply.catch(() => undefined)
  return reply
}

type LongOutcome = Extract<Outcome<unknown>, { results: unknown }>

async function longReply({ results, links, headers }: LongOutcome, compiled: CompiledRow): Promise<Reply> {
  const items = await inTurns(results, compiled.writeItems)
  return { status: 200, body: compiled.wrapItems(items, links), headers }
}
