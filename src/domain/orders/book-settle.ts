/**
 * Draws the consequences of what ended in an operation until nothing more ends: for the exits of an entry, the
 * group of an exit, the children of a parent. Families are finite and ended orders stay ended, so it ends.
 */
import { type BookChange, closeChange, orderIn } from './book-change.ts'
import { followEntryEnd } from './bracket.ts'
import { followParentEnd } from './conditional.ts'
import { followMemberEnd } from './oca.ts'
import type { BookOutcome, BookResult } from './order-book.ts'

/** Finishes the operation. */
export function settle(change: BookChange, outcome: BookOutcome): BookResult {
  // Orders that end meanwhile are appended, and reached by the same loop.
  for (const end of change.ended) {
    const order = orderIn(change, end.orderId)
    followEntryEnd(change, order)
    followMemberEnd(change, order, end)
    followParentEnd(change, order, end.isComplete)
  }
  return closeChange(change, outcome)
}
