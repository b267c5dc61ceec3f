/** What waits to be sent while a switch is turned, or a position goes: the claim holds it against what is so by then. */
import { expect, test } from 'vitest'
import { dec } from '../../src/domain/decimal.ts'
import { sendOrders } from '../../src/execution/mirror/sender.ts'
import { identifier } from '../../src/storage/database/sql.ts'
import { testDatabase } from '../support/database.ts'
import { leaveStrategy } from '../support/followers.ts'
import { accountViolations, readHeld, readOrders } from './account-world.ts'
import { makeSenderWorld } from './sender-world.ts'
import { addInstrument, endSignal, place } from './world.ts'

const { db } = await testDatabase()
const world = makeSenderWorld(db)
const { ctx, paper, scene, mirror, accepted, spy } = world

const enable = (brokerId: number, isEnabled: boolean) =>
  db.write.run`update broker set is_enabled = ${isEnabled} where id = ${brokerId}`

/** Its holder has subscribed to the strategy, and does no longer. */
const lapse = (setupId: number) => db.write.run`
  insert into subscription (site_id, person_id, strategy_id, kind, status, base_price, started_at, term_started_at,
    term_ends_at, ended_at, end_reason)
  select a.site_id, a.person_id, t.strategy_id, 'paper', 'ended', 0, now(), now(), now() + interval '1 day', now(), 'unpaid'
  from setup t join account a on a.id = t.account_id where t.id = ${setupId}`

test.each([
  [
    'its class is off',
    (id: number) => db.write.run`update setup set futures_enabled = false where id = ${id}`,
  ],
  [
    'its direction is off',
    (id: number) => db.write.run`update setup set futures_long = false where id = ${id}`,
  ],
  [
    'it only closes',
    (id: number) => db.write.run`update setup set closing_orders_only = true where id = ${id}`,
  ],
  ['its subscription has lapsed', lapse],
])('an opening order is not sent when %s by then, what closes is', async (_, turn) => {
  const { setupIds, setupId, instrumentId, buy, sell } = await scene()
  await buy()
  await world.drain()
  await buy('2')
  await mirror()
  await sell('1')
  await mirror()
  await turn(setupId)
  // Before AutoSync has seen it.
  await sendOrders(ctx, 'paper', paper.broker)
  await world.drain()
  expect(await accepted(setupIds)).toBe(2)
  expect(await readHeld(world, setupId, instrumentId)).toBe(3)
  expect((await readOrders(world, setupId))[1]).toMatchObject({ status: '4', info: 'no opening orders' })
})

const classes = [
  ['CS', 'stocks'],
  ['OPT', 'options'],
  ['FUT', 'futures'],
  ['FOR', 'forex'],
] as const
const switchesOfClasses = classes.flatMap(([securityType, group]) =>
  (['enabled', 'long', 'short'] as const).map((what) => ({ securityType, group, what })),
)

test.each(switchesOfClasses)(
  'what $group may open is not sent once their switch "$what" is off, what other classes may is',
  async ({ securityType, group, what }) => {
    const { strategyId, setupId } = await scene()
    await db.write.run`update setup set options_short = true where id = ${setupId}`
    const instruments: number[] = []
    for (const [one] of classes) {
      const { id, symbol } = await addInstrument(db, { securityType: one })
      await world.quote(symbol, '99', '100')
      instruments.push(id)
    }
    for (const instrumentId of instruments)
      await place(world, { strategyId, instrumentId, side: what === 'short' ? '2' : '1', quantity: '4' })
    await mirror()
    await db.write.run`update setup set ${identifier(`${group}_${what}`)} = false where id = ${setupId}`
    await sendOrders(ctx, 'paper', paper.broker)
    const { infos } = await db.read.one<{ infos: object }>`
      select jsonb_object_agg(i.security_type, o.info) as infos
      from account_order o join instrument i on i.id = o.instrument_id where o.setup_id = ${setupId}`
    const sent = { CS: null, OPT: null, FUT: null, FOR: null }
    expect(infos).toEqual({ ...sent, [securityType]: 'no opening orders' })
  },
)

const lastExecution = (setupId: number) => db.read.one<{ execId: string }>`
  select exec_id as "execId" from execution where setup_id = ${setupId} order by executed_at desc, id desc limit 1`

/** The broker takes back what it executed. */
async function bust(execId: string): Promise<void> {
  await paper.controls.bust(ctx, execId)
  for (const name of ['paper reports', 'applyReports'])
    await world.steps.find((step) => step.name === name)!.run(ctx)
}

