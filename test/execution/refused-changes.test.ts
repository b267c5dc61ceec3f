/** What a broker refuses to change stays as it is, and is not asked for again before something else is wanted. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { dec } from '../../src/domain/decimal.ts'
import { minute } from '../../src/domain/time.ts'
import { allowOpening, stopSetup } from '../../src/storage/mirror/setups.ts'
import { markSetups } from '../../src/storage/mirror/sync-due.ts'
import { testDatabase } from '../support/database.ts'
import { addBroker, addFollowers } from '../support/followers.ts'
import { accountViolations, makeAccountWorld, readHeld } from './account-world.ts'
import { repriceByHolder } from './holder-cancels.ts'
import { Stubborn } from './stubborn-broker.ts'
import { addInstrument, addStrategy, endSignal, place } from './world.ts'

const { db } = await testDatabase()
const stubborn = new Stubborn()
const world = makeAccountWorld(db, {}, stubborn.between)
const { ctx, clock, paper } = world

beforeEach(() => {
  ;[stubborn.asked, stubborn.refuses] = [[], null]
})

/** What the broker was asked for since the last time, as quantity and price. */
const asked = (): string[] => stubborn.asked.splice(0).map(({ terms }) => terms)

type Wish = Partial<Parameters<typeof place>[1]>

/** A strategy with one follower, and a future at 100. */
async function scene() {
  const brokerId = await addBroker(db)
  const strategyId = await addStrategy(db)
  const { id: instrumentId, symbol } = await addInstrument(db, { securityType: 'FUT' })
  const [setupId = 0] = await addFollowers(db, { strategyId, brokerId, count: 1 })
  await world.quote(symbol, '100', '100')
  const order = async (wish: Wish): Promise<number> => {
    const id = await place(world, { strategyId, instrumentId, side: '1', quantity: '2', ...wish })
    await world.drain()
    return id
  }
  const sell = (wish: Wish) => order({ side: '2', positionEffect: 'C', ...wish })
  /** The strategy's owner gives an order another price. */
  const move = async (id: number, limit: string, wish: Wish = {}): Promise<number> => {
    await endSignal(db.write, id, '5', new Date(clock.time).toISOString())
    return order({ ...wish, limit, replaces: id })
  }
  return { brokerId, setupId, instrumentId, symbol, order, sell, move }
}

/** Many looks at every setup. */
async function look(setupId: number): Promise<void> {
  for (let at = 0; at < 5; at += 1) {
    clock.time += minute
    await markSetups(db.write, [setupId], clock.time)
    await world.drain()
  }
}

