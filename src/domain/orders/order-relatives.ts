/**
 * Who belongs to whom in an order book, found without looking at every order: the children and exits of an order,
 * what replaced it, the members of a group.
 * Invariant: what is found is what a search through all orders would find.
 */
import type { BookOrder } from './order-book.ts'
import { fewEntries, layersOf } from './overlay-map.ts'

type Orders = ReadonlyMap<string, BookOrder>

/** By the id of a parent, a replaced order or a group: the orders that name it. Books share their older layers. */
const indexes = new WeakMap<Orders, ReadonlyMap<string, readonly string[]>>()

/** The orders that name `id` as their parent, as what they replace or as their group, as they came. */
export function relativesOf(orders: Orders, id: string): BookOrder[] {
  const names = ({ parent, replaces, ocaGroup }: BookOrder): boolean =>
    parent === id || replaces === id || ocaGroup === id
  if (orders.size < fewEntries) return [...orders.values()].filter(names)
  const { base, changes } = layersOf(orders)
  const found = new Set(indexOf(base).get(id))
  for (const order of changes.values()) if (names(order)) found.add(order.id)
  return [...found].flatMap((one) => orders.get(one) ?? []).filter(names)
}

const namesOf = ({ parent, replaces, ocaGroup }: BookOrder): (string | null | undefined)[] => [
  parent,
  replaces,
  ocaGroup,
]

function indexOf(orders: Orders): ReadonlyMap<string, readonly string[]> {
  const known = indexes.get(orders)
  if (known) return known
  const index = new Map<string, string[]>()
  for (const order of orders.values()) {
    for (const name of namesOf(order)) {
      if (name === null || name === undefined) continue
      const list = index.get(name)
      if (list) list.push(order.id)
      else index.set(name, [order.id])
    }
  }
  indexes.set(orders, index)
  return index
}
