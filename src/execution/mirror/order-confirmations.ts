/** Orders whose holders want to be asked first: they wait unsent, and end when nobody says yes in time. */
import { type Instant, minute } from '../../domain/time.ts'
import {
  endUnconfirmed,
  findNextOverdue,
  isConfirmationOverdue,
} from '../../storage/mirror/order-confirmations.ts'
import type { SendRow } from '../../storage/mirror/sending.ts'
import type { Step } from '../context.ts'

const patience = 10 * minute

/** Until when the holder of an order that is asked for now may confirm it. */
export const confirmByOf = (now: Instant): Instant => now + patience

/**
 * Whether the holder must be asked before the order goes out: it is the platform's plan and no wish of his own, and
 * he has not been asked yet. What a confirmed order is changed to follows from it.
 */
export const needsConfirmation = (row: SendRow): boolean =>
  row.isConfirmationNeeded &&
  row.pendingAction === 'new' &&
  (row.source === 'S' || row.source === 'Y') &&
  row.confirmBy === null &&
  row.attempts === 0

export const confirmationStep: Step = {
  name: 'endUnconfirmed',
  due: isConfirmationOverdue,
  moments: [findNextOverdue],
  run: ({ db, clock }) => db.transaction((tx) => endUnconfirmed(tx, clock.now())),
}
