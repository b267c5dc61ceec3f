import fc from 'fast-check'
import { expect, test } from 'vitest'
import { dec } from '../decimal.ts'
import { type BookOrder, newBookOrder } from './order-book.ts'
import { relativesOf } from './order-relatives.ts'
import { withEntry } from './overlay-map.ts'

const name = fc.option(fc.integer({ min: 0, max: 40 }).map(String), { nil: null })
const order = fc.record({
  id: fc.integer({ min: 0, max: 150 }).map(String),
  parent: name,
  ocaGroup: name,
  replaces: name,
})

test('finds what a search through all orders finds, in books of any size and after any change', () => {
  fc.assert(
    fc.property(fc.array(order, { minLength: 1, maxLength: 300, size: 'max' }), (made) => {
      let orders: ReadonlyMap<string, BookOrder> = new Map()
      for (const { id, parent, ocaGroup, replaces } of made) {
        const fields = {
          id,
          side: '1',
          type: '1',
          positionEffect: 'O',
          acceptedAt: 0,
          parent,
          ocaGroup,
        } as const
        const one = newBookOrder(dec(1), { ...fields, ...(replaces !== null && { replaces }) })
        orders = withEntry(orders, id, one)
      }
      for (let id = 0; id <= 40; id++) {
        const searched = [...orders.values()].filter(({ parent, ocaGroup, replaces }) =>
          [parent, ocaGroup, replaces].includes(String(id)),
        )
        const found = relativesOf(orders, String(id))
        expect(new Set(found.map((one) => one.id))).toEqual(new Set(searched.map((one) => one.id)))
        expect(found.length).toBe(searched.length)
      }
    }),
  )
})
