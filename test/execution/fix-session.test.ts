/**
 * The FIX session against QuickFIX: numbers that are lost, doubled or used before, workers that die and follow each
 * other, and reports that cannot be. Nothing is lost, booked twice or sent twice.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { requestFixReset } from '../../src/storage/brokers/fix-sessions.ts'
import { listSilentBrokers } from '../../src/storage/brokers/reconciliation.ts'
import { DatabaseUnavailable } from '../../src/storage/database/failure.ts'
import { leapNumbers } from '../../src/storage/work/numbers.ts'
import { readIncidents } from './account-world.ts'
import { connection, type FixWorld, makeFixWorker, makeFixWorld, missing, until } from './fix-world.ts'

const { world, db, exchange, brokerId, restart, worked, scene, sentOrders } =
  missing === null ? await makeFixWorld() : ({} as FixWorld)

describe.skipIf(missing !== null)('a FIX session with QuickFIX', () => {
  describe('the session', () => {
    test('each report sent twice is booked once', async () => {
      const { order, reaches, executions } = await scene()
      await exchange.tell('mode twice')
      await order('1', '10')
      await reaches('2')
      await world.worker.drain()
      expect(await executions()).toEqual(['1 10 @ 100'])
    })

    test('a possible duplicate with a number of the past is passed over', async () => {
      const { order, reaches, executions } = await scene()
      await order('1', '10')
      await reaches('2')
      await exchange.tell('again')
      await order('1', '5')
      await reaches('2', 1)
      expect(await executions()).toEqual(['1 10 @ 100', '1 5 @ 100'])
      expect(world.worker.broker.isUp()).toBe(true)
    })

    test('of a broker that tells no positions is not taken for silent', async () => {
      await scene()
      await db.write.run`delete from reconciliation`
      const since = world.worker.clock.time
      await restart(undefined, { tellsPositions: false })
      await world.worker.drain()
      expect(await db.read.rows`select broker_id from reconciliation where answered_at is not null`).toEqual([
        { broker_id: brokerId },
      ])
      expect(await listSilentBrokers(db.read, since)).toEqual([])
      await restart()
    })

    test('a number left out is asked for and filled', async () => {
      const { order, reaches, executions } = await scene()
      await order('1', '10')
      await reaches('2')
      const before = exchange.counts().received['2'] ?? 0
      await exchange.tell('skip')
      await order('1', '5')
      await reaches('2', 1)
      expect(exchange.counts().received['2']).toBe(before + 1)
      expect(exchange.logged('|35=4|', '|49=EXCHANGE|', '|123=Y|')).not.toHaveLength(0)
      expect(await executions()).toEqual(['1 10 @ 100', '1 5 @ 100'])
    })

    test('what was executed while no worker was there is asked for by the next', async () => {
      const { order, reaches, id, executions } = await scene()
      await exchange.tell('mode ack')
      await order('1', '10', { limit: '90' })
      await reaches('0')
      const name = await id()
      await restart(async () => {
        await exchange.tell(`fill ${name} 4 90`)
        await exchange.tell(`fill ${name} 6 89`)
      })
      await reaches('2')
      expect(await executions()).toEqual(['1 4 @ 90', '1 6 @ 89'])
      expect(sentOrders(name)).toBe(1)
    })

    test('a platform that was put back to an older state goes on where the broker is', async () => {
      const { order, reaches, id, executions } = await scene()
      await exchange.tell('mode ack')
      await order('1', '10', { limit: '90' })
      await reaches('0')
      const name = await id()
      const { next } = await db.read.one<{ next: number }>`select next_inbound as next from fix_session`
      await exchange.tell(`fill ${name} 10 90`)
      await reaches('2')
      const booked = (await executions()).length
      await restart(async () => {
        await db.write.run`update fix_session set next_inbound = ${next}::bigint, next_outbound = 1`
        await leapNumbers(db.write, Date.now())
      })
      await exchange.tell('mode fill')
      await order('1', '5')
      await reaches('2', 1)
      expect(await executions()).toHaveLength(booked + 1)
      expect(sentOrders(name)).toBe(1)
    })

    test('after a crash everything comes again and nothing is booked twice or sent twice', async () => {
      const { order, reaches, held } = await scene()
      await order('1', '10')
      await reaches('2')
      const count = async () => (await db.read.rows`select 1 from execution`).length
      const [known, orders] = [await count(), exchange.logged('|35=D|').length]
      // As a worker leaves it that dies before it books anything, with numbers set aside.
      await restart(
        () => db.write.run`update fix_session set next_inbound = 1, next_outbound = next_outbound + 1000`,
      )
      await world.worker.drain()
      expect([await count(), exchange.logged('|35=D|').length]).toEqual([known, orders])
      await until(() => exchange.logged('|35=4|', '|49=LOCKSTEP|', '|43=Y|', '|123=Y|').length > 0)
      await order('1', '5')
      await reaches('2', 1)
      expect(await held()).toBe(15)
    })

    test('garbled messages and rubbish are survived', async () => {
      const { order, reaches, executions } = await scene()
      await exchange.tell('garble')
      await exchange.tell('rubbish')
      await world.worker.up()
      await order('1', '10')
      await reaches('2')
      expect(await executions()).toEqual(['1 10 @ 100'])
    })

    test('a number used before ends the session with an alarm, until both sides begin anew', async () => {
      const { order, reaches } = await scene()
      await order('1', '10')
      await reaches('2')
      await exchange.tell('number 1')
      await exchange.tell('say B 148=news')
      await until(() => !world.worker.broker.isUp())
      await until(async () => (await readIncidents(world.worker)).includes('FixSequenceBroken'))
      const logOns = () => exchange.logged('|35=A|', '|49=LOCKSTEP|').length
      const before = logOns()
      // Three times as long as it takes to come again where a connection is merely lost.
      await delay(3_000)
      expect(logOns()).toBe(before)
      expect((await readIncidents(world.worker)).filter((kind) => kind === 'FixSequenceBroken')).toHaveLength(
        1,
      )
      expect(await requestFixReset(db.write, connection)).toBe(true)
      await world.worker.up()
      expect(exchange.logged('|35=A|', '|49=LOCKSTEP|', '|34=1|', '|141=Y|')).toHaveLength(1)
      await order('1', '5')
      await reaches('2', 1)
    })

    test('a worker whose session was broken goes on where another has begun anew meanwhile', async () => {
      const { order, reaches } = await scene()
      const first = world.worker
      for (const place of [0, 1, 2]) {
        await order('1', '5')
        await reaches('2', place)
      }
      await exchange.tell('number 1')
      await exchange.tell('say B 148=news')
      await until(async () => (await readIncidents(first)).includes('FixSequenceBroken'))
      const second = await makeFixWorker(db, exchange.port, 'after-break')
      await second.drain()
      await until(async () => {
        await db.write.run`
          update lease set expires_at = '-infinity' where name = ${`fix:${connection}`} and holder = ${first.ctx.workerId}`
        return first.broker.isElsewhere?.() === true && second.broker.isElsewhere?.() === false
      })
      await requestFixReset(db.write, connection)
      await second.up()
      await until(
        async () => !(await db.read.one<{ due: boolean }>`select is_reset_due as due from fix_session`).due,
      )
      await second.broker.close()
      await first.up()
      await order('1', '5')
      await reaches('2', 3)
    })

    test('a broker to which our numbers are too low is told of once, however often it says so', async () => {
      const told = async () =>
        (await readIncidents(world.worker)).filter((kind) => kind === 'FixLoggedOut').length
      await restart(() => db.write.run`update fix_session set next_outbound = next_outbound + 1000`)
      const before = await told()
      await restart(async () => {
        await db.write.run`update fix_session set next_outbound = 1`
        const early = await makeFixWorker(db, exchange.port, 'early')
        let refusals = 0
        early.ctx.log = { ...early.ctx.log, error: () => (refusals += 1) }
        await early.drain()
        await until(() => refusals > 2)
        await early.broker.close()
        expect(await told()).toBe(before + 1)
        await db.write.run`update fix_session set next_outbound = 100000`
      })
    })

    test('a session that starts anew each day does so at its time, and keeps its numbers until then', async () => {
      const restarts = () => exchange.logged('|35=A|', '|49=LOCKSTEP|', '|34=1|', '|141=Y|').length
      const daily = { startsDaily: '17:00 America/New_York' }
      const before = restarts()
      await restart(() => db.write.run`update fix_session set started_at = null`, daily)
      await restart(undefined, daily)
      expect(restarts()).toBe(before + 1)
      world.worker.clock.time += 24 * 60 * 60_000
      await until(() => restarts() === before + 2)
      await world.worker.up()
      const { order, reaches } = await scene()
      await order('1', '10')
      await reaches('2')
    })

    test('an alarm is told when the database is back', async () => {
      const { ctx } = world.worker
      const told = async () =>
        (await readIncidents(world.worker)).filter((kind) => kind === 'FixLoggedOut').length
      const before = await told()
      let refused = 0
      const run = (): Promise<number> => {
        refused += 1
        return Promise.reject(new DatabaseUnavailable('it is away'))
      }
      ctx.db = { ...db, write: { ...db.write, run } }
      await exchange.tell('say 5 58=closed for tests')
      await until(() => refused > 0)
      ctx.db = db
      await until(async () => (await told()) === before + 1)
      await world.worker.up()
    })

    test('a broker that cannot be reached costs no numbers', async () => {
      const numbers = () => db.read.rows`select next_inbound, next_outbound from fix_session`
      await restart(async () => {
        const before = await numbers()
        const lost = await makeFixWorker(db, 1, 'lost')
        let failures = 0
        lost.ctx.log = { ...lost.ctx.log, warn: () => (failures += 1) }
        await lost.drain()
        await until(() => failures > 1)
        expect(lost.broker.isUp()).toBe(false)
        await lost.broker.close()
        expect(await numbers()).toEqual(before)
      })
    })

    test('of two workers one speaks, the other takes over', async () => {
      const { order, reaches } = await scene()
      const second = await makeFixWorker(db, exchange.port, 'other')
      await second.drain()
      expect([second.broker.isUp(), second.broker.isElsewhere?.()]).toEqual([false, true])
      expect([world.worker.broker.isUp(), world.worker.broker.isElsewhere?.()]).toEqual([true, false])
      await world.worker.broker.close()
      world.worker = second
      await world.worker.up()
      await order('1', '10')
      await reaches('2')
    })
  })

  describe('reports that cannot be', () => {
    test.each([
      ['a quantity that is none', '32=NaN|31=100|54=1|1=OWN', 'MalformedReport'],
      ['a price that is none', '32=5|31=Infinity|54=1|1=OWN', 'MalformedReport'],
      ['no price', '32=5|54=1|1=OWN', 'MalformedReport'],
      ['an unknown side', '32=5|31=100|54=x|1=OWN', 'MalformedReport'],
      ['an account that is not ours', '32=5|31=100|54=1|1=SOMEBODY', 'ForeignReport'],
      ['neither account nor order', '32=5|31=100|54=1', 'ForeignReport'],
      ['an order of another account', '32=5|31=100|54=1|1=OWN|11=OTHER', 'ForeignReport'],
    ])('%s is parked', async (_, fields, kind) => {
      const other = await scene()
      await other.order('1', '10')
      await other.reaches('2')
      const { order, reaches, held, account, accountId, symbol, executions } = await scene()
      const before = await readIncidents(world.worker)
      const told = fields.replace('=OWN', `=${account}`).replace('=OTHER', `=${await other.id()}`)
      await exchange.tell(`say 8 17=BAD-${accountId}|150=F|39=2|55=${symbol}|60=20240312-14:00:00|${told}`)
      await until(async () => (await readIncidents(world.worker)).length > before.length)
      expect((await readIncidents(world.worker)).slice(before.length)).toEqual([kind])
      expect([await executions(), await other.executions()]).toEqual([[], ['1 10 @ 100']])
      await order('1', '10')
      await reaches('2')
      expect(await held()).toBe(10)
    })

    test('an order that is worked by hand is no execution while it executes nothing', async () => {
      const { account, symbol, order, reaches, accountId } = await scene()
      const before = await readIncidents(world.worker)
      for (const type of ['0', '4', '8', 'C'])
        await exchange.tell(
          `say 8 17=HAND-${accountId}-${type}|150=${type}|39=${type}|55=${symbol}|60=20240312-14:00:00|54=1|11=BY-HAND|1=${account}`,
        )
      await order('1', '10')
      await reaches('2')
      expect((await readIncidents(world.worker)).slice(before.length)).toEqual([])
    })

    test('an execution of nobody’s is the account’s own and ends AutoSync', async () => {
      const { account, accountId, symbol, executions } = await scene()
      await exchange.tell(
        `say 8 17=OWN-1|150=F|39=2|55=${symbol}|60=20240312-14:00:00|32=5|31=100|54=1|11=BY-HAND|1=${account}`,
      )
      await until(worked(async () => (await executions()).length === 1))
      expect(await db.read.one`select is_sync_enabled as sync from account where id = ${accountId}`).toEqual({
        sync: false,
      })
    })
  })
})
