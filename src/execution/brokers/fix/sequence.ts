/**
 * The order of what arrives. A number is taken once and only when everything before it was; what is missing is
 * asked for again, what is known is passed over. Pure: the counter is a value, who keeps it decides when.
 */

/** What the order of a message depends on. */
export interface Numbered {
  readonly type: string
  readonly seqNum: number
  readonly isPossDup: boolean
  /** SequenceReset-GapFill rather than SequenceReset-Reset. */
  readonly isGapFill: boolean
  readonly newSeqNo: number | null
  /** Logon with ResetSeqNumFlag. */
  readonly isReset: boolean
}

/**
 * take: the next one, and `next` is the number after it. ignore: known already. gap: numbers before it are
 * missing; a session message among them is heeded all the same (`isHeeded`) and does not count. restart: the
 * counterparty begins anew. lost: it says that numbers will never be sent. broken: a number that was used before
 * comes as a new one; the session cannot go on.
 */
export type Place =
  | { readonly place: 'take' | 'restart' | 'lost'; readonly next: number }
  | { readonly place: 'gap'; readonly isHeeded: boolean }
  | { readonly place: 'ignore' | 'broken' }

/** Logon, Logout and ResendRequest are answered before a gap is closed, or both sides would wait for ever. */
const heeded = ['A', '5', '2']

/** Places a message when `expected` is the next number to take. */
export function placeOf(expected: number, message: Numbered): Place {
  const { type, seqNum, isPossDup, newSeqNo } = message
  if (type === 'A' && message.isReset) return { place: 'restart', next: seqNum + 1 }
  if (type === '4' && !message.isGapFill) {
    if (newSeqNo === null || newSeqNo < expected) return { place: 'broken' }
    return newSeqNo === expected ? { place: 'ignore' } : { place: 'lost', next: newSeqNo }
  }
  if (seqNum > expected) return { place: 'gap', isHeeded: heeded.includes(type) }
  if (seqNum < expected) return { place: isPossDup ? 'ignore' : 'broken' }
  if (type !== '4') return { place: 'take', next: seqNum + 1 }
  return newSeqNo === null || newSeqNo <= seqNum ? { place: 'broken' } : { place: 'take', next: newSeqNo }
}
