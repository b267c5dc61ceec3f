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

interface Ordered extends Acted {
  readonly params: unknown
}

/** What is entered of orders that were accepted: for each key the requests as understood, with their answers. */
export function orderNotes(
  calls: readonly Ordered[],
  outcomes: readonly Outcome<unknown>[],
  at: number,
): AuditNote[] {
  const byKey = new Map<string, { first: Ordered; after: object[] }>()
  calls.forEach((call, place) => {
    const outcome = outcomes[place] as Outcome<unknown>
    if (!ordering.has(call.operation) || isRefused(outcome)) return
    const { keyId } = call.caller
    const entered = byKey.get(keyId) ?? { first: call, after: [] }
    byKey.set(keyId, entered)
    const answered = 'results' in outcome ? outcome.results : []
    entered.after.push({ requestId: call.requestId, asked: call.params, answered })
  })
  return [...byKey.values()].map(({ first, after }) => ({ object: 'order', after, ...actingOf(first, at) }))
}