test('what would close is not sent once nothing is held any more', async () => {
  const { setupIds, setupId, instrumentId, buy, sell } = await scene()
  await buy()
  await world.drain()
  await sell('1')
  await mirror()
  await bust((await lastExecution(setupId)).execId)
  await sendOrders(ctx, 'paper', paper.broker)
  expect(await accepted(setupIds)).toBe(1)
  expect(await readHeld(world, setupId, instrumentId)).toBe(0)
  expect((await readOrders(world, setupId))[1]).toMatchObject({
    positionEffect: 'C',
    status: '4',
    info: 'nothing left to close',
  })
})

/** Two orders have bought 4 and 2, and the copy that closes all of it waits to be sent. */
async function waitingClose() {
  const bought = await scene()
  await bought.buy('4')
  await world.drain()
  await bought.buy('2')
  await world.drain()
  await bought.sell('6')
  await mirror()
  return bought
}

test('nor what would close a long position where a short one is held by now', async () => {
  const { setupIds, setupId, instrumentId, buy, sell } = await scene()
  await buy()
  await world.drain()
  const { execId } = await lastExecution(setupId)
  await sell('2')
  await world.drain()
  await sell('1')
  await mirror()
  await bust(execId)
  expect(await readHeld(world, setupId, instrumentId)).toBe(-2)
  await sendOrders(ctx, 'paper', paper.broker)
  expect(await accepted(setupIds)).toBe(2)
  expect((await readOrders(world, setupId))[2]).toMatchObject({ status: '4', info: 'nothing left to close' })
})

test('what would close more than is held closes what is held', async () => {
  const { setupId, instrumentId } = await waitingClose()
  await bust((await lastExecution(setupId)).execId)
  await sendOrders(ctx, 'paper', paper.broker)
  await world.drain()
  expect(await readHeld(world, setupId, instrumentId)).toBe(0)
  expect((await readOrders(world, setupId))[2]).toMatchObject({
    positionEffect: 'C',
    status: '2',
    orderQty: 4,
    cumQty: 4,
  })
})

test('what may have arrived already is not cut any more', async () => {
  const { setupId } = await waitingClose()
  let arrive = async (): Promise<unknown> => undefined
  const late = spy((calls) => ({
    place: (own, id, tickets, until) => {
      arrive = () => calls.place(own, id, tickets, until)
      return Promise.reject(new Error('time-out'))
    },
    find: async (...asked) => {
      await arrive()
      return calls.find(...asked)
    },
  }))
  await sendOrders(ctx, 'paper', late.broker)
  await bust((await lastExecution(setupId)).execId)
  await world.expireClaims()
  await sendOrders(ctx, 'paper', late.broker)
  await world.drain()
  expect(late.placed).toHaveLength(1)
  expect((await readOrders(world, setupId))[2]).toMatchObject({ status: '2', orderQty: 6, cumQty: 6 })
})

test('nor does what replaces an order that closes, of which some is executed', async () => {
  const { setupId, strategyId, instrumentId, symbol, buy } = await scene()
  await buy('4')
  await world.drain()
  await buy('3')
  await world.drain()
  const { execId } = await lastExecution(setupId)
  const exit = { strategyId, instrumentId, side: '2', quantity: '7', positionEffect: 'C' } as const
  const first = await place(world, { ...exit, limit: '110' })
  await world.drain()
  const { accountId, clientOrderId, brokerId } = await db.read.one<{
    accountId: number
    clientOrderId: string
    brokerId: number
  }>`
    select account_id as "accountId", client_order_id as "clientOrderId", broker_id as "brokerId" from paper_order
    where limit_px = 110`
  const execution = { brokerId, accountId, clientOrderId, symbol, side: '2', px: dec('110') } as const
  await paper.controls.execution(ctx, { ...execution, quantity: dec(1) })
  await world.drain()
  await endSignal(db.write, first, '5', new Date(ctx.clock.now()).toISOString())
  await place(world, { ...exit, limit: '111', replaces: first })
  await mirror()
  await bust(execId)
  await sendOrders(ctx, 'paper', paper.broker)
  // Of 4 that were left one is sold.
  expect(await readHeld(world, setupId, instrumentId)).toBe(3)
  expect(
    await db.read.rows`
    select trim_scale(order_qty - cum_qty)::text as works, limit_px::float8 as limit from paper_order
    where account_id = ${accountId} and status in ('0', '1')`,
  ).toEqual([{ works: '3', limit: 111 }])
  expect(await accountViolations(world)).toEqual([])
})

