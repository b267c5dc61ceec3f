/**
 * Random lives of a strategy and its followers at Alpaca, while requests fail before and after their work, answers
 * are nonsense, streams break and lose, delay and repeat what they tell, and workers are replaced. When all of it has
 * passed every audit rule is silent, Alpaca never took an order twice, and our books are Alpaca's.
 */
import fc from 'fast-check'
import { afterAll, expect, test } from 'vitest'
import { parseClientOrderId } from '../../src/domain/orders/client-order-id.ts'
import { publishQuotes } from '../../src/execution/orders/matcher.ts'
import { type BookAccount, isOpen, positionsOf } from '../support/alpaca-book.ts'
import type { EventFault, Fault } from '../support/alpaca-stand-in.ts'
import { testDatabase } from '../support/database.ts'
import { accountViolations, readHeld } from './account-world.ts'
import { type Follower, joinAtAlpaca, makeAlpacaWorld } from './alpaca-world.ts'
import { addInstrument, addStrategy, endSignal, place, quote } from './world.ts'

const { db } = await testDatabase()
const world = await makeAlpacaWorld(db)
const { alpaca } = world
afterAll(() => world.close())

const requestFaults: Fault[] = ['refuse', 'drop', 'error', 'late', 'limit', 'malformed', 'empty']
const eventFaults: EventFault[] = ['drop', 'repeat', 'delay']

type Action =
  | { do: 'order'; buys: boolean; quantity: number; offset: number | null }
  | { do: 'cancel' | 'replace'; pick: number }
  | { do: 'work' | 'cut' | 'worker' | 'release' }
  | { do: 'trade'; price: number; share: number }
  | { do: 'bust'; pick: number }
  | { do: 'faults'; requests: Fault[]; events: EventFault[]; every: number }
  | { do: 'wait'; seconds: number }

const pick = fc.nat(1_000)
const one = <Name extends string>(name: Name, weight: number) => ({
  weight,
  arbitrary: fc.record({ do: fc.constant(name) }),
})
const actions = fc.array(
  fc.oneof(
    {
      weight: 6,
      arbitrary: fc.record({
        do: fc.constant('order' as const),
        buys: fc.boolean(),
        quantity: fc.integer({ min: 1, max: 9 }),
        offset: fc.option(fc.integer({ min: -3, max: 3 })),
      }),
    },
    { weight: 4, arbitrary: fc.record({ do: fc.constantFrom('cancel' as const, 'replace' as const), pick }) },
    one('work', 8),
    one('cut', 1),
    one('worker', 1),
    one('release', 1),
    {
      weight: 6,
      arbitrary: fc.record({
        do: fc.constant('trade' as const),
        price: fc.integer({ min: 95, max: 105 }),
        share: fc.integer({ min: 1, max: 10 }),
      }),
    },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('bust' as const), pick }) },
    {
      weight: 4,
      arbitrary: fc.record({
        do: fc.constant('faults' as const),
        requests: fc.subarray(requestFaults),
        events: fc.subarray(eventFaults),
        every: fc.integer({ min: 1, max: 4 }),
      }),
    },
    {
      weight: 2,
      arbitrary: fc.record({ do: fc.constant('wait' as const), seconds: fc.integer({ min: 1, max: 90 }) }),
    },
  ) as fc.Arbitrary<Action>,
  { minLength: 5, maxLength: 30 },
)

/** Every n-th request and event goes wrong, each in the next of its ways. */
function goWrong({ requests, events, every }: Extract<Action, { do: 'faults' }>): void {
  let [asked, told] = [0, 0]
  alpaca.fault = () => {
    asked += 1
    return asked % every === 0 ? requests[(asked / every) % requests.length] : undefined
  }
  alpaca.eventFault = () => {
    told += 1
    return told % every === 0 ? events[(told / every) % events.length] : undefined
  }
}

function goRight(): void {
  alpaca.fault = () => undefined
  alpaca.eventFault = () => undefined
  alpaca.release()
}

/** Fills what the price reaches, up to a share of each order in tenths. */
function trade(account: BookAccount, price: number, share: number): void {
  for (const order of [...account.orders.values()].filter(isOpen)) {
    const limit = Number(order.limit_price ?? price)
    const isReached = order.side === 'buy' ? limit >= price : limit <= price
    const rest = Number(order.qty) - Number(order.filled_qty)
    const quantity = Math.min(rest, Math.ceil((rest * share) / 10))
    if (isReached && quantity > 0) alpaca.books.execute(account, order, quantity, price)
  }
}

function bust(account: BookAccount, pick: number): void {
  const standing = [...account.executions.values()].filter(({ isBusted }) => !isBusted)
  const execution = standing[pick % Math.max(1, standing.length)]
  if (execution) alpaca.books.bust(account, execution.id)
}

