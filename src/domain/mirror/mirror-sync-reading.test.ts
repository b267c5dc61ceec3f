/** A strategy may work thousands of orders of one symbol: what AutoSync reads of them grows with their number, not its square. */
import { expect, test } from 'vitest'
import { inputOf } from '../../../test/support/mirror-sync-given.ts'
import { autoSync } from './mirror-sync.ts'
import { explainCopy } from './mirror-sync-copies.ts'
import { readSymbol, type SyncInput } from './mirror-sync-state.ts'

const at = (limit: number) => ({ q: 1, limit })
const copyAt = (limit: number, changed: number) => ({ leaves: 1, limit: limit + changed })

/** So many orders with their copies, each at a price of its own; `touched` counts the looks at what copies copy. */
function working(
  count: number,
  positionEffect: 'O' | 'C',
  changed = 0,
): { input: SyncInput; touched: () => number } {
  const side = positionEffect === 'O' ? '1' : '2'
  const held = positionEffect === 'O' ? 0 : count
  const ids = Array.from({ length: count }, (_, place) => place + 1)
  const { orders, ...rest } = inputOf({
    p: held,
    a: held,
    ref: 100,
    signals: ids.map((signalId) => ({ signalId, positionEffect, side, ...at(signalId) })),
    orders: ids.map((id) => ({
      clientOrderId: `c${id}`,
      signalId: id,
      positionEffect,
      side,
      ...copyAt(id, changed),
    })),
  })
  let looks = 0
  const watched = orders.map((order) =>
    Object.defineProperty({ ...order }, 'signalId', {
      get: () => {
        looks += 1
        return order.signalId
      },
    }),
  )
  return { input: { ...rest, orders: watched }, touched: () => looks }
}

for (const positionEffect of ['O', 'C'] as const) {
  test(`each copy is looked at a few times, however many there are (${positionEffect})`, () => {
    const { input, touched } = working(200, positionEffect, 1)
    const { actions } = autoSync(input)
    expect(actions.replace).toHaveLength(200)
    expect(touched()).toBeLessThan(200 * 10)
  })
}

test('what each order says of its size comes from the reading that its plan was made from', () => {
  const { input, touched } = working(200, 'O')
  autoSync(input)
  const before = touched()
  for (const { signalId, symbol } of input.signals) {
    const state = readSymbol(input, symbol, false)
    expect(explainCopy(state, state.copyOf.get(`${signalId}`)!).reason).toBeNull()
  }
  expect(touched()).toBe(before)
})