test('what opens does not wait for a disabled broker, what closes does', async () => {
  const { brokerId, setupIds, setupId, instrumentId, buy, sell } = await scene()
  await buy()
  await world.drain()
  await buy('2')
  await mirror()
  await sell('1')
  await mirror()
  await enable(brokerId, false)
  await world.drain()
  expect(await readOrders(world, setupId)).toMatchObject([
    { status: '2' },
    { status: '4', info: 'broker disabled' },
    { positionEffect: 'C', status: 'A' },
  ])
  await enable(brokerId, true)
  await world.drain()
  expect(await accepted(setupIds)).toBe(2)
  expect(await readHeld(world, setupId, instrumentId)).toBe(3)
})

test('what may have arrived at a broker that is disabled is canceled there once it is asked again', async () => {
  const { brokerId, setupId, buy } = await scene()
  await buy('4', '90')
  await mirror()
  const deaf = spy((calls) => ({
    place: async (own, id, tickets, until) => {
      await calls.place(own, id, tickets, until)
      return tickets.map(() => ({ answer: 'unknown' }) as const)
    },
  }))
  await sendOrders(ctx, 'paper', deaf.broker)
  await enable(brokerId, false)
  await world.steps.find((step) => step.name === 'endShutOut paper')!.run(ctx)
  await enable(brokerId, true)
  await world.expireClaims()
  await world.drain()
  expect(await readOrders(world, setupId)).toMatchObject([{ status: '4', cumQty: 0, pendingAction: null }])
})

test('nor does what a sender that is gone, or too late, has left: it does not open when its broker is enabled', async () => {
  const { brokerId, setupIds, setupId, buy } = await scene()
  await buy('4', '90')
  await mirror()
  await db.write.run`
    update account_order set attempts = 1, claimed_until = clock_timestamp() - interval '1 second'
    where setup_id = ${setupId}`
  await enable(brokerId, false)
  await world.drain()
  expect(await readOrders(world, setupId)).toMatchObject([{ status: '6', info: 'broker disabled' }])
  await enable(brokerId, true)
  await world.drain()
  expect(await readOrders(world, setupId)).toMatchObject([{ status: '4', cumQty: 0, pendingAction: null }])
  expect(await accepted(setupIds)).toBe(0)
})

test('a broker that is disabled shuts nobody out at another one', async () => {
  const [shut, open] = [await scene(), await scene()]
  for (const { buy } of [shut, open]) await buy()
  while ((await mirror()) > 0);
  await enable(shut.brokerId, false)
  await world.steps.find((step) => step.name === 'endShutOut paper')!.run(ctx)
  await world.drain()
  expect(await readOrders(world, shut.setupId)).toMatchObject([{ status: '4', info: 'broker disabled' }])
  expect(await readOrders(world, open.setupId)).toMatchObject([{ status: '2', cumQty: 4 }])
})

test('nothing is sent any more when the broker is disabled while its queue is sent', async () => {
  const { brokerId, setupIds, buy, sell } = await scene()
  await buy()
  await world.drain()
  await sell('1')
  await mirror()
  await sell('1')
  await mirror()
  const last = spy((calls) => ({
    place: async (own, id, tickets, until) => {
      await enable(brokerId, false)
      return calls.place(own, id, tickets, until)
    },
  }))
  await sendOrders(ctx, 'paper', last.broker)
  expect(last.placed).toHaveLength(1)
  await enable(brokerId, true)
  await world.drain()
  expect(await accepted(setupIds)).toBe(3)
})

test('what a stopped setup holds again, as its close was taken back, is closed again', async () => {
  const { setupId, instrumentId, buy } = await scene()
  await buy()
  await world.drain()
  await leaveStrategy(db, setupId)
  await world.drain()
  expect(await readHeld(world, setupId, instrumentId)).toBe(0)
  await bust((await lastExecution(setupId)).execId)
  expect(await readHeld(world, setupId, instrumentId)).toBe(4)
  await world.drain()
  expect(await readHeld(world, setupId, instrumentId)).toBe(0)
})

test('a stopped setup is not over while an order of it works: what that buys is to be closed', async () => {
  const { setupId, buy } = await scene()
  await buy('4', '90')
  await world.drain()
  const isOver = () => db.read.one`select closed_at is not null as "isOver" from setup where id = ${setupId}`
  paper.controls.down(true)
  await leaveStrategy(db, setupId)
  await world.drain()
  expect(await isOver()).toEqual({ isOver: false })
  paper.controls.down(false)
  await world.drain()
  expect(await isOver()).toEqual({ isOver: true })
  expect(await readOrders(world, setupId)).toMatchObject([{ status: '4', cumQty: 0 }])
})

test('no rule of the accounts is broken', async () => {
  expect(await accountViolations(world)).toEqual([])
})