async function live(life: readonly Action[]): Promise<void> {
  const strategyId = await addStrategy(db, '10000000')
  const { id: instrumentId, symbol } = await addInstrument(db)
  const followers = [await joinAtAlpaca(world, strategyId), await joinAtAlpaca(world, strategyId)]
  const signals: number[] = []
  let price = 100
  const say = (): Promise<number> =>
    publishQuotes(world.ctx, [quote(symbol, String(price), String(price), world.clock.now())])
  const order = async (buys: boolean, quantity: number, offset: number | null, replaces?: number) => {
    const limit = offset === null ? {} : { limit: String(price + offset) }
    const { held } = await db.read.one<{ held: number }>`
      select coalesce((select quantity from position where strategy_id = ${strategyId}
        and instrument_id = ${instrumentId}), 0)::float8 as held`
    const closes = held * (buys ? 1 : -1) < 0
    const wish = { strategyId, instrumentId, side: buys ? '1' : '2', goodTillCanceled: true } as const
    const size = String(closes ? Math.min(quantity, Math.abs(held)) : quantity)
    return place(world, {
      ...wish,
      quantity: size,
      positionEffect: closes ? 'C' : 'O',
      ...limit,
      ...(replaces !== undefined && { replaces }),
    })
  }
  const change = async (action: Extract<Action, { do: 'cancel' | 'replace' }>): Promise<void> => {
    const id = signals[action.pick % Math.max(1, signals.length)]
    const working = await db.read.maybe<{ side: string; left: number }>`
      select side, (order_qty - cum_qty)::float8 as left from signal
      where id = ${id ?? 0} and status in ('0', '1') and ord_type = '2'`
    if (id === undefined || !working) return
    const at = new Date(world.clock.now()).toISOString()
    await endSignal(db.write, id, action.do === 'cancel' ? '4' : '5', at)
    if (action.do === 'replace')
      signals.push(await order(working.side === '1', working.left + 1, (action.pick % 7) - 3, id))
  }
  const act = async (action: Action): Promise<void> => {
    world.clock.time += 1
    switch (action.do) {
      case 'order':
        signals.push(await order(action.buys, action.quantity, action.offset))
        return
      case 'cancel':
      case 'replace':
        return change(action)
      case 'work':
        await world.askAgain()
        await world.drain()
        return
      case 'worker': {
        const another = await world.anotherWorker()
        await another.drain()
        return another.close()
      }
      case 'cut':
        return alpaca.cutStreams()
      case 'release':
        return alpaca.release()
      case 'trade':
        price = action.price
        for (const { book } of followers) trade(book, price, action.share)
        await say()
        return
      case 'bust':
        for (const { book } of followers) bust(book, action.pick)
        return
      case 'faults':
        return goWrong(action)
      case 'wait':
        world.clock.time += action.seconds * 1_000
    }
  }
  await say()
  for (const action of life) await act(action)
  goRight()
  await world.until(async () => {
    world.clock.time += 61_000
    await world.askAgain()
    await world.drain()
    await say()
    for (const { book } of followers) trade(book, price, 10)
    await world.drain()
    await agree(followers, instrumentId, symbol)
  })
  expect(await accountViolations(world)).toEqual([])
  // Whoever lived is let go, so that the next life is not slower.
  const ids = followers.map(({ accountId }) => accountId)
  await db.write.run`delete from account_credential where account_id = any(${ids}::bigint[])`
}

/** Our books are Alpaca's, nothing waits, and no order of ours is there twice. */
async function agree(followers: readonly Follower[], instrumentId: number, symbol: string): Promise<void> {
  for (const { setupId, accountId, book } of followers) {
    expect(await readHeld(world, setupId, instrumentId)).toBe(positionsOf(book).get(symbol) ?? 0)
    const { cash, waiting } = await db.read.one<{ cash: number; waiting: number }>`
      select cash::float8, (select count(*)::int from account_order o where o.account_id = a.id
        and (o.pending_action is not null or o.status in ('A', '6', 'E'))) as waiting
      from account a where id = ${accountId}`
    expect(cash).toBeCloseTo(book.cash, 6)
    expect(waiting).toBe(0)
    const ids = [...book.orders.values()].map((order) => order.client_order_id)
    expect(new Set(ids).size).toBe(ids.length)
    expect(ids.filter((id) => parseClientOrderId(id) === null)).toEqual([])
  }
}

const runs = Number(process.env.ALPACA_RUNS ?? 12)

test(`after ${runs} lives our books are Alpaca's`, async () => {
  await fc.assert(fc.asyncProperty(actions, live), { numRuns: runs, endOnFailure: true })
}, 600_000)
