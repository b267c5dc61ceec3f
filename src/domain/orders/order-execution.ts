/**
 * Executions arrive at least once and in any order; their ids alone say which are new. The caller looks the id
 * up (a unique key in the database, a map in memory) and stores the execution that comes back.
 * Invariant: an id stays known for ever, also when its execution was canceled, so no fill is booked twice.
 */
import { type Decimal, zero } from '../decimal.ts'
import { applyToChain, type ChainApplied, type ChainOrder } from './order-chain.ts'

export interface Execution<Id> {
  readonly execId: string
  readonly orderId: Id
  readonly quantity: Decimal
  readonly price: Decimal
  readonly busted: boolean
}

export type ExecutionReport<Id> =
  | {
      readonly event: 'FILL'
      readonly execId: string
      readonly orderId: Id
      readonly quantity: Decimal
      readonly price: Decimal
    }
  /** `live`: the venue still works the order. Only a filled order asks it; for any other status it is true. */
  | { readonly event: 'BUST'; readonly execId: string; readonly live: boolean }

export interface ExecutionApplied<Id> extends ChainApplied<Id> {
  /** What to remember under its id; absent when nothing changed. */
  readonly execution?: Execution<Id>
}

/**
 * Books a fill or cancels one. `known` is the execution already stored under the report's id. A fill with a
 * known id is a duplicate; ignored are a fill of nothing and a bust of what is unknown or already canceled.
 * A bust is booked on the order that had the fill, whichever order of the chain the venue names.
 */
export function applyExecution<Id>(
  chain: readonly ChainOrder<Id>[],
  known: Execution<Id> | undefined,
  report: ExecutionReport<Id>,
): ExecutionApplied<Id> {
  if (report.event === 'FILL') {
    if (known) return { outcome: 'duplicate', chain }
    if (report.quantity.lessThanOrEqualTo(zero)) return { outcome: 'ignored', chain }
    const { event, ...fill } = report
    return { execution: { busted: false, ...fill }, ...applyToChain(chain, fill.orderId, { event, ...fill }) }
  }
  if (!known || known.busted) return { outcome: 'ignored', chain }
  const { orderId, quantity, price } = known
  const applied = applyToChain(chain, orderId, { event: 'BUST', quantity, price, live: report.live })
  return applied.outcome === 'ignored' ? applied : { execution: { ...known, busted: true }, ...applied }
}
