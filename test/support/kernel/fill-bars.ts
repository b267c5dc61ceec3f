/** Bars and orders with their family ties, run through the bar simulation around one position. */
import type { PositionEffect } from '../../../src/domain/codes.ts'
import { type Decimal, dec } from '../../../src/domain/decimal.ts'
import { fillAgainstBar } from '../../../src/domain/orders/fill-bars.ts'
import { type BookOrder, newBookOrder } from '../../../src/domain/orders/order-book.ts'
import { decideOpenClose } from '../../../src/domain/positions/open-close.ts'
import type { Instant } from '../../../src/domain/time.ts'
import { openCloseOf } from './codes.ts'
import { type ConfigInput, configOf, idOf, type OrderInput, workingOrderOf } from './fill-quotes.ts'
import { momentOf, type Num, optional, print, type Time } from './numbers.ts'
import { type SimulatedBook, simulatedBook, simulatedPort } from './simulated-book.ts'

interface BarOrderInput extends OrderInput {
  parent?: string | number | null
  bracket?: boolean | null
  oca?: string | number | null
}

interface BarInput {
  t: Time
  o: Num
  h: Num
  l: Num
  c?: Num
  v?: Num | null
  session?: boolean | null
}

interface Input {
  orders?: BarOrderInput[]
  bars?: BarInput[]
  config?: ConfigInput | null
  position?: Num | null
}

export function fillBars({ orders = [], bars = [], config: given, position }: Input) {
  const config = configOf(given ?? {})
  const held = dec(position ?? 0)
  for (const at of orders.keys()) refuseCircle(orders, at)
  const read = orders.map((order) => bookOrderOf(order, orders, held))
  const netting = read.filter(({ nets }) => nets).map(({ order }) => order.id)
  const listed = read.map(({ order }) => order)
  let book: SimulatedBook = simulatedBook(held, [], netting)
  bars.forEach((bar, index) => {
    if (bar.session === false) return
    const start = momentOf(bar.t)
    book = { ...book, book: { ...book.book, orders: ordersAt(start, listed, book.book.orders) } }
    const shape = { start, open: dec(bar.o), high: dec(bar.h), low: dec(bar.l), volume: optional(bar.v) }
    book = fillAgainstBar({ ...book, bar: index, at: start }, simulatedPort, shape, config)
  })
  const fills = book.fills.map((fill) => ({
    orderId: idOf(orders, fill.orderId),
    qty: print(fill.quantity),
    price: print(fill.price),
    bar: fill.bar,
    phase: fill.phase,
  }))
  return { fills, position: print(book.book.position) }
}

const parentOf = (order: BarOrderInput | undefined, orders: readonly BarOrderInput[]) => {
  const parent = order?.parent ?? null
  return parent === null ? undefined : orders.find(({ id }) => String(id) === String(parent))
}

/** Orders that wait for each other would wait for ever. */
function refuseCircle(orders: readonly BarOrderInput[], at: number): void {
  let ancestor = parentOf(orders[at], orders)
  for (let steps = 0; ancestor && steps < orders.length; steps += 1) {
    if (ancestor === orders[at]) throw new Error(`orders[${at}].parent leads back to the order itself`)
    ancestor = parentOf(ancestor, orders)
  }
}

/** The book's orders with those that have come by now, in the order of the list: nothing ends before it began. */
function ordersAt(
  at: Instant,
  listed: readonly BookOrder[],
  known: ReadonlyMap<string, BookOrder>,
): Map<string, BookOrder> {
  const cameAt = ({ parent, acceptedAt }: BookOrder): Instant => {
    const before = parent === null ? undefined : listed.find(({ id }) => id === parent)
    return before ? cameAt(before) : acceptedAt
  }
  const come = listed.filter((order) => cameAt(order) <= at)
  const all = [...come.map((order) => known.get(order.id) ?? order), ...known.values()]
  return new Map(all.map((order) => [order.id, order]))
}

function bookOrderOf(
  order: BarOrderInput,
  orders: readonly BarOrderInput[],
  position: Decimal,
): { order: BookOrder; nets: boolean } {
  const { leaves, triggered: isTriggered, exitOf, ...working } = workingOrderOf(order)
  const parent = parentOf(order, orders)
  const isExit = parent !== undefined && order.bracket === true
  const positionEffect = effectIn(order, orders, position)
  const held = newBookOrder(leaves, {
    ...working,
    isTriggered,
    positionEffect: positionEffect ?? 'O',
    parent: parent ? String(order.parent) : null,
    exit: isExit ? (working.type === '3' ? 'stopLoss' : 'profitTarget') : null,
    waitsForParent: parent !== undefined && !isExit,
    ocaGroup: order.oca === null || order.oca === undefined ? null : String(order.oca),
  })
  const atWork = { status: '0', held: false, acknowledged: true } as const
  return { order: parent ? held : { ...held, ...atWork }, nets: positionEffect === null }
}

/** Open or close of an order, also of one sent without it; null where it may do both. */
function effectIn(
  order: BarOrderInput,
  orders: readonly BarOrderInput[],
  position: Decimal,
): PositionEffect | null {
  const given = openCloseOf(order.openClose)
  if (given) return given
  const parent = parentOf(order, orders)
  if (parent && order.bracket === true) return 'C'
  if (parent) {
    const isOpposite = String(parent.side) !== String(order.side)
    return isOpposite && effectIn(parent, orders, position) !== 'C' ? 'C' : 'O'
  }
  const { side, leaves } = workingOrderOf(order)
  const decision = decideOpenClose(undefined, side, leaves, position)
  return 'positionEffect' in decision && decision.positionEffect === 'C' ? 'C' : null
}
