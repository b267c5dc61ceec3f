/**
 * The answer to an owner who wants to cancel or replace an order, known before anything is done.
 * Nothing is decided here a second time: a request is accepted exactly when the order's table does not refuse it,
 * so repeating a cancel succeeds and changes nothing.
 */
import { isLive, type OrdStatus } from '../codes.ts'
import { applyToChain, type ChainOrder } from './order-chain.ts'

/** Finished; sent but not yet acknowledged; an earlier request is still open (FIX CxlRejReason 3). */
export type RequestRefusal = 'finished' | 'notAcknowledged' | 'requestPending'

export type RequestAnswer =
  | { readonly accepted: true; readonly changed: boolean; readonly status: OrdStatus }
  | { readonly accepted: false; readonly refusal: RequestRefusal }

/**
 * What a cancel or replace of the order `id` answers. `status` is the order's own status right after the request,
 * before a venue confirms it. Throws when the chain has no such order.
 */
export function answerRequest<Id>(
  chain: readonly ChainOrder<Id>[],
  id: Id,
  request: 'cancel' | 'replace',
): RequestAnswer {
  const order = chain.find((candidate) => candidate.id === id)
  if (!order) throw new RangeError(`no order ${String(id)} in the chain`)
  const { outcome, chain: next } = applyToChain(
    chain,
    id,
    request === 'cancel'
      ? { event: 'CANCEL_REQUEST' }
      : // Only the answer counts: the request is tried with the order itself.
        { event: 'REPLACE_REQUEST', quantity: order.orderQuantity, newId: id },
  )
  if (outcome === 'refused') return { accepted: false, refusal: refusalOf(order.status) }
  const status = next.find((candidate) => candidate.id === id)?.status ?? order.status
  return { accepted: true, changed: outcome === 'applied', status }
}

function refusalOf(status: OrdStatus): RequestRefusal {
  if (!isLive(status)) return 'finished'
  return status === 'A' ? 'notAcknowledged' : 'requestPending'
}
