import { describe, expect, test } from 'vitest'
import { mirrorSignals } from '../../src/execution/mirror/mirror.ts'
import { newTally } from '../../src/execution/tally.ts'
import { instant } from '../../src/storage/database/wire.ts'
import { testDatabase } from '../support/database.ts'
import { addBroker, addFollowers, joinStrategy, leaveStrategy } from '../support/followers.ts'
import { accountViolations, makeAccountWorld, readOrders, readSkips } from './account-world.ts'
import { addInstrument, addStrategy, endSignal, opening, place } from './world.ts'

const { db } = await testDatabase()
const world = makeAccountWorld(db)
const brokerId = await addBroker(db)

interface Copies {
  orders: number
  quantity: number
  skips: string[] | null
}
const copiesOf = (signalId: number): Promise<Copies> => db.read.one<Copies>`
  select count(*)::int as orders, coalesce(sum(order_qty), 0)::float8 as quantity,
    (select array_agg(distinct code) from account_skip where signal_id = ${signalId}) as skips
  from account_order where source_id = ${signalId}`

/** Rows per follower: every one must be exactly one. */
const rowsPerSetup = (signalId: number): Promise<{ setupId: number; rows: number }[]> => db.read.rows`
  select setup_id as "setupId", count(*)::int as rows from (
    select setup_id from account_order where source_id = ${signalId}
    union all select setup_id from account_skip where signal_id = ${signalId}
  ) answers group by setup_id order by setup_id`

/** A futures market, a strategy and its followers; nothing fills unless a quote comes. */
async function scene(count: number, wish: Partial<Parameters<typeof addFollowers>[1]> = {}) {
  const strategyId = await addStrategy(db)
  const { id: instrumentId, symbol } = await addInstrument(db, { securityType: 'FUT' })
  const setupIds = await addFollowers(db, { strategyId, brokerId, count, ...wish })
  return { strategyId, instrumentId, symbol, setupIds, setupId: setupIds[0] ?? 0 }
}

const mirrored = async (signalId: number): Promise<boolean> =>
  (
    await db.read.one<{ done: boolean }>`
    select mirrored_at is not null and not mirror_due as done from signal where id = ${signalId}`
  ).done

