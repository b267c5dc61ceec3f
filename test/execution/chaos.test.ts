/**
 * Random lives of a strategy and its followers over a broker that keeps silent, loses its link, refuses and fills
 * in part, with workers that die between any two steps. When everything has come to rest every audit rule is
 * silent, nothing waits, the broker never took an order twice and every sub-ledger is the broker's book.
 */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { mirrorSignals } from '../../src/execution/mirror/mirror.ts'
import { publishQuotes } from '../../src/execution/orders/matcher.ts'
import { newTally } from '../../src/execution/tally.ts'
import { instant } from '../../src/storage/database/wire.ts'
import { testDatabase } from '../support/database.ts'
import { addBroker, addFollowers, joinStrategy, leaveStrategy } from '../support/followers.ts'
import { accountViolations, makeAccountWorld, readBroker, readHeld } from './account-world.ts'
import { addInstrument, addStrategy, endSignal, place, quote } from './world.ts'

const { db } = await testDatabase()
const world = makeAccountWorld(db)
const { ctx, paper } = world
const brokerId = await addBroker(db)

type Action =
  | { do: 'order'; buys: boolean; quantity: number; offset: number | null }
  | { do: 'cancel' | 'replace' | 'stop' | 'step' | 'die' | 'reject' | 'partial'; pick: number }
  | { do: 'join' | 'hold' | 'release' | 'cut' | 'mend' }
  | { do: 'quote'; bid: number }
  | { do: 'wait'; seconds: number }

const pick = fc.nat(1_000)
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
    { weight: 8, arbitrary: fc.record({ do: fc.constant('step' as const), pick }) },
    {
      weight: 6,
      arbitrary: fc.record({
        do: fc.constantFrom(
          'cancel' as const,
          'replace' as const,
          'die' as const,
          'reject' as const,
          'partial' as const,
        ),
        pick,
      }),
    },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('stop' as const), pick }) },
    {
      weight: 3,
      arbitrary: fc.record({
        do: fc.constantFrom(
          'join' as const,
          'hold' as const,
          'release' as const,
          'cut' as const,
          'mend' as const,
        ),
      }),
    },
    {
      weight: 6,
      arbitrary: fc.record({ do: fc.constant('quote' as const), bid: fc.integer({ min: 95, max: 105 }) }),
    },
    {
      weight: 2,
      arbitrary: fc.record({ do: fc.constant('wait' as const), seconds: fc.integer({ min: 1, max: 40 }) }),
    },
  ) as fc.Arbitrary<Action>,
  { minLength: 5, maxLength: 40 },
)

/** A context whose transactions and writes fail from the n-th on, half of them after they have committed. */
function dying(after: number) {
  let left = after
  const mortal = async <T>(work: () => Promise<T>): Promise<T> => {
    left -= 1
    if (left > 0) return work()
    if (left % 2 === 0) await work()
    throw new Error('killed')
  }
  const transaction: typeof db.transaction = (work, options) => mortal(() => db.transaction(work, options))
  // What it remembers dies with it.
  return { ...ctx, tally: newTally(), workerId: `dying${after}`, db: { ...db, transaction } }
}

async function live(life: readonly Action[]): Promise<void> {
  const strategyId = await addStrategy(db, '10000000')
  const { id: instrumentId, symbol } = await addInstrument(db, { securityType: 'FUT' })
  const setups = await addFollowers(db, { strategyId, brokerId, count: 2, scaling: 150 })
  setups.push(
    ...(await addFollowers(db, { strategyId, brokerId, count: 1, scaling: 70, chaseFilled: false })),
  )
  const signals: number[] = []
  let bid = 100
  const say = (): Promise<number> =>
    publishQuotes(ctx, [quote(symbol, String(bid), String(bid + 1), world.clock.now())])
  const accountOf = async (setupId: number): Promise<number> =>
    (await db.read.one<{ id: number }>`select account_id as id from setup where id = ${setupId}`).id
  const act = async (action: Action): Promise<void> => {
    world.clock.time += 1
    switch (action.do) {
      case 'order':
        signals.push(await orderOf(strategyId, instrumentId, bid, action))
        return
      case 'cancel':
      case 'replace': {
        const id = signals[action.pick % Math.max(1, signals.length)]
        if (id !== undefined) signals.push(...(await changeSignal(id, action.do, bid)))
        return
      }
      case 'stop': {
        const id = setups[action.pick % setups.length]!
        const { stopped } = await db.read.one<{ stopped: boolean }>`
          select stopped_at is not null as stopped from setup where id = ${id}`
        if (!stopped) await leaveStrategy(db, id, action.pick % 2 === 0)
        return
      }
      case 'join':
        setups.push(await joinStrategy(db, strategyId, brokerId))
        return
      case 'hold':
      case 'release':
        paper.controls.hold(action.do === 'hold')
        return
      case 'cut':
      case 'mend':
        paper.controls.down(action.do === 'cut')
        return
      case 'reject':
        paper.controls.reject(await accountOf(setups[action.pick % setups.length]!), 'no')
        return
      case 'partial':
        paper.controls.partial(
          await accountOf(setups[action.pick % setups.length]!),
          String(1 + (action.pick % 3)),
        )
        return
      case 'step':
        await world.steps[action.pick % world.steps.length]!.run(ctx)
        return
      case 'die':
        for (const step of world.steps) {
          await step
            .run(dying(1 + (action.pick % 7)))
            .catch((error: Error) => expect(error.message).toBe('killed'))
        }
        return
      case 'quote':
        bid = action.bid
        await say()
        return
      case 'wait':
        world.clock.time += action.seconds * 1_000
    }
  }
  await say()
  for (const action of life) await act(action)
  await comeToRest(strategyId, say)
  expect(await accountViolations(world)).toEqual([])
  for (const setupId of setups) {
    const held = await readHeld(world, setupId, instrumentId)
    expect(await readBroker(world, setupId, symbol)).toBe(held)
    // What was refused once is not tried again.
    const { mustBeFlat } = await db.read.one<{ mustBeFlat: boolean }>`
      select stopped_at is not null and not positions_left_open and not exists (
        select from account_order o where o.setup_id = setup.id and o.source = 'X' and o.status = '8'
      ) as "mustBeFlat" from setup where id = ${setupId}`
    if (mustBeFlat) expect(held).toBe(0)
  }
}

