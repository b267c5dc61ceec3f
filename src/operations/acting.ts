/**
 * Who acts, for the audit log. Rows that an operation changes are entered by the database in the caller's name.
 * Orders are too many for that and have rows of events that never change: what was asked for and by whom is
 * entered once per key and transaction, however many orders it holds.
 */
import type { OperationName } from '../contract/index.ts'
import type { Acting, AuditNote } from '../storage/database/audit-log.ts'
import { type Caller, isRefused, type Outcome } from './context.ts'

interface Acted {
  readonly operation: OperationName
  readonly caller: Caller
  readonly requestId: string
}

/** The caller of an operation as the log names him. */
export const actingOf = ({ operation, caller, requestId }: Acted, at: number) =>
  ({
    ...actorOf(caller),
    chain: caller.siteId,
    keyId: caller.keyId,
    operation,
    requestId,
    at,
  }) as const satisfies Acting

/** Who asks in another's name is told of beside that name: what he did is not the other's deed. */
function actorOf({ personId, operator }: Caller): Pick<Acting, 'actor' | 'who'> {
  if (operator === undefined) return { actor: 'person', who: String(personId) }
  return { actor: 'operator', who: personId === 0 ? operator : `${operator} as person ${personId}` }
}

/** Operations that move orders and books, and few or no rows of settings. */
const ordering: ReadonlySet<OperationName> = new Set([
  'NewStrategyOrder',
  'CancelStrategyOrder',
  'ReplaceStrategyOrder',
  'SetDesiredPositions',
  'NewAutotradeOrder',
  'CancelAutotradeOrder',
  'ReplaceAutotradeOrder',
  'ResetPaperTrade',
])

/** A call with what it asked for. */
export interface ActedCall extends Acted {
  readonly params: unknown
}

/**
 * What is entered of orders that were accepted: for each key the requests as understood, with their answers, a line each.
 * A tree of members costs the database four times as much to take in as a text, more than the order's own event.
 */
export function orderNotes(
  calls: readonly ActedCall[],
  outcomes: readonly Outcome<unknown>[],
  at: number,
): AuditNote[] {
  const byKey = new Map<string, { first: ActedCall; after: string[] }>()
  calls.forEach((call, place) => {
    const outcome = outcomes[place] as Outcome<unknown>
    if (!ordering.has(call.operation) || isRefused(outcome)) return
    const { keyId } = call.caller
    const entered = byKey.get(keyId) ?? { first: call, after: [] }
    byKey.set(keyId, entered)
    const answered = 'results' in outcome ? outcome.results.map((result) => flat('', result)).join(' ') : ''
    entered.after.push(`${call.requestId} ${flat('', call.params)}: ${answered}`)
  })
  return [...byKey.values()].map(({ first, after }) => ({ object: 'order', after, ...actingOf(first, at) }))
}

/** A value as one line: the names that lead to each of its parts, and the part. */
function flat(name: string, value: unknown): string {
  if (typeof value !== 'object' || value === null) return `${name}=${plain(value)}`
  if (Array.isArray(value))
    return value.length === 0 ? `${name}=[]` : value.map((item, at) => flat(`${name}[${at}]`, item)).join(' ')
  let line = ''
  for (const member in value) {
    const item = (value as Record<string, unknown>)[member]
    if (item !== undefined) line += `${line && ' '}${flat(name === '' ? member : `${name}.${member}`, item)}`
  }
  return line
}

const word = /^[\w./@-]+$/

const plain = (value: unknown): string =>
  typeof value === 'string' && !word.test(value) ? JSON.stringify(value) : String(value)