describe('planning', () => {
  test('gives every follower one row, over any number of slices', async () => {
    const { strategyId, instrumentId } = await scene(20, { scaling: 150 })
    await addFollowers(db, { strategyId, brokerId, count: 20, scaling: 5 })
    const signal = await place(world, { strategyId, instrumentId, side: '1', quantity: '6', limit: '50' })
    await mirrorSignals(world.ctx, 16)
    expect(await copiesOf(signal)).toEqual({ orders: 20, quantity: 180, skips: ['RoundedToZero'] })
    expect(await rowsPerSetup(signal)).toHaveLength(40)
  })

  test('breaks off between two transactions when the worker is to end', async () => {
    const { strategyId, instrumentId } = await scene(2)
    const wanted = { strategyId, instrumentId, side: '1', quantity: '6', limit: '50' } as const
    const signals = [await place(world, wanted), await place(world, wanted)]
    const ended = { ...world.ctx, ending: AbortSignal.abort() }
    expect(await mirrorSignals(ended)).toBe(0)
    await mirrorSignals(world.ctx)
    expect(await Promise.all(signals.map(mirrored))).toEqual([true, true])
  })

  test('settles what nobody follows, and who starts later is no follower of it', async () => {
    const { strategyId, instrumentId } = await scene(0)
    const other = await scene(2)
    const alone = await place(world, { strategyId, instrumentId, side: '1', quantity: '6', limit: '50' })
    const followed = await place(world, { ...other, side: '1', quantity: '6', limit: '50' })
    await mirrorSignals(world.ctx)
    expect([await mirrored(alone), await mirrored(followed)]).toEqual([true, true])
    expect(await rowsPerSetup(followed)).toHaveLength(2)
    await addFollowers(db, { strategyId, brokerId, count: 1 })
    await endSignal(db.write, alone, '4', instant(opening))
    await mirrorSignals(world.ctx)
    expect([await mirrored(alone), await rowsPerSetup(alone)]).toEqual([true, []])
  })

  test('writes the numbers that it decided from', async () => {
    const { strategyId, instrumentId } = await scene(1, { scaling: 300, maximumFutures: 7 })
    const signal = await place(world, { strategyId, instrumentId, side: '2', quantity: '5', limit: '50' })
    await mirrorSignals(world.ctx)
    const row = await db.read.one`
      select order_qty::float8 as "orderQty", reason, strategy_qty::float8 as "strategyQty", limit_value::float8 as "limit",
        scaling_percentage as scaling, held_qty::float8 as held, side, status, pending_action as "pendingAction",
        signal_filled_before::float8 as "filledBefore"
      from account_order where source_id = ${signal}`
    expect(row).toEqual({
      orderQty: 7,
      reason: 'CappedToMaximum',
      strategyQty: -5,
      limit: 7,
      scaling: 300,
      held: 0,
      side: '2',
      status: 'A',
      pendingAction: 'new',
      filledBefore: 0,
    })
  })

  test('writes them anew for a copy that a replacement takes over', async () => {
    const { strategyId, instrumentId, setupId } = await scene(1, { scaling: 300, maximumFutures: 7 })
    const wanted = { strategyId, instrumentId, side: '2', limit: '50' } as const
    const first = await place(world, { ...wanted, quantity: '2' })
    await mirrorSignals(world.ctx)
    await endSignal(db.write, first, '5', instant(opening))
    const second = await place(world, { ...wanted, quantity: '3', replaces: first })
    await mirrorSignals(world.ctx)
    await db.write.run`update setup set max_futures = null, min_futures = 8 where id = ${setupId}`
    await endSignal(db.write, second, '5', instant(opening))
    const third = await place(world, { ...wanted, quantity: '1', replaces: second })
    await mirrorSignals(world.ctx)
    const rows = await db.read.rows`
      select order_qty::float8 as "orderQty", reason, strategy_qty::float8 as "strategyQty", limit_value::float8 as "limit"
      from account_order where source_id = any(${[first, second, third]}::bigint[]) order by id`
    expect(rows).toEqual([
      { orderQty: 6, reason: null, strategyQty: -2, limit: 7 },
      { orderQty: 7, reason: 'CappedToMaximum', strategyQty: -3, limit: 7 },
      { orderQty: 8, reason: 'RaisedToMinimum', strategyQty: -1, limit: 8 },
    ])
  })

  const blocks: [string, (setupId: number, instrumentId: number) => Promise<unknown>, string][] = [
    [
      'a disabled account',
      (id) => db.write.run`
      update account set is_autotrade_disabled = true where id = (select account_id from setup where id = ${id})`,
      'AutotradeDisabled',
    ],
    [
      'an excluded symbol',
      (id, instrumentId) => db.write.run`
      insert into setup_exclusion values (${id}, ${instrumentId}, 1, 'NotJoined', now())`,
      'Excluded',
    ],
    [
      'a class switched off',
      (id) => db.write.run`update setup set futures_enabled = false where id = ${id}`,
      'AssetClassDisabled',
    ],
    [
      'an order of unknown outcome',
      (id, instrumentId) => db.write.run`
      insert into account_order (account_id, broker_id, setup_id, strategy_id, source_id, instrument_id, side, ord_type,
        time_in_force, position_effect, order_qty, posted_at, strategy_qty, scaling_percentage, held_qty, setup_fence,
        unknown_at)
      select account_id, ${brokerId}, id, strategy_id, 999999, ${instrumentId}, '1', '1', '0', 'O', 1, now(), 1, 100, 0, 1, now()
      from setup where id = ${id}`,
      'UnknownOutcomePending',
    ],
  ]
  test.each(blocks)('skips %s', async (_name, arrange, code) => {
    const { strategyId, instrumentId, setupId } = await scene(1)
    await db.write.run`insert into position values (${strategyId}, ${instrumentId}, 3, 10, now())`
    await arrange(setupId, instrumentId)
    const signal = await place(world, { strategyId, instrumentId, side: '1', quantity: '6', limit: '50' })
    await mirrorSignals(world.ctx)
    expect(await readSkips(world, signal)).toEqual([{ setupId, code }])
    await db.write.run`update account_order set unknown_at = null`
  })

  test('opens nothing under the mass switch', async () => {
    const { strategyId, instrumentId, setupId } = await scene(1)
    await db.write.run`insert into platform_switch values ('noOpeningOrders', 'true', now())`
    const signal = await place(world, { strategyId, instrumentId, side: '1', limit: '50' })
    await mirrorSignals(world.ctx)
    await db.write.run`delete from platform_switch`
    expect(await readSkips(world, signal)).toEqual([{ setupId, code: 'MassSwitch' }])
  })

  describe('a subscription', () => {
    const subscribed = (strategyId: number, kind: string, status: string) => db.write.run`
      insert into subscription (site_id, person_id, strategy_id, kind, status, base_price, started_at, term_started_at,
        term_ends_at, ended_at)
      select site_id, owner_person_id, id, ${kind}, ${status}, 0, now(), now(),
        case ${kind} when 'simulated' then null else now() + interval '30 days' end,
        case ${status} when 'ended' then now() end
      from strategy where id = ${strategyId}`

    test.each([
      ['that runs lets orders through', [['paid', 'active']], null],
      ['to paper lets orders through', [['paper', 'active']], null],
      ['that has ended opens nothing', [['paid', 'ended']], 'SubscriptionEnded'],
      ['that is suspended opens nothing', [['paid', 'suspended']], 'SubscriptionEnded'],
      ['that was never paid opens nothing', [['paid', 'pending']], 'SubscriptionEnded'],
      [
        'that began anew lets orders through',
        [
          ['paid', 'ended'],
          ['paid', 'active'],
        ],
        null,
      ],
      [
        'to a simulation is none',
        [
          ['paid', 'ended'],
          ['simulated', 'active'],
        ],
        'SubscriptionEnded',
      ],
    ] as const)('%s', async (_name, subscriptions, code) => {
      const { strategyId, instrumentId, setupId } = await scene(1)
      for (const [kind, status] of subscriptions) await subscribed(strategyId, kind, status)
      const signal = await place(world, { strategyId, instrumentId, side: '1', quantity: '4', limit: '50' })
      await mirrorSignals(world.ctx)
      expect(await readSkips(world, signal)).toEqual(code === null ? [] : [{ setupId, code }])
      expect((await copiesOf(signal)).orders).toBe(code === null ? 1 : 0)
    })

    test('that ended to another strategy, or of another person, does not matter', async () => {
      const { strategyId, instrumentId } = await scene(1)
      await subscribed((await scene(1)).strategyId, 'paid', 'ended')
      await db.write.run`
        insert into subscription (site_id, person_id, strategy_id, kind, status, base_price, started_at,
          term_started_at, term_ends_at, ended_at)
        select site_id, (select min(id) from person where id <> owner_person_id), id, 'paid', 'ended', 0, now(), now(),
          now() + interval '30 days', now() from strategy where id = ${strategyId}`
      const signal = await place(world, { strategyId, instrumentId, side: '1', quantity: '4', limit: '50' })
      await mirrorSignals(world.ctx)
      expect((await copiesOf(signal)).orders).toBe(1)
    })
  })

  test('follows an excluded symbol again once the strategy was flat in it', async () => {
    const { strategyId, instrumentId, setupId } = await scene(1)
    await db.write
      .run`insert into setup_exclusion values (${setupId}, ${instrumentId}, 1, 'NotJoined', now())`
    const signal = await place(world, { strategyId, instrumentId, side: '1', quantity: '4', limit: '50' })
    await mirrorSignals(world.ctx)
    expect(await copiesOf(signal)).toMatchObject({ orders: 1, quantity: 4 })
    expect(
      await db.read.rows`select from setup_exclusion where setup_id = ${setupId} and ended_at is null`,
    ).toEqual([])
  })

  test('follows it again also where the strategy was flat and has bought anew before anybody looked', async () => {
    const { strategyId, instrumentId, setupId } = await scene(1)
    await db.write
      .run`insert into setup_exclusion values (${setupId}, ${instrumentId}, 1, 'NotJoined', now())`
    const signal = await place(world, { strategyId, instrumentId, side: '1', quantity: '4' })
    await db.write.run`
      update signal set status = '2', cum_qty = 4, avg_px = 50, ended_at = ${instant(opening)} where id = ${signal}`
    await db.write.run`insert into position values (${strategyId}, ${instrumentId}, 4, 50, now())`
    await db.write.run`
      insert into trade (strategy_id, instrument_id, signal_id, open_side, opened_at, changed_at, opened_qty, closed_qty,
        open_turnover, close_turnover, commission, realised, avg_px, avg_cost, watch_px, fx)
      values (${strategyId}, ${instrumentId}, ${signal}, '1', now(), now(), 4, 0, 200, 0, 0, 0, 50, 50, 50, 1)`
    await mirrorSignals(world.ctx)
    expect(await copiesOf(signal)).toMatchObject({ orders: 1, quantity: 4 })
  })

  test('copies a signal that has filled before it was planned', async () => {
    const { strategyId, instrumentId, symbol, setupId } = await scene(1)
    const signal = await place(world, { strategyId, instrumentId, side: '1', quantity: '4', limit: '50' })
    await db.write.run`
      update signal set status = '2', cum_qty = 4, avg_px = 50, ended_at = ${instant(opening)} where id = ${signal}`
    await db.write.run`insert into position values (${strategyId}, ${instrumentId}, 4, 50, now())`
    await mirrorSignals(world.ctx)
    expect(await readOrders(world, setupId)).toMatchObject([
      { orderQty: 4, status: 'A', pendingAction: 'new' },
    ])
    const { chaseAt } = await db.read.one<{ chaseAt: number }>`
      select chase_at as "chaseAt" from account_order where source_id = ${signal}`
    expect(chaseAt).toBe(opening + 30_000)
    expect(symbol).not.toBe('')
  })

  test('AutoSync looks after a signal that was canceled before it was planned', async () => {
    const { strategyId, instrumentId, setupId } = await scene(1)
    const signal = await place(world, { strategyId, instrumentId, side: '1', quantity: '4', limit: '50' })
    await endSignal(db.write, signal, '4', instant(opening))
    await db.write.run`delete from sync_due where setup_id = ${setupId}`
    await mirrorSignals(world.ctx)
    expect(await db.read.rows`select setup_id as id from sync_due where setup_id = ${setupId}`).toEqual([
      { id: setupId },
    ])
  })

  test('ends copies of a signal that was canceled before it was planned, unseen by the broker', async () => {
    const { strategyId, instrumentId, setupId } = await scene(1)
    const signal = await place(world, { strategyId, instrumentId, side: '1', quantity: '4', limit: '50' })
    await endSignal(db.write, signal, '4', instant(opening))
    await world.drain()
    expect(await readOrders(world, setupId)).toMatchObject([
      { status: '4', attempts: 0, info: 'signal canceled' },
    ])
    expect(await mirrored(signal)).toBe(true)
  })
})

