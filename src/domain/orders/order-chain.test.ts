/**
 * Laws of order chains under random events in any order, repeated, late and contradictory. The allowed status
 * changes are written here a second time, independent of the table that causes them.
 */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isLive, type OrdStatus } from '../codes.ts'
import { dec, zero } from '../decimal.ts'
import {
  applyToChain,
  type ChainEvent,
  type ChainOrder,
  lastOfChain,
  pendingReplacement,
} from './order-chain.ts'
import {
  applyExecution,
  type Execution,
  type ExecutionApplied,
  type ExecutionReport,
} from './order-execution.ts'
import { baseStatus, newOrder, type Outcome } from './order-state.ts'

type Orders = readonly ChainOrder<string>[]
type Message =
  | { readonly to: number; readonly request: ChainEvent<string> }
  | { readonly to: number; readonly report: ExecutionReport<string> }

interface World {
  readonly chain: Orders
  readonly executions: ReadonlyMap<string, Execution<string>>
  readonly outcomes: readonly Outcome[]
}

const legal: Record<OrdStatus, string> = {
  A: '0124568C',
  '0': '12468CE',
  '1': '0246CE',
  '2': '014',
  '4': '2',
  '5': '',
  '6': '012458ACE',
  '8': '12',
  C: '2',
  E: '0124568C',
}
/** Changes that only the cancellation of an execution may cause, and those that only a fill may. */
const bustOnly = ['1>0', '2>0', '2>1', '2>4']
const fillOnly = ['4>2', 'C>2', '8>1', '8>2']

const plain = fc.constantFrom(
  'ACK',
  'REJECT',
  'CANCEL_REQUEST',
  'CANCEL_ACK',
  'REPLACE_ACK',
  'REPLACE_REJECT',
  'EXPIRE',
  'UNSOLICITED_CANCEL',
)
const quantity = fc.integer({ min: 1, max: 120 }).map((units) => dec(units))
const execId = fc.integer({ min: 1, max: 12 }).map((number) => `execution ${number}`)
const to = fc.nat({ max: 5 })
const price = fc.integer({ min: 1, max: 500 }).map((cents) => dec(cents).div(100))

const message: fc.Arbitrary<Message> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ to, request: plain.map((event) => ({ event })) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      to,
      request: fc.boolean().map((unknownOrder) => ({ event: 'CANCEL_REJECT' as const, unknownOrder })),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      to,
      request: quantity.map((total) => ({ event: 'REPLACE_REQUEST' as const, quantity: total, newId: '' })),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      to,
      report: fc.record({
        event: fc.constant('FILL' as const),
        execId,
        orderId: fc.constant(''),
        quantity,
        price,
      }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      to,
      report: fc.record({ event: fc.constant('BUST' as const), execId, live: fc.boolean() }),
    }),
  },
)
const messages = fc.array(message, { maxLength: 40 })
const starts = fc.boolean().map((held): World => {
  return { chain: [{ ...newOrder(dec(100), held), id: 'order 0' }], executions: new Map(), outcomes: [] }
})

function applied(world: World, sent: Message): ExecutionApplied<string> {
  const { chain } = world
  const { id } = chain[sent.to % chain.length] as ChainOrder<string>
  if ('report' in sent) {
    const known = world.executions.get(sent.report.execId)
    return applyExecution(
      chain,
      known,
      sent.report.event === 'FILL' ? { ...sent.report, orderId: id } : sent.report,
    )
  }
  const { request } = sent
  return applyToChain(
    chain,
    id,
    request.event === 'REPLACE_REQUEST' ? { ...request, newId: `order ${chain.length}` } : request,
  )
}

function step(world: World, sent: Message): World {
  const { outcome, chain, execution } = applied(world, sent)
  const executions = new Map(world.executions)
  if (execution) executions.set(execution.execId, execution)
  return { chain, executions, outcomes: [...world.outcomes, outcome] }
}

/** Checks a law after every step of random histories. */
function always(law: (before: World, after: World, sent: Message) => void): void {
  fc.assert(
    fc.property(starts, messages, (start, history) => {
      history.reduce((before, sent) => {
        const after = step(before, sent)
        law(before, after, sent)
        return after
      }, start)
    }),
    { numRuns: 1500 },
  )
}

const kindOf = (sent: Message): string => ('report' in sent ? sent.report.event : sent.request.event)

