/**
 * The order state machine: one table of (status, event), one function that reads it. Pure, and the same for
 * strategy orders and for orders at brokers.
 * Invariants: nothing moves a terminal order but a fill or the cancellation of an execution; every execution
 * is booked, an overfill too; a cell without a transition changes nothing.
 * When an order is in several states at once the highest FIX precedence shows: pending cancel, pending replace,
 * filled, canceled or expired, partially filled, new.
 */
import type { OrdStatus } from '../codes.ts'
import { Decimal, dec, zero } from '../decimal.ts'
import {
  baseStatus,
  isComplete,
  type OrderEvent,
  type OrderState,
  type Outcome,
  remainingQuantity,
} from './order-state.ts'

/** `b` is what the filled quantity says by itself: 2, 1, 0 or A. */
type Code = OrdStatus | 'b'
/** `~` ignored, `!` refused, `?` anomaly, `+` overfill, `^` late fill. */
type Mark = '' | '~' | '!' | '?' | '+' | '^'
/** New status and mark, then the status of the pending replacement; `-` cannot occur and is ignored. */
type Cell = '-' | `${Code}${Mark}` | `${Code}${Mark}/${Code}`
// biome-ignore format: one column each
type Row = readonly [Cell, Cell, Cell, Cell, Cell, Cell, Cell, Cell, Cell, Cell, Cell, Cell, Cell, Cell, Cell]

// biome-ignore format: the order of the columns below
const columns = {
  ACK: 0, REJECT: 1, FILL_PART: 2, FILL_REST: 3, FILL_OVER: 4, CANCEL_REQUEST: 5, CANCEL_ACK: 6,
  CANCEL_REJECT: 7, REPLACE_REQUEST: 8, REPLACE_ACK: 9, REPLACE_REJECT: 10, EXPIRE: 11,
  UNSOLICITED_CANCEL: 12, BUST_LIVE: 13, BUST_DEAD: 14,
} as const

// biome-ignore format: reads as a table
const transitions = {
  //                           FILL              CANCEL               REPLACE                   UNSOL. BUST
  //             ACK   REJECT  part  rest  over  REQ   ACK    REJ   REQ    ACK    REJ   EXPIRE CANCEL live dead
  'A held':     ['0',  '8',    '1?', '2?', '2?', '4',  '-',   '-',  '5/A', '-',   '-',   'C',   '4',   '-', '-'],
  // What an order carries on from one that ended counts as filled.
  'A':          ['b',  '8',    '1',  '2',  '2+', '6',  '4',   'A~', 'A!',  'A~',  'A~',  'C',   '4',   '-', '-'],
  '0':          ['0~', '8',    '1',  '2',  '2+', '6',  '4',   '0~', 'E/A', '0~',  '0~',  'C',   '4',   '-', '-'],
  // What a venue calls rejected after a fill is canceled.
  '1':          ['1~', '4?',   '1',  '2',  '2+', '6',  '4',   '1~', 'E/A', '1~',  '1~',  'C',   '4',   'b', '-'],
  '2':          ['2~', '2~',   '-',  '-',  '2+', '2!', '2~',  '2~', '2!',  '2~',  '2~',  '2~',  '2~',  'b', '4'],
  // Canceling twice succeeds, as the wish is fulfilled; any other request on a finished order is refused.
  '4':          ['4~', '4~',   '4^', '2^', '2^', '4~', '4~',  '4~', '4!',  '4~',  '4~',  '4~',  '4~',  '4', '-'],
  // Fills of a replaced order count for the last order of its chain as well (order-chain.ts).
  '5':          ['5~', '5~',   '5^', '5^', '5^', '5!', '5~',  '5~', '5!',  '5~',  '5~',  '5~',  '5~',  '5', '-'],
  '6 none':     ['6',  '8',    '6',  '6',  '6+', '6~', '4',   'b',  '6!',  '6~',  '6~',  'C',   '4',   '-', '-'],
  '6 part':     ['6',  '4?',   '6',  '6',  '6+', '6~', '4',   'b',  '6!',  '6~',  '6~',  'C',   '4',   '6', '-'],
  // Completed before the venue saw the cancel: its answer, whatever it is, shows the order filled.
  '6 all':      ['6',  '2?',   '-',  '-',  '6+', '6~', '2',   'b',  '6!',  '6~',  '6~',  '2',   '2',   '6', '-'],
  // A cancel during a replace: if the venue confirms the replace first, the wish moves to the replacement.
  '6 none, E':  ['6',  '8/8',  '6',  '6',  '6+', '6~', '4/4', 'E',  '6!',  '5/6', '6/8', 'C/4', '4/4', '-', '-'],
  '6 part, E':  ['6',  '4?/4', '6',  '6',  '6+', '6~', '4/4', 'E',  '6!',  '5/6', '6/8', 'C/4', '4/4', '6', '-'],
  '6 all, E':   ['6',  '2?/4', '-',  '-',  '6+', '6~', '2/4', 'E',  '6!',  '5/6', '6/8', '2/4', '2/4', '6', '-'],
  '8':          ['8~', '8~',   '1?', '2?', '2?', '8!', '8~',  '8~', '8!',  '8~',  '8~',  '8~',  '8~',  '-', '-'],
  'C':          ['C~', 'C~',   'C^', '2^', '2^', 'C!', 'C~',  'C~', 'C!',  'C~',  'C~',  'C~',  'C~',  'C', '-'],
  'E none':     ['E',  '8/8',  'E',  'E',  'E+', '6/A','4/4', 'E~', 'E!',  '5/b', 'b/8', 'C/4', '4/4', '-', '-'],
  'E part':     ['E',  '4?/4', 'E',  'E',  'E+', '6/A','4/4', 'E~', 'E!',  '5/b', 'b/8', 'C/4', '4/4', 'E', '-'],
  'E all':      ['E',  '2?/4', '-',  '-',  'E+', '6/A','2/4', 'E~', 'E!',  '5/b', 'b/8', '2/4', '2/4', 'E', '-'],
} as const satisfies Record<string, Row>