describe('membership', () => {
  test('is that of the moment when the signal began to work', async () => {
    const { strategyId, instrumentId, setupIds } = await scene(3)
    const [stays = 0, leavesBefore = 0, leavesAfter = 0] = setupIds
    await leaveStrategy(db, leavesBefore)
    const signal = await place(world, { strategyId, instrumentId, side: '1', quantity: '4', limit: '50' })
    const { horizon } = await db.read.one<{ horizon: number }>`
      select membership_version as horizon from strategy where id = ${strategyId}`
    await db.write.run`update signal set membership_horizon = ${horizon} where id = ${signal}`
    await leaveStrategy(db, leavesAfter)
    const [joined = 0] = await addFollowers(db, { strategyId, brokerId, count: 1 })
    await world.drain()
    expect((await rowsPerSetup(signal)).map(({ setupId }) => setupId)).toEqual([stays, leavesAfter])
    expect(await readSkips(world, signal)).toEqual([{ setupId: leavesAfter, code: 'SubscriptionEnded' }])
    expect(await readOrders(world, joined)).toEqual([])
  })

  test('is fixed while others start and stop at the same time', async () => {
    const { strategyId, instrumentId, setupIds } = await scene(60)
    const changes = [
      ...setupIds.slice(0, 20).map((id) => leaveStrategy(db, id)),
      ...Array.from({ length: 10 }, () => joinStrategy(db, strategyId, brokerId)),
    ]
    const signals = await Promise.all(
      [0, 1, 2].map(async () => {
        const signal = await place(world, { strategyId, instrumentId, side: '1', quantity: '4', limit: '50' })
        await Promise.all([mirrorSignals(world.ctx, 7), mirrorSignals(world.ctx, 5)])
        return signal
      }),
    )
    await Promise.all(changes)
    await mirrorSignals(world.ctx)
    for (const signal of signals) {
      const { members } = await db.read.one<{ members: number[] }>`
        select array_agg(s.id order by s.id) as members from setup s join signal g on g.strategy_id = s.strategy_id
        where g.id = ${signal} and s.joined_version <= g.membership_horizon
          and (s.left_version is null or s.left_version > g.membership_horizon)`
      const rows = await rowsPerSetup(signal)
      expect(rows.map(({ setupId }) => setupId)).toEqual(members)
      expect(rows.every((row) => row.rows === 1)).toBe(true)
    }
  })
})

