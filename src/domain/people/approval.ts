/**
 * Requests for a customer's approval: one table of what may follow what. A request is open until it has one of
 * the final statuses, and stays final for ever.
 */
import { dayLength, type Instant } from '../time.ts'

export type ApprovalStatus =
  | 'PendingCustomer'
  | 'Processing'
  | 'PendingBroker'
  | 'Completed'
  | 'Failed'
  | 'Expired'
  | 'Superseded'

export type ApprovalEvent =
  /** The customer's word. */
  | 'approve'
  | 'decline'
  /** Nobody answered in time. */
  | 'expire'
  /** What the approved request needs: the broker's word, nothing more, or what cannot be had. */
  | 'deferToBroker'
  | 'complete'
  | 'fail'
  /** A newer request has taken its place. */
  | 'supersede'

const transitions: Record<ApprovalStatus, Partial<Record<ApprovalEvent, ApprovalStatus>>> = {
  PendingCustomer: { approve: 'Processing', decline: 'Failed', expire: 'Expired', supersede: 'Superseded' },
  Processing: {
    deferToBroker: 'PendingBroker',
    complete: 'Completed',
    fail: 'Failed',
    supersede: 'Superseded',
  },
  PendingBroker: { complete: 'Completed', fail: 'Failed', supersede: 'Superseded' },
  Completed: {},
  Failed: {},
  Expired: {},
  Superseded: {},
}

/** The status after an event; undefined where it cannot happen. */
export const approvalAfter = (status: ApprovalStatus, event: ApprovalEvent): ApprovalStatus | undefined =>
  transitions[status][event]

/** How long a customer may take, in milliseconds. */
export const approvalLife = 7 * dayLength

/** The status at a moment: one whose time is over has expired, whether or not that was written down. */
export const approvalAt = (
  { status, expiresAt }: { readonly status: ApprovalStatus; readonly expiresAt: Instant },
  now: Instant,
): ApprovalStatus => (now >= expiresAt ? (approvalAfter(status, 'expire') ?? status) : status)
