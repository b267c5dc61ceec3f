/**
 * Random lives of a strategy and its followers at QuickFIX, while the exchange is slow, mute, says everything twice,
 * refuses, takes back, tells what is long past and breaks the connection, and workers are replaced. When all of it has
 * passed every audit rule is silent, no order went out twice, our books are the exchange's, and nobody holds more than
 * the strategy.
 */
import fc from 'fast-check'
import { afterAll, describe, expect, test, vi } from 'vitest'
import { publishQuotes } from '../../src/execution/orders/matcher.ts'
import { instant } from '../../src/storage/database/wire.ts'
import { addFollowers } from '../support/followers.ts'
import { accountViolations, readHeld } from './account-world.ts'
import { type FixWorker, makeExchange, makeFixWorker, missing } from './fix-world.ts'
import { addInstrument, addStrategy, endSignal, place, quote } from './world.ts'

const { db, exchange, brokerId } =
  missing === null ? await makeExchange() : ({} as Awaited<ReturnType<typeof makeExchange>>)
const patienceMs = 250
let workers = 0
const nextWorker = (): Promise<FixWorker> => {
  workers += 1
  return makeFixWorker(db, exchange.port, `w${workers}`, {}, patienceMs)
}
let worker = missing === null ? await nextWorker() : ({} as FixWorker)
afterAll(async () => {
  if (missing === null) await worker.broker.close()
})

const modes = [
  'fill',
  'ack',
  'reject',
  'mute',
  'twice',
  'stubborn',
  'drop-told',
  'drop-untold',
  'drop-lost',
] as const
const tellings = ['fill', 'untold', 'cancel', 'late', 'stale', 'bust'] as const

type Action =
  | { do: 'order'; buys: boolean; quantity: number; offset: number | null }
  | { do: 'cancel' | 'replace'; pick: number }
  | { do: 'work' | 'drop' | 'worker' | 'hold' | 'release' | 'again' }
  | { do: 'trade'; price: number; share: number }
  | { do: 'mode'; mode: (typeof modes)[number] }
  | { do: 'tell'; what: (typeof tellings)[number]; pick: number }
  | { do: 'wait'; seconds: number }

const pick = fc.nat(1_000)
const one = <Name extends string>(name: Name, weight: number) => ({
  weight,
  arbitrary: fc.record({ do: fc.constant(name) }),
})
const orders = fc.record({
  do: fc.constant('order' as const),
  buys: fc.boolean(),
  quantity: fc.integer({ min: 1, max: 9 }),
  offset: fc.option(fc.integer({ min: -3, max: 3 })),
})
const trades = fc.record({
  do: fc.constant('trade' as const),
  price: fc.integer({ min: 95, max: 105 }),
  share: fc.integer({ min: 1, max: 10 }),
})
const tells = fc.record({ do: fc.constant('tell' as const), what: fc.constantFrom(...tellings), pick })
const actions = fc.array(
  fc.oneof(
    { weight: 6, arbitrary: orders },
    { weight: 4, arbitrary: fc.record({ do: fc.constantFrom('cancel' as const, 'replace' as const), pick }) },
    one('work', 8),
    one('drop', 1),
    one('worker', 1),
    one('hold', 1),
    one('release', 1),
    one('again', 1),
    { weight: 6, arbitrary: trades },
    {
      weight: 4,
      arbitrary: fc.record({ do: fc.constant('mode' as const), mode: fc.constantFrom(...modes) }),
    },
    { weight: 4, arbitrary: tells },
    {
      weight: 2,
      arbitrary: fc.record({ do: fc.constant('wait' as const), seconds: fc.integer({ min: 1, max: 90 }) }),
    },
  ) as fc.Arbitrary<Action>,
  { minLength: 5, maxLength: 30 },
)

/** Says it where there is something to say it of. */
const tell = (line: string): Promise<string> => exchange.tell(line).catch(() => '')

/** What the exchange says by itself of some order or execution of its own. */
async function sayOf(what: (typeof tellings)[number], pick: number): Promise<void> {
  const known = (await exchange.tell(what === 'bust' ? 'executions' : 'book')).split(' ').filter(Boolean)
  const [id = ''] = known[pick % Math.max(1, known.length)]?.split(':') ?? []
  const terms = ['fill', 'untold', 'late'].includes(what) ? ` ${1 + (pick % 4)} 100` : ''
  if (id !== '') await tell(`${what} ${id}${terms}`)
}