describe('many workers', () => {
  test('two at once give 1,000 followers exactly one row each', async () => {
    const { strategyId, instrumentId } = await scene(1_000)
    const other = { ...world.ctx, workerId: 'w2' }
    const signals: number[] = []
    for (let n = 0; n < 3; n += 1) {
      signals.push(await place(world, { strategyId, instrumentId, side: '1', quantity: '4', limit: '50' }))
    }
    await Promise.all([mirrorSignals(world.ctx, 130), mirrorSignals(other, 170)])
    for (const signal of signals) {
      const rows = await rowsPerSetup(signal)
      expect(rows).toHaveLength(1_000)
      expect(rows.every((row) => row.rows === 1)).toBe(true)
      expect(await mirrored(signal)).toBe(true)
    }
  })

  test('another goes on where one has died', async () => {
    const { strategyId, instrumentId } = await scene(50)
    const signal = await place(world, { strategyId, instrumentId, side: '1', quantity: '4', limit: '50' })
    let transactions = 0
    const dying = {
      ...world.ctx,
      tally: newTally(),
      db: {
        ...db,
        transaction: ((work, options) => {
          transactions += 1
          if (transactions < 3) return db.transaction(work, options)
          return db.transaction(async (tx) => {
            await work(tx)
            throw new Error('killed before the commit')
          }, options)
        }) as typeof db.transaction,
      },
    }
    await expect(mirrorSignals(dying, 20)).rejects.toThrow('killed')
    expect(await rowsPerSetup(signal)).toHaveLength(40)
    expect(await mirrored(signal)).toBe(false)
    await mirrorSignals(world.ctx, 20)
    const rows = await rowsPerSetup(signal)
    expect(rows).toHaveLength(50)
    expect(rows.every((row) => row.rows === 1)).toBe(true)
  })
})

test('the books are sound after all of this', async () => {
  expect(await accountViolations(world)).toEqual([])
})
