/**
 * Orders of the product over FIX 4.4 against QuickFIX: rows, sessions and messages are real on both sides. At the end
 * the messages that QuickFIX logged are counted.
 */
import { describe, expect, test } from 'vitest'
import { BrokerUnreachable } from '../../src/execution/brokers/broker.ts'
import { publishQuotes } from '../../src/execution/orders/matcher.ts'
import { type FixWorld, makeFixWorld, missing, until } from './fix-world.ts'
import { endSignal, quote } from './world.ts'

const { world, db, exchange, brokerId, worked, scene, sentOrders, booked, expireClaims } =
  missing === null ? await makeFixWorld() : ({} as FixWorld)

describe.skipIf(missing !== null)('orders over FIX against QuickFIX', () => {
  describe('orders', () => {
    test('a market order is filled and booked once', async () => {
      const { order, reaches, id, held, cash, executions } = await scene()
      await order('1', '10')
      await reaches('2')
      expect(await executions()).toEqual(['1 10 @ 100'])
      expect([await held(), await cash()]).toEqual([10, 99_000])
      expect(sentOrders(await id())).toBe(1)
    })

    test('partial fills add up, at their own prices', async () => {
      const { order, orders, reaches, id, executions } = await scene()
      await exchange.tell('mode ack')
      await order('1', '10')
      await reaches('0')
      await exchange.tell(`fill ${await id()} 3 10`)
      await exchange.tell(`fill ${await id()} 2 11.5`)
      await until(worked(async () => (await orders())[0]?.cumQty === 5))
      expect(await orders()).toMatchObject([{ status: '1', cumQty: 5, avgPx: 10.6 }])
      await exchange.tell(`fill ${await id()} 5 12`)
      await reaches('2')
      expect(await executions()).toEqual(['1 3 @ 10', '1 2 @ 11.5', '1 5 @ 12'])
    })

    test('a cancel reaches the order, its id begins with the order’s', async () => {
      const { order, reaches, id } = await scene()
      await exchange.tell('mode ack')
      const signal = await order('1', '10', { limit: '90' })
      await reaches('0')
      await endSignal(db.write, signal, '4', new Date(world.worker.clock.time).toISOString())
      await reaches('4')
      expect(await booked(await id())).toBe('4:0')
      expect(exchange.logged('|35=F|', `|41=${await id()}|`, `|11=${await id()}-`)).toHaveLength(1)
    })

    test('what others may act on by now is not sent any more', async () => {
      const { order, reaches, id, account, accountId } = await scene()
      await exchange.tell('mode ack')
      await order('1', '10', { limit: '90' })
      await reaches('0')
      const { broker, ctx } = world.worker
      const names = [{ accountId, account, clientOrderId: await id() }]
      expect(await broker.cancel(ctx, brokerId, names, performance.now() - 1)).toEqual([{ answer: 'unsent' }])
      expect(await broker.cancel(ctx, brokerId, names, Infinity)).toEqual([{ answer: 'accepted' }])
      expect(exchange.logged('|35=F|', `|41=${await id()}|`)).toHaveLength(1)
    })

    test('a cancel that comes too late leaves the fill', async () => {
      const { order, orders, reaches, id } = await scene()
      await exchange.tell('mode ack')
      const signal = await order('1', '10', { limit: '90' })
      await reaches('0')
      await exchange.tell('mode stubborn')
      await endSignal(db.write, signal, '4', new Date(world.worker.clock.time).toISOString())
      await until(worked(async () => exchange.logged('|35=9|', await id()).length > 0))
      await exchange.tell(`fill ${await id()} 10 90`)
      await expireClaims()
      await reaches('2')
      expect((await orders())[0]).toMatchObject({ status: '2', cumQty: 10 })
      expect(exchange.logged('|35=F|', `|41=${await id()}|`).length).toBeLessThan(5)
    })

    test('a replacement takes over what was filled', async () => {
      const { order, orders, reaches, id, account, accountId } = await scene()
      await exchange.tell('mode ack')
      const signal = await order('1', '10', { limit: '90' })
      await reaches('0')
      await exchange.tell(`fill ${await id()} 4 90`)
      await reaches('1')
      await endSignal(db.write, signal, '5', new Date(world.worker.clock.time).toISOString())
      await order('1', '10', { limit: '95', replaces: signal })
      await reaches('5')
      await reaches('1', 1)
      expect(await orders()).toMatchObject([
        { status: '5', cumQty: 4 },
        { status: '1', cumQty: 4, limitPx: 95 },
      ])
      const names = [{ accountId, account, clientOrderId: await id(1) }]
      const [standing] = await world.worker.broker.find(world.worker.ctx, brokerId, names)
      expect(standing).toEqual({ status: '1', cumQty: '0', avgPx: null })
      await exchange.tell(`fill ${await id(1)} 6 95`)
      await reaches('2', 1)
    })

    test('a replacement of one that was sent anew takes over no more than that one has filled', async () => {
      const { order, orders, held, reaches, id, account, accountId, symbol } = await scene()
      const { clock, ctx } = world.worker
      const now = () => new Date(clock.time).toISOString()
      await order('1', '10')
      await publishQuotes(ctx, [quote(symbol, '99', '100', clock.now())])
      await reaches('2')
      await exchange.tell('mode ack')
      const exit = await order('2', '10', { limit: '110' })
      await reaches('0', 1)
      await exchange.tell(`fill ${await id(1)} 3 110`)
      await reaches('1', 1)
      await exchange.tell(`cancel ${await id(1)}`)
      await reaches('4', 1)
      // AutoSync closes what is left.
      clock.time += 61_000
      await reaches('1', 2)
      await exchange.tell(`fill ${await id(2)} 2 110`)
      await until(worked(async () => (await orders())[2]?.cumQty === 5))
      await endSignal(db.write, exit, '5', now())
      await order('2', '10', { limit: '115', replaces: exit })
      await reaches('1', 3)
      expect(await orders()).toMatchObject([
        { status: '2' },
        { status: '4', cumQty: 3 },
        { status: '5', cumQty: 5 },
        { status: '1', cumQty: 5 },
      ])
      const names = [{ accountId, account, clientOrderId: await id(3) }]
      const [standing] = await world.worker.broker.find(ctx, brokerId, names)
      expect(standing).toEqual({ status: '1', cumQty: '0', avgPx: null })
      for (let minutes = 0; minutes < 3; minutes += 1) {
        clock.time += 61_000
        await world.worker.drain()
      }
      expect(await held()).toBe(5)
    })

    test('a refusal ends the order with the broker’s words', async () => {
      const { order, orders, reaches } = await scene()
      await exchange.tell('mode reject margin')
      await order('1', '10')
      await reaches('8')
      expect(await orders()).toMatchObject([{ status: '8', rejectText: 'margin', pendingAction: null }])
    })

    test('an unasked cancel and a bust are believed', async () => {
      const { order, reaches, id, held } = await scene()
      await exchange.tell('mode ack')
      await order('1', '10', { limit: '90' })
      await reaches('0')
      await exchange.tell(`fill ${await id()} 4 90`)
      await exchange.tell(`cancel ${await id()}`)
      await reaches('4')
      expect(await held()).toBe(4)
      const execution = exchange.events.findLast((event) => event.startsWith('execution '))?.slice(10)
      await exchange.tell(`bust ${execution}`)
      await until(worked(async () => (await held()) === 0))
    })
  })

  describe('a connection that breaks between order and answer', () => {
    test('what was reported meanwhile is told again, the order is not', async () => {
      const { order, reaches, id, executions } = await scene()
      await exchange.tell('mode drop-told')
      await order('1', '10')
      await world.worker.drain()
      expect(world.worker.broker.isUp()).toBe(false)
      await world.worker.up()
      await reaches('2')
      expect(await executions()).toEqual(['1 10 @ 100'])
      expect(sentOrders(await id())).toBe(1)
      expect(exchange.logged('|35=8|', '|43=Y|', `|11=${await id()}|`)).not.toHaveLength(0)
    })

    test('an order of which nothing is ever told is found by its id', async () => {
      const { order, orders, reaches, id } = await scene()
      await exchange.tell('mode drop-untold')
      await order('1', '10')
      await world.worker.drain()
      expect(await orders()).toMatchObject([{ status: 'A', pendingAction: 'new', attempts: 1 }])
      await world.worker.up()
      await expireClaims()
      await world.worker.drain()
      expect(await orders()).toMatchObject([{ status: 'A', pendingAction: null }])
      expect([sentOrders(await id()), await booked(await id())]).toEqual([1, '0:0'])
      await exchange.tell(`fill ${await id()} 10 100`)
      await reaches('2')
    })

    test('an order that never arrived is sent again under the same id', async () => {
      const { order, orders, reaches, id, executions } = await scene()
      await exchange.tell('mode drop-lost')
      await order('1', '10')
      await world.worker.drain()
      expect(await orders()).toMatchObject([{ status: 'A', pendingAction: 'new', attempts: 1 }])
      await world.worker.up()
      await expireClaims()
      await reaches('2')
      expect(await executions()).toEqual(['1 10 @ 100'])
      expect(sentOrders(await id())).toBe(2)
      expect(exchange.logged('|35=D|', '|43=Y|')).toEqual([])
    })

    test('silence leaves an order unknown, and nothing more opens there', async () => {
      const { order, orders, reaches, id } = await scene()
      await exchange.tell('mode mute')
      await order('1', '10')
      await world.worker.drain()
      expect(await orders()).toMatchObject([{ status: 'A', pendingAction: 'new' }])
      expect(await db.read.rows`select 1 from account_order where unknown_at is not null`).toHaveLength(1)
      await expireClaims()
      await world.worker.drain()
      await exchange.tell(`fill ${await id()} 10 100`)
      await reaches('2')
      expect(sentOrders(await id())).toBe(1)
    })

    test('a refusal of another message about the order is none of the order', async () => {
      const { order, orders, reaches, id } = await scene()
      await exchange.tell('mode mute')
      await order('1', '10')
      const working = world.worker.drain()
      await until(async () => exchange.events.includes(`in D ${await id()}`))
      const name = await id()
      await exchange.tell(`say j 45=1|372=H|379=${name}|380=3|58=no questions`)
      await working
      expect(await orders()).toMatchObject([{ status: 'A', pendingAction: 'new' }])
      await exchange.tell(`fill ${name} 10 100`)
      await reaches('2')
    })

    test('a refusal of the order’s own message, without an id, ends it', async () => {
      const { order, reaches, orders, id } = await scene()
      await exchange.tell('mode mute')
      await order('1', '10')
      const working = world.worker.drain()
      await until(async () => exchange.events.includes(`in D ${await id()}`))
      const [line = ''] = exchange.logged('|35=D|', `|11=${await id()}|`)
      await exchange.tell(`say j 45=${/\|34=(\d+)/.exec(line)?.[1]}|372=D|380=3|58=no orders`)
      await working
      await reaches('8')
      expect(await orders()).toMatchObject([{ rejectText: 'no orders' }])
    })
  })

  describe('questions', () => {
    test('an order that the broker does not have is absent, and a session that is down tells nothing', async () => {
      const { order, reaches, id, account, accountId } = await scene()
      await exchange.tell('mode drop-lost')
      await order('1', '10')
      await world.worker.drain()
      const names = [{ accountId, account, clientOrderId: await id() }]
      await expect(world.worker.broker.find(world.worker.ctx, brokerId, names)).rejects.toThrow(
        BrokerUnreachable,
      )
      await expect(world.worker.broker.snapshot(world.worker.ctx, [names[0]!.accountId])).rejects.toThrow(
        BrokerUnreachable,
      )
      await world.worker.up()
      expect(await world.worker.broker.find(world.worker.ctx, brokerId, names)).toEqual([null])
      await expireClaims()
      await reaches('2')
      expect(await world.worker.broker.find(world.worker.ctx, brokerId, names)).toEqual([
        { status: '2', cumQty: '10', avgPx: '100' },
      ])
    })

    test('an account is told whole: what it holds and what it works', async () => {
      const { order, reaches, id, accountId, symbol } = await scene()
      const empty = await world.worker.broker.snapshot(world.worker.ctx, [accountId])
      expect(empty).toEqual([{ accountId, positions: new Map(), working: [], balance: null }])
      await order('1', '10')
      await reaches('2')
      await exchange.tell('mode ack')
      await order('1', '4', { limit: '90' })
      await reaches('0', 1)
      expect(await world.worker.broker.snapshot(world.worker.ctx, [accountId])).toEqual([
        {
          accountId,
          positions: new Map([[symbol, '10']]),
          working: [{ clientOrderId: await id(1), status: '0', cumQty: '0', avgPx: null }],
          balance: null,
        },
      ])
    })

    test('an account of which nothing is told is left out, and the others are told', async () => {
      const { account, accountId } = await scene()
      const other = await scene()
      // Such a number cannot be said in FIX.
      await db.write.run`update account set account = ${`${account}é`} where id = ${accountId}`
      const { broker, ctx } = world.worker
      const told = await broker.snapshot(ctx, [other.accountId, accountId])
      expect(told.map((one) => one.accountId)).toEqual([other.accountId])
      await db.write.run`update account set account = ${account} where id = ${accountId}`
    })

    test('what a replaced order executed unheard is made up for once, not for its replacement as well', async () => {
      const { order, reaches, id, held, executions } = await scene()
      await exchange.tell('mode ack')
      const signal = await order('1', '10', { limit: '90' })
      await reaches('0')
      await exchange.tell(`untold ${await id()} 4 90`)
      await endSignal(db.write, signal, '5', new Date(world.worker.clock.time).toISOString())
      await order('1', '10', { limit: '95', replaces: signal })
      await reaches('5')
      await exchange.tell(`fill ${await id(1)} 2 95`)
      await until(worked(async () => (await held()) === 2))
      for (let minutes = 0; minutes < 4; minutes += 1) {
        world.worker.clock.time += 61_000
        await world.worker.drain()
      }
      expect(await executions()).toEqual(['1 2 @ 95', '1 4 @ 90'])
      expect(await held()).toBe(6)
    })

    test('accounts agree with the broker’s word', async () => {
      world.worker.clock.time += 61_000
      await world.worker.drain()
      const gaps = await db.read.rows`select * from position_gap where difference <> 0`
      expect(gaps).toEqual([])
    })
  })
})