describe('whatever happens to a chain', () => {
  test('every status changes only as allowed', () => {
    always((before, after, sent) => {
      before.chain.forEach((order, index) => {
        const next = after.chain[index] as ChainOrder<string>
        if (next.status === order.status) return
        expect(legal[order.status]).toContain(next.status)
        const change = `${order.status}>${next.status}`
        if (bustOnly.includes(change)) expect(kindOf(sent)).toBe('BUST')
        if (fillOnly.includes(change)) expect(kindOf(sent)).toBe('FILL')
        if (change === '6>A') expect(order.acknowledged).toBe(false)
      })
    })
  })

  test('an order that is replaced shows its own fills, the last of the chain shows them all', () => {
    always((_, { chain, executions }) => {
      const booked = [...executions.values()].filter(({ busted }) => !busted)
      const sum = (ids: readonly string[]) =>
        booked
          .filter(({ orderId }) => ids.includes(orderId))
          .reduce(
            (total, one) => ({
              filledQuantity: total.filledQuantity.plus(one.quantity),
              filledValue: total.filledValue.plus(one.quantity.times(one.price)),
            }),
            { filledQuantity: zero, filledValue: zero },
          )
      // A refused replacement may trade after all, and be replaced itself: it begins a line of its own.
      const succeeding = new Set(chain.flatMap((order) => mainLine(chain, order).slice(1)))
      for (const first of chain) {
        if (succeeding.has(first.id) || (first.status === 'A' && first !== chain[0])) continue
        const last = lastOfChain(chain, first)
        expect(last).toMatchObject(sum(mainLine(chain, first)))
        if (last !== first) expect(first).toMatchObject(sum([first.id]))
      }
    })
  })

  test('an order waits in E or 6 with at most one replacement, which shows its fills', () => {
    always((_, { chain }) => {
      for (const order of chain) {
        const pending = pendingReplacement(chain, order)
        if (order.status === 'E') expect(pending).toBeDefined()
        if (pending) {
          expect(pending).toMatchObject({
            filledQuantity: order.filledQuantity,
            filledValue: order.filledValue,
          })
          expect(chain.filter((other) => other.replaces === order.id && isLive(other.status))).toContain(
            pending,
          )
        }
      }
    })
  })

  test('the status of an order without a request under way says how much is filled', () => {
    always((_, { chain }) => {
      for (const order of chain) {
        expect(order.filledQuantity.isNegative()).toBe(false)
        const waits = chain.some((other) => pendingReplacement(chain, other) === order)
        if ('012'.includes(order.status)) expect(order.status).toBe(baseStatus(order))
        if (order.status === 'A' && !waits) expect(order.filledQuantity).toEqual(zero)
        if (order.held) expect(order.status).toBe('A')
      }
    })
  })

  test('ignored, refused and duplicate change nothing', () => {
    always((before, after) => {
      if (!['ignored', 'refused', 'duplicate'].includes(after.outcomes.at(-1) as string)) return
      expect(after.chain).toBe(before.chain)
      expect(after.executions).toEqual(before.executions)
    })
  })

  test('reports of executions may be repeated without effect', () => {
    always((_, after, sent) => {
      if (!('report' in sent)) return
      const again = step(after, sent)
      expect(again.chain).toBe(after.chain)
      expect(['duplicate', 'ignored']).toContain(again.outcomes.at(-1))
    })
  })

  test('no fill with a new id is ever lost', () => {
    always((before, after, sent) => {
      if (!('report' in sent) || sent.report.event !== 'FILL' || before.executions.has(sent.report.execId))
        return
      expect(['applied', 'lateFill', 'overfill', 'anomaly']).toContain(after.outcomes.at(-1))
      expect(after.executions.get(sent.report.execId)?.quantity).toEqual(sent.report.quantity)
    })
  })

  test('a log replayed gives the same orders, and nothing passed in is changed', () => {
    fc.assert(
      fc.property(starts, messages, (start, history) => {
        const frozen: World = { ...start, chain: start.chain.map((order) => Object.freeze({ ...order })) }
        const first = history.reduce<World>((world, sent) => {
          const next = step(world, sent)
          next.chain.forEach(Object.freeze)
          return next
        }, frozen)
        expect(history.reduce(step, start)).toEqual(first)
      }),
    )
  })

  test('a fill of a replaced order counts in the last of its chain in the units of today', () => {
    const first = { ...newOrder(dec(100), false), id: 'X', status: '0', acknowledged: true } as const
    const asked = applyToChain([first], 'X', {
      event: 'REPLACE_REQUEST',
      quantity: dec(200),
      newId: 'Y',
    }).chain
    const { chain } = applyToChain(asked, 'X', { event: 'REPLACE_ACK' })
    const inLast = { units: dec(2), price: dec('0.5') }
    const fill = { event: 'FILL', quantity: dec(10), price: dec(60), inLast } as const
    expect(applyToChain(chain, 'X', fill).chain).toMatchObject([
      { filledQuantity: dec(10), filledValue: dec(600) },
      { filledQuantity: dec(20), filledValue: dec(600) },
    ])
  })

  test('an order that is not in the chain is a mistake of the caller', () => {
    expect(() => applyToChain([], 'order 0', { event: 'ACK' })).toThrow(RangeError)
  })
})

/** The ids of the orders that replaced one another, from the first to the last confirmed one. */
function mainLine(chain: Orders, from: ChainOrder<string>): string[] {
  const next = from.status === '5' ? chain.findLast((order) => order.replaces === from.id) : undefined
  return next ? [from.id, ...mainLine(chain, next)] : [from.id]
}