describe('a change that a broker refuses', () => {
  test('is asked for once, whatever else is refused in the symbol, until its owner synchronises', async () => {
    const { setupId, order, move } = await scene()
    const [first, second] = [await order({ limit: '90' }), await order({ limit: '80' })]
    stubborn.refuses = 'replace'
    await move(first, '91')
    const moved = await move(second, '81')
    await look(setupId)
    expect(asked()).toEqual(['2 @91', '2 @81'])
    await move(moved, '82')
    await look(setupId)
    expect(asked()).toEqual(['2 @82'])
    clock.time += minute
    await allowOpening(db.write, [setupId], clock.time)
    await look(setupId)
    expect(asked()).toEqual(['2 @91', '2 @82'])
    stubborn.refuses = null
    await allowOpening(db.write, [setupId], clock.time)
    await look(setupId)
    const working = await db.read.rows`
      select limit_px::float8 as limit from account_order
      where setup_id = ${setupId} and status = '0' order by limit_px`
    expect(working).toEqual([{ limit: 82 }, { limit: 91 }])
  })

  test('to market is asked for once, and again when its owner synchronises', async () => {
    const { setupId, instrumentId, symbol, order } = await scene()
    const { accountId } = await db.read.one<{ accountId: number }>`
      select account_id as "accountId" from setup where id = ${setupId}`
    paper.controls.partial(accountId, '0')
    await order({ limit: '99' })
    await world.quote(symbol, '98', '99')
    stubborn.refuses = 'replace'
    await look(setupId)
    expect(asked()).toEqual(['2 @0'])
    stubborn.refuses = null
    await look(setupId)
    expect(await readHeld(world, setupId, instrumentId)).toBe(0)
    await allowOpening(db.write, [setupId], clock.time)
    await world.quote(symbol, '98', '99')
    await look(setupId)
    expect(await readHeld(world, setupId, instrumentId)).toBe(2)
  })

  test('of a protective stop is asked for once', async () => {
    const { setupId, symbol, order } = await scene()
    await db.write.run`update setup set auto_stop_loss_dollars = 100 where id = ${setupId}`
    await order({})
    stubborn.refuses = 'replace'
    await order({})
    await look(setupId)
    expect(asked()).toEqual(['4 @75'])
    await world.quote(symbol, '100', '100')
    await order({})
    await look(setupId)
    expect(asked()).toEqual([expect.stringMatching(/^6 @/)])
  })

  test.each([
    ['the strategy', 'off', false],
    ['its holder', 'off', false],
    ['its holder', 'on', true],
  ])('of an exit by %s leaves it the grace after its signal: AutoSync %s', async (who, _, isSynced) => {
    const { setupId, instrumentId, symbol, order, sell, move } = await scene()
    const { accountId } = await db.read.one<{ accountId: number }>`
      select account_id as "accountId" from setup where id = ${setupId}`
    await db.write.run`update account set is_sync_enabled = ${isSynced} where id = ${accountId}`
    await order({ quantity: '4' })
    paper.controls.partial(accountId, '0')
    const exit = await sell({ limit: '110' })
    if (who === 'the strategy') {
      stubborn.refuses = 'replace'
      await move(exit, '100', { side: '2', positionEffect: 'C' })
    } else {
      await world.quote(symbol, '110', '110')
      stubborn.refuses = 'replace'
      await repriceByHolder(db, { setupId, at: clock.time }, '111')
      await world.drain()
    }
    expect(asked()).toEqual([who === 'the strategy' ? '2 @100' : '2 @111'])
    stubborn.refuses = null
    clock.time += minute
    await world.drain()
    await world.quote(symbol, '105', '105')
    expect(await readHeld(world, setupId, instrumentId)).toBe(2)
  })

  describe('of an order while AutoSync is off', () => {
    async function refuseIn(made: Awaited<ReturnType<typeof scene>>, wish: Wish, limit: string) {
      await db.write.run`
        update account a set is_sync_enabled = false from setup s where s.id = ${made.setupId} and a.id = s.account_id`
      const first = await made.order(wish)
      stubborn.refuses = 'replace'
      const second = await made.move(first, limit, wish)
      stubborn.refuses = null
      return second
    }

    test.each(['4', 'C'] as const)('leaves nothing at work when that ends in %s', async (status) => {
      const made = await scene()
      const moved = await refuseIn(made, { limit: '90' }, '91')
      await endSignal(db.write, moved, status, new Date(clock.time).toISOString())
      await world.drain()
      const working = await db.read
        .rows`select from account_order where setup_id = ${made.setupId} and status = '0'`
      expect(working).toEqual([])
    })

    test('leaves it its grace when that fills', async () => {
      const made = await scene()
      await made.order({ quantity: '4' })
      await refuseIn(made, { side: '2', positionEffect: 'C', limit: '110' }, '105')
      await world.quote(made.symbol, '105', '105')
      expect(await readHeld(world, made.setupId, made.instrumentId)).toBe(4)
      clock.time += minute
      await world.drain()
      await world.quote(made.symbol, '105', '105')
      expect(await readHeld(world, made.setupId, made.instrumentId)).toBe(2)
    })
  })

  test.each([
    ['like its signal', 1],
    ['whose price its holder has changed', 5],
  ])(
    'of an exit %s that works for more than is held is asked for once, also while AutoSync is off',
    async (_, type) => {
      const { brokerId, setupId, instrumentId, symbol, order, sell } = await scene()
      await order({ quantity: '4' })
      await db.write.run`
        update account a set is_sync_enabled = false from setup s where s.id = ${setupId} and a.id = s.account_id`
      await sell({ limit: '110' })
      await sell({ stop: '90' })
      await db.write.run`
        update account_order set signal_type = ${type} where setup_id = ${setupId} and stop_px = 90`
      const { accountId, clientOrderId } = await db.read.one<{ accountId: number; clientOrderId: string }>`
        select o.account_id as "accountId", p.client_order_id as "clientOrderId"
        from account_order o join paper_order p on p.account_id = o.account_id and p.limit_px = 110
        where o.setup_id = ${setupId} and o.limit_px = 110`
      stubborn.refuses = 'replace'
      const execution = { brokerId, accountId, clientOrderId, symbol, side: '2', px: dec(110) } as const
      await paper.controls.execution(ctx, { ...execution, quantity: dec(3) })
      await world.drain()
      expect(await readHeld(world, setupId, instrumentId)).toBe(1)
      await look(setupId)
      expect(asked()).toEqual(['1 @90'])
    },
  )
})

describe('a cancel that a broker refuses when the setup is stopped', () => {
  async function stop(positionsLeftOpen: boolean) {
    const made = await scene()
    await made.order({ quantity: '4' })
    await made.sell({ limit: '110' })
    await made.order({ limit: '90' })
    stubborn.refuses = 'cancel'
    await stopSetup(db.write, made.setupId, { leftVersion: 2, stoppedAt: clock.time, positionsLeftOpen })
    await world.drain()
    return made
  }
  const working = (setupId: number) =>
    db.read.rows`select source from account_order where setup_id = ${setupId} and status in ('0', '6')`

  test.each([
    ['left open', true, 4],
    ['closed', false, 0],
  ])('is asked for each minute until it says yes: positions are to be %s', async (_, isLeftOpen, left) => {
    const { setupId, instrumentId, symbol } = await stop(isLeftOpen)
    expect(stubborn.asked).toHaveLength(2)
    clock.time += minute - 1
    await world.drain()
    expect(stubborn.asked).toHaveLength(2)
    for (const times of [4, 6]) {
      clock.time += minute
      await world.drain()
      expect(stubborn.asked).toHaveLength(times)
    }
    expect(await working(setupId)).toHaveLength(2)
    stubborn.refuses = null
    clock.time += minute
    await world.drain()
    await world.quote(symbol, '100', '100')
    expect(await working(setupId)).toEqual([])
    expect(await readHeld(world, setupId, instrumentId)).toBe(left)
  })
})

afterEach(async () => {
  stubborn.refuses = null
  await world.drain()
  expect(await accountViolations(world)).toEqual([])
})