/** A limit or market order as the strategy's position allows. */
async function orderOf(
  strategyId: number,
  instrumentId: number,
  bid: number,
  { buys, quantity, offset }: Extract<Action, { do: 'order' }>,
): Promise<number> {
  const { held } = await db.read.one<{ held: number }>`
    select coalesce((select quantity from position where strategy_id = ${strategyId}
      and instrument_id = ${instrumentId}), 0)::float8 as held`
  const direction = buys ? 1 : -1
  const closes = held * direction < 0
  return place(world, {
    strategyId,
    instrumentId,
    side: buys ? '1' : '2',
    quantity: String(closes ? Math.min(quantity, Math.abs(held)) : quantity),
    positionEffect: closes ? 'C' : 'O',
    goodTillCanceled: true,
    ...(offset !== null && { limit: String(bid + offset) }),
  })
}

/** Cancels or replaces a signal that works, as the interface does. */
async function changeSignal(id: number, change: 'cancel' | 'replace', bid: number): Promise<number[]> {
  return db.transaction(async (tx) => {
    const signal = await tx.maybe<{
      strategyId: number
      side: '1' | '2'
      qty: number
      cum: number
      effect: string
    }>`
      select s.strategy_id as "strategyId", side, order_qty::float8 as qty, cum_qty::float8 as cum,
        position_effect as effect
      from signal s join strategy t on t.id = s.strategy_id
      where s.id = ${id} and s.status in ('0', '1') for no key update of t`
    if (!signal) return []
    const at = instant(world.clock.time)
    if (change === 'cancel') {
      await endSignal(tx, id, '4', at)
      return []
    }
    await endSignal(tx, id, '5', at)
    const { next } = await tx.one<{ next: number }>`
      insert into signal (strategy_id, instrument_id, side, ord_type, time_in_force, position_effect, order_qty,
        limit_px, reference_px, status, cum_qty, avg_px, posted_at, working_at, replaces_signal_id,
        membership_horizon, needs_match, mirror_due)
      select s.strategy_id, instrument_id, side, '2', '1', position_effect, cum_qty + ${1 + (id % 5)}, ${bid}::numeric,
        ${bid}::numeric, case when cum_qty > 0 then '1' else '0' end, cum_qty, avg_px, ${at}, ${at}, s.id,
        t.membership_version, true, true
      from signal s join strategy t on t.id = s.strategy_id where s.id = ${id} returning id as next`
    return [next]
  })
}

/** Mends everything, ends every signal and works until nothing is left. */
async function comeToRest(strategyId: number, say: () => Promise<number>): Promise<void> {
  paper.controls.hold(false)
  paper.controls.down(false)
  await db.write.run`update lease set expires_at = clock_timestamp()`
  const settle = async (): Promise<void> => {
    await db.write.run`
      update account_order set claimed_until = clock_timestamp() - interval '1 second' where claimed_until is not null`
    await db.write.run`update paper_order set fill_cap = null, needs_match = true where status in ('0', '1')`
    await say()
    await world.drain()
  }
  await settle()
  await settle()
  await db.write.run`
    update signal set status = '4', ended_at = ${instant(world.clock.time)}, mirror_due = true, needs_match = false
    where strategy_id = ${strategyId} and status in ('0', '1')`
  for (let round = 0; round < 4; round += 1) {
    world.clock.time += 31_000
    await settle()
  }
  await mirrorSignals(ctx)
  const waiting = await db.read.rows`
    select id, setup_id, source, source_id, revision, status, pending_action, ord_type, cum_qty, order_qty, replaces_order_id
    from account_order where strategy_id = ${strategyId}
      and (pending_action is not null or status in ('A', '6', 'E') or unknown_at is not null)`
  expect(waiting).toEqual([])
}

test('lives end with sound books', { timeout: 300_000 }, async () => {
  await fc.assert(fc.asyncProperty(actions, live), {
    numRuns: Number(process.env.CHAOS_RUNS ?? 40),
    endOnFailure: true,
  })
})