async function live(life: readonly Action[]): Promise<void> {
  await exchange.tell('mode fill')
  await exchange.tell('release')
  const strategyId = await addStrategy(db, '10000000')
  const { id: instrumentId, symbol } = await addInstrument(db)
  const setups = await addFollowers(db, { strategyId, brokerId, count: 2 })
  const signals: number[] = []
  let price = 100
  await worker.up()
  const say = (): Promise<number> =>
    publishQuotes(worker.ctx, [quote(symbol, String(price), String(price), worker.clock.now())])
  const order = async (buys: boolean, quantity: number, offset: number | null, replaces?: number) => {
    const held = await strategyHolds(strategyId)
    const closes = held * (buys ? 1 : -1) < 0
    const size = String(closes ? Math.min(quantity, Math.abs(held)) : quantity)
    return place(worker, {
      strategyId,
      instrumentId,
      side: buys ? '1' : '2',
      quantity: size,
      goodTillCanceled: true,
      positionEffect: closes ? 'C' : 'O',
      ...(offset !== null && { limit: String(price + offset) }),
      ...(replaces !== undefined && { replaces }),
    })
  }
  const change = async (action: Extract<Action, { pick: number }>): Promise<void> => {
    const id = signals[action.pick % Math.max(1, signals.length)] ?? 0
    const working = await db.read.maybe<{ side: string; left: number }>`
      select side, (order_qty - cum_qty)::float8 as left from signal
      where id = ${id} and status in ('0', '1') and ord_type = '2'`
    if (!working) return
    const at = new Date(worker.clock.now()).toISOString()
    await endSignal(db.write, id, action.do === 'cancel' ? '4' : '5', at)
    if (action.do === 'replace')
      signals.push(await order(working.side === '1', working.left + 1, (action.pick % 7) - 3, id))
  }
  const act = async (action: Action): Promise<unknown> => {
    worker.clock.time += 1
    switch (action.do) {
      case 'order':
        return signals.push(await order(action.buys, action.quantity, action.offset))
      case 'cancel':
      case 'replace':
        return change(action)
      case 'work':
        await askAgain()
        return worker.drain()
      case 'worker': {
        const { time } = worker.clock
        await worker.broker.close()
        worker = await nextWorker()
        worker.clock.time = time
        return worker.drain()
      }
      case 'drop':
      case 'hold':
      case 'release':
      case 'again':
        return tell(action.do)
      case 'mode':
        return exchange.tell(`mode ${action.mode} no`)
      case 'tell':
        return sayOf(action.what, action.pick)
      case 'trade':
        price = action.price
        await exchange.tell(`trade ${action.share} ${price}`)
        return say()
      case 'wait':
        worker.clock.time += action.seconds * 1_000
        return undefined
    }
  }
  await say()
  for (const action of life) await act(action)
  await exchange.tell('mode fill')
  await exchange.tell('release')
  await worker.up()
  await worker.drain()
  await db.write.run`
    update signal set status = '4', ended_at = ${instant(worker.clock.time)}, mirror_due = true, needs_match = false
    where strategy_id = ${strategyId} and status in ('0', '1')`
  const rest = async (): Promise<void> => {
    await worker.up()
    worker.clock.time += 61_000
    await askAgain()
    await worker.drain()
    await say()
    await exchange.tell(`trade 10 ${price}`)
    await worker.drain()
    for (const setupId of setups) await agree(setupId, instrumentId, symbol, await strategyHolds(strategyId))
  }
  await vi.waitFor(rest, { timeout: 60_000, interval: 20 })
  expect(await accountViolations(worker)).toEqual([])
  expect(exchange.logged('|35=D|', '|43=Y|')).toEqual([])
  expect(exchange.events.filter((event) => event.startsWith('duplicate'))).toEqual([])
}

const askAgain = () => db.write.run`update account_order set claimed_until = null`

const strategyHolds = async (strategyId: number): Promise<number> =>
  (
    await db.read.one<{ held: number }>`
      select coalesce(sum(quantity), 0)::float8 as held from position where strategy_id = ${strategyId}`
  ).held

/** Our books are the exchange's, nothing waits, and an account that is kept in step holds no more than its strategy. */
async function agree(setupId: number, instrumentId: number, symbol: string, goal: number): Promise<void> {
  const account = await db.read.one<{ name: string; waiting: number; isSynced: boolean }>`
    select a.account as name, is_sync_enabled as "isSynced", (select count(*)::int from account_order o
      where o.account_id = a.id and (o.pending_action is not null or o.status in ('A', '0', '1', '6', 'E'))) as waiting
    from setup s join account a on a.id = s.account_id where s.id = ${setupId}`
  const held = await readHeld(worker, setupId, instrumentId)
  const theirs = (await exchange.tell('held'))
    .split(' ')
    .find((at) => at.startsWith(`${account.name}:${symbol}:`))
  expect(held).toBe(Number(theirs?.split(':')[2] ?? 0))
  expect(account.waiting).toBe(0)
  if (!account.isSynced) return
  expect(Math.abs(held)).toBeLessThanOrEqual(Math.abs(goal))
  expect(held * goal).toBeGreaterThanOrEqual(0)
}

const lives = Number(process.env.FIX_LIVES ?? 6)

describe.skipIf(missing !== null)('random lives over FIX', () => {
  test(`after ${lives} lives our books are the exchange's`, { timeout: 3_600_000 }, async () => {
    await fc.assert(fc.asyncProperty(actions, live), { numRuns: lives, endOnFailure: true })
  })
})
