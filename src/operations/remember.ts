/**
 * One effect and one answer per idempotency key: the same request again is answered with the stored text, byte
 * by byte; another request under a used key is refused. Works on batches: equal keys inside one batch are
 * answered alike without acting twice.
 */
import { textOf } from '../contract/index.ts'
import { seal, unseal } from '../storage/database/sealing.ts'
import type { Transaction } from '../storage/database/sql.ts'
import {
  claimKeys,
  type KnownAnswer,
  listAnswers,
  releaseKeys,
  storeAnswers,
} from '../storage/work/idempotency.ts'
import { refuse } from './context.ts'
import { type Reply, replyTo } from './reply.ts'
import type { Secrets } from './secrets.ts'

/** What identifies a request that may be repeated. */
export interface Repeatable {
  readonly operation: string
  readonly caller: { readonly accessKeyId: number }
  readonly idempotencyKey?: string | undefined
  readonly fingerprint?: Uint8Array
}

/** Who acts, who has a reply already, and who gets the answer of an acting twin. */
export interface Turns<Call> {
  readonly acting: ReadonlySet<Call>
  readonly answered: ReadonlyMap<Call, Reply>
  readonly twins: ReadonlyMap<Call, Call>
}

interface Keyed<Call> {
  call: Call
  accessKeyId: number
  idempotencyKey: string
  operation: string
  fingerprint: Uint8Array
}

type RowKey = Pick<Keyed<unknown>, 'accessKeyId' | 'idempotencyKey'>
type Vault = Pick<Secrets, 'personalData'>

/** Operations whose answers hold what else is kept as a hash alone. */
const tellsSecrets: ReadonlySet<string> = new Set(['AddProfile'])
const sealedMark = 'sealed:'

/** An answer as it is kept: nothing in the database opens anything. */
function kept({ personalData }: Vault, key: Keyed<unknown>, text: string): string {
  if (!tellsSecrets.has(key.operation)) return text
  return `${sealedMark}${seal(personalData, Buffer.from(text), placeOf(key)).toString('base64')}`
}

function opened({ personalData }: Vault, key: RowKey, text: string): string {
  if (!text.startsWith(sealedMark)) return text
  return unseal(personalData, Buffer.from(text.slice(sealedMark.length), 'base64'), placeOf(key)).toString()
}

const placeOf = (key: RowKey): string => `answer to ${nameOf(key)}`
const nameOf = (key: RowKey): string => `${key.accessKeyId} ${key.idempotencyKey}`

const reused: Reply = replyTo(refuse('IdempotencyKeyReused', 'Idempotency-Key'))
const inProgress: Reply = replyTo(refuse('IdempotencyInProgress', 'Idempotency-Key'))

const isSame = (one: Keyed<unknown>, other: Pick<KnownAnswer, 'operation' | 'fingerprint'>): boolean =>
  one.operation === other.operation && Buffer.compare(one.fingerprint, other.fingerprint) === 0

/** Claims the keys of a batch at a business time. Waits for transactions that hold one of them. */
export async function takeTurns<Call extends Repeatable>(
  tx: Transaction,
  calls: readonly Call[],
  now: number,
  vault: Vault,
): Promise<Turns<Call>> {
  const leaders = new Map<string, Keyed<Call>>()
  const answered = new Map<Call, Reply>()
  const twins = new Map<Call, Call>()
  for (const call of calls) {
    const keyed = keyedOf(call)
    if (keyed === undefined) continue
    const leader = leaders.get(nameOf(keyed))
    if (leader === undefined) leaders.set(nameOf(keyed), keyed)
    else if (isSame(keyed, leader)) twins.set(call, leader.call)
    else answered.set(call, reused)
  }
  const claims = [...leaders.values()]
  const claimed = new Set(claims.length === 0 ? [] : (await claimKeys(tx, claims, now)).map(nameOf))
  const lost = claims.filter((claim) => !claimed.has(nameOf(claim)))
  const known = lost.length === 0 ? [] : await listAnswers(tx, lost)
  const knownByName = new Map(known.map((answer) => [nameOf(answer), answer]))
  for (const claim of lost) answered.set(claim.call, replay(claim, knownByName.get(nameOf(claim)), vault))
  const isActing = (call: Call) => !answered.has(call) && !twins.has(call)
  return { acting: new Set(calls.filter(isActing)), answered, twins }
}

function keyedOf<Call extends Repeatable>(call: Call): Keyed<Call> | undefined {
  const { idempotencyKey, fingerprint, operation } = call
  if (idempotencyKey === undefined || fingerprint === undefined) return undefined
  return { call, accessKeyId: call.caller.accessKeyId, idempotencyKey, operation, fingerprint }
}

function replay(claim: Keyed<unknown>, known: KnownAnswer | undefined, vault: Vault): Reply {
  if (known === undefined || known.status === null || known.answer === null) return inProgress
  if (!isSame(claim, known)) return reused
  return asReplayed({
    status: known.status,
    body: opened(vault, claim, known.answer),
    headers: known.headers ?? undefined,
  })
}

/** Faults of ours and of the moment are not remembered: the same request is to be tried anew. */
const isLasting = ({ status }: Reply): boolean => status < 500 && status !== 429

/** A reply for one who asks again, or at the same time, what somebody acts on: he sees that he caused nothing. */
export function asReplayed(reply: Reply): Reply {
  if (!isLasting(reply)) return reply
  return { ...reply, headers: { ...reply.headers, 'Idempotent-Replayed': 'true' } }
}

/** Stores the answers of those that acted, in the transaction of their effects. */
export async function remember<Call extends Repeatable>(
  tx: Transaction,
  answers: ReadonlyMap<Call, Reply>,
  vault: Vault,
): Promise<void> {
  const keyed = [...answers].flatMap(([call, answer]) => {
    const key = keyedOf(call)
    return key === undefined ? [] : [{ answer, ...key }]
  })
  const lasting = keyed.filter(({ answer }) => isLasting(answer))
  const passing = keyed.filter(({ answer }) => !isLasting(answer))
  const stored = lasting.map(({ answer, ...key }) => ({
    status: answer.status,
    answer: kept(vault, key, textOf(answer.body)),
    headers: answer.headers ?? null,
    ...key,
  }))
  await Promise.all([
    passing.length > 0 && releaseKeys(tx, passing),
    stored.length > 0 && storeAnswers(tx, stored),
  ])
}