const outcomes: Record<Mark, Outcome> = {
  '': 'applied',
  '~': 'ignored',
  '!': 'refused',
  '?': 'anomaly',
  '+': 'overfill',
  '^': 'lateFill',
}

export interface Applied {
  readonly order: OrderState
  readonly outcome: Outcome
  /** The replacement after the event: created by it, or the pending one that was passed in. */
  readonly replacement?: OrderState
}

/**
 * Applies one event to one order. `replacement` is the order's pending replacement, if it has one; it is
 * answered, and takes part in the fills, together with the order. Which executions are new is decided before
 * (order-execution.ts). Nothing that is passed in changes; without effect the same objects come back.
 */
export function applyEvent(order: OrderState, event: OrderEvent, replacement?: OrderState): Applied {
  const cell: Cell = transitions[rowOf(order, replacement)][columns[columnOf(order, event)]]
  const unchanged = replacement ? { order, replacement } : { order }
  if (cell === '-') return { outcome: 'ignored', ...unchanged }
  const [own, answer] = cell.split('/') as [string, Code?]
  const outcome = outcomes[own.slice(1) as Mark]
  if (outcome === 'ignored' || outcome === 'refused') return { outcome, ...unchanged }

  const booked = { ...book(order, event), acknowledged: isAcknowledgedBy(order, event) }
  const status = statusAfter(own.slice(0, 1) as Code, booked)
  const next: OrderState = { ...booked, status, held: order.held && status === 'A' }
  const pending = event.event === 'REPLACE_REQUEST' ? replacementOf(order, event.quantity) : replacement
  return pending
    ? { order: next, outcome, replacement: answered(book(pending, event), answer) }
    : { order: next, outcome }
}

/** The row of the table: status and, where it decides, how much is filled and whether a replace is pending. */
function rowOf(order: OrderState, replacement: OrderState | undefined): keyof typeof transitions {
  const { status } = order
  if (status === 'A') return order.held ? 'A held' : 'A'
  if (status !== '6' && status !== 'E') return status
  const filled = order.filledQuantity.isZero() ? 'none' : isComplete(order) ? 'all' : 'part'
  return status === '6' && replacement ? `6 ${filled}, E` : `${status} ${filled}`
}

function columnOf(order: OrderState, event: OrderEvent): keyof typeof columns {
  if (event.event === 'BUST') return event.live ? 'BUST_LIVE' : 'BUST_DEAD'
  // A venue that does not know the order has nothing left to cancel: as good as confirmed.
  if (event.event === 'CANCEL_REJECT' && event.unknownOrder) return 'CANCEL_ACK'
  if (event.event !== 'FILL') return event.event
  const beyond = event.quantity.comparedTo(remainingQuantity(order))
  return beyond < 0 ? 'FILL_PART' : beyond === 0 ? 'FILL_REST' : 'FILL_OVER'
}

/** What the rounding of a split, of an order as a whole and of each of its executions, may leave: a few last places. */
const dust = dec('0.0000001')

/** Quantities after the event: the sums without rounding, so a bust takes out exactly what the fill brought. */
function book(order: OrderState, event: OrderEvent): OrderState {
  if (event.event !== 'FILL' && event.event !== 'BUST') return order
  const quantity = event.event === 'FILL' ? event.quantity : event.quantity.negated()
  const filledQuantity = order.filledQuantity.plus(quantity)
  if (event.event === 'BUST' && filledQuantity.abs().lessThan(dust))
    return { ...order, filledQuantity: zero, filledValue: zero }
  return { ...order, filledQuantity, filledValue: order.filledValue.plus(quantity.times(event.price)) }
}

/** A fill is as good as an acknowledgement. */
const isAcknowledgedBy = (order: OrderState, event: OrderEvent): boolean =>
  order.acknowledged || event.event === 'ACK' || event.event === 'FILL'

/** Filled outranks canceled: an order that is complete all the same, say after the bust of an overfill, is 2. */
function statusAfter(code: Code, order: OrderState): OrdStatus {
  if (code === 'b') return baseStatus(order)
  return (code === '4' || code === 'C') && isComplete(order) ? '2' : code
}

/** The replacement at the moment of the request: the requested total, and what the chain has filled so far. */
const replacementOf = (order: OrderState, quantity: Decimal): OrderState => ({
  ...order,
  status: 'A',
  orderQuantity: quantity,
  acknowledged: false,
})

/** The replacement after the order's event; without an answer it keeps waiting. */
function answered(replacement: OrderState, answer: Code | undefined): OrderState {
  if (answer === undefined || answer === 'A') return replacement
  // Never live: what traded meanwhile belongs to the order it should have replaced.
  if (answer === '4' || answer === '8')
    return { ...replacement, status: answer, filledQuantity: zero, filledValue: zero }
  // Confirmed: a total below what is filled is amended to what is filled.
  const orderQuantity = Decimal.max(replacement.orderQuantity, replacement.filledQuantity)
  const confirmed = { ...replacement, orderQuantity, acknowledged: true }
  return { ...confirmed, status: answer === 'b' ? baseStatus(confirmed) : answer }
}
