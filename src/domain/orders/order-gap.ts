/**
 * Where an order of ours stands elsewhere than its broker says. What the broker says wins once it has lasted, but
 * only in what cannot be taken back: a confirmation, an execution, an end. An order that the broker does not know,
 * or still works although it has ended here, is for an operator: nobody guesses.
 */
import { isLive, type OrdStatus } from '../codes.ts'
import { type Decimal, one } from '../decimal.ts'

export interface OurOrder {
  readonly status: OrdStatus
  /** Executed under the order's own client order id. */
  readonly executed: Decimal
  /** Of one that was alive at a split: the same in the units of today, and of a split of this night; otherwise null. */
  readonly restated: readonly Decimal[] | null
  readonly isReplacement: boolean
}

export interface TheirOrder {
  readonly status: OrdStatus
  readonly cumQty: Decimal
}

/** A report that never came, or what nobody can tell. */
export type OrderGap =
  | 'ack'
  | 'replace'
  | 'total'
  | 'unclear'
  | 'cancel'
  | 'expire'
  | 'reject'
  | 'absent'
  | 'stillWorking'

/** Filled without an execution that we miss: its quantity was reduced at the broker, so what is open here has ended. */
const ends: Partial<Record<OrdStatus, OrderGap>> = {
  '2': 'cancel',
  '4': 'cancel',
  C: 'expire',
  '8': 'reject',
}

/** What is missing to bring our order to where the broker's stands, in the order in which it is to be told. */
export function orderGaps(ours: OurOrder, theirs: TheirOrder | null): OrderGap[] {
  const isOurs = isLive(ours.status)
  if (theirs === null) return isOurs ? ['absent'] : []
  if (!isOurs && (theirs.status === '0' || theirs.status === '1')) return ['stillWorking']
  const gaps: OrderGap[] = []
  if (ours.status === 'A' && theirs.status !== 'A' && theirs.status !== '8')
    gaps.push(ours.isReplacement ? 'replace' : 'ack')
  const total = totalGap(ours, theirs.cumQty)
  if (total) gaps.push(total)
  // An end would have what is missing, and nobody knows how much that is, traded once more.
  if (total === 'unclear' || (total && theirs.status === '2')) return gaps
  const end = isReplacedByOthers(ours, theirs) ? 'cancel' : ends[theirs.status]
  if (isOurs && end) gaps.push(end)
  return gaps
}

/** Whether a broker's count is ours in new units: what a split cuts off may be rounded there in either direction. */
export const isSameCount = (cumQty: Decimal, restated: Decimal): boolean =>
  !restated.isZero() && cumQty.minus(restated).abs().lessThan(one)

/**
 * What a broker counts beyond our executions. Over a split it may count in units of before or after it, or both: a total
 * that is ours in any of them is complete, of any other nobody knows how much is missing.
 */
function totalGap({ executed, restated }: OurOrder, cumQty: Decimal): 'total' | 'unclear' | null {
  if (restated === null) return cumQty.greaterThan(executed) ? 'total' : null
  if (restated.some((count) => isSameCount(cumQty, count)) || cumQty.equals(executed)) return null
  return [executed, ...restated].some((count) => cumQty.greaterThan(count)) ? 'unclear' : null
}

/** Our own replacement would have made the order one that waits for it: what another one replaced has ended for us. */
const isReplacedByOthers = (ours: OurOrder, theirs: TheirOrder): boolean =>
  theirs.status === '5' && (ours.status === '0' || ours.status === '1')

/** What differs, and what the broker said of the order, as it is kept. */
export interface ToldGap {
  readonly gaps: readonly OrderGap[]
  /** null where the broker has no such order. */
  readonly status: string | null
  readonly cumQty: string | null
}

/** The words of a difference: as long as they are the same, it lasts. */
export const gapWords = ({ gaps, status, cumQty }: ToldGap): string => [...gaps, status, cumQty].join(' ')

/** Reads the words of a difference back. */
export function readGapWords(words: string): ToldGap {
  const told = words.split(' ')
  const [status, cumQty] = told.splice(-2)
  return { gaps: told as OrderGap[], status: status || null, cumQty: cumQty || null }
}
