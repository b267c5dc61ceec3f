/** A split that is entered after its day, where what was held at its opening has been traded to flat since. */
import { expect, test } from 'vitest'
import { dec } from '../../src/domain/decimal.ts'
import { bookActions } from '../../src/execution/orders/corporate-actions.ts'
import { enterActions } from '../../src/execution/orders/enter-actions.ts'
import { publishQuotes } from '../../src/execution/orders/matcher.ts'
import { resetPaperAccount } from '../../src/storage/brokers/paper-resets.ts'
import { insertReports } from '../../src/storage/brokers/report-intake.ts'
import { testDatabase } from '../support/database.ts'
import { addBroker } from '../support/followers.ts'
import { holdTable, untilWaiting } from '../support/locks.ts'
import { makeScene } from './account-scene.ts'
import {
  accountViolations,
  makeAccountWorld,
  platformViolations,
  readBroker,
  readIncidents,
} from './account-world.ts'
import { addInstrument, opening, place, quote } from './world.ts'

const { db } = await testDatabase()
const brokerId = await addBroker(db)
const world = makeAccountWorld(db)
const scene = makeScene(world, brokerId)

test.each([
  ['flat since', '100', 100],
  ['flat in between', '0', 200],
])(
  'a ledger that was traded as if nothing had been split, and is %s, has what it added',
  async (_, sold, left) => {
    world.clock.time = opening - 100_000
    const { accountId, setupId, symbol, order, held, cash } = await scene()
    await db.write.run`update account set is_sync_enabled = false where id = ${accountId}`
    await world.quote(symbol, '40', '40')
    await order('1', '50')
    await world.drain()
    await world.quote(symbol, '60', '60')
    await order('1', '50')
    await world.drain()
    world.clock.time = opening + 86_400_000
    await world.quote(symbol, '25', '25')
    await order('2', '100')
    await world.drain()
    if (sold === '0') {
      await order('1', '100')
      await world.drain()
    }
    const before = await cash()
    const told = (await readIncidents(world)).length
    const split = { kind: 'split', symbol, day: '2024-03-13', new: dec(2), old: dec(1) } as const
    await enterActions(world.ctx, [split])
    await bookActions(world.ctx)
    expect([await held(), await readBroker(world, setupId, symbol), await cash()]).toEqual([
      left,
      left,
      before,
    ])
    const [row] = await db.read.rows`
    select avg_px::float8 as px, opened_at < '2024-03-13' as "isOld" from account_position
    where account_id = ${accountId} and quantity <> 0`
    // 50 at 40 and 50 at 60 are 200 at 25.
    expect(row).toEqual({ px: 25, isOld: true })
    expect((await readIncidents(world)).slice(told)).toEqual(['SplitMissed'])
    expect(await accountViolations(world)).toEqual([])
  },
)

test.each([
  ['split', { new: dec(2), old: dec(1) }],
  ['dividend', { amount: dec(1) }],
] as const)('an account that has begun anew since has nothing of a late %s', async (kind, numbers) => {
  world.clock.time = opening - 100_000
  const { accountId, setupId, symbol, order, held, cash } = await scene()
  await db.write.run`update account set is_sync_enabled = false where id = ${accountId}`
  await world.quote(symbol, '50', '50')
  await order('1', '100')
  await world.drain()
  world.clock.time = opening + 86_400_000
  await world.quote(symbol, '25', '25')
  await db.transaction((tx) =>
    resetPaperAccount(tx, accountId, { at: world.clock.time, environment: world.ctx.settings.environment }),
  )
  const before = await cash()
  await enterActions(world.ctx, [{ kind, symbol, day: '2024-03-13', ...numbers }])
  await bookActions(world.ctx)
  expect([await held(), await readBroker(world, setupId, symbol), await cash()]).toEqual([0, 0, before])
  expect(await accountViolations(world)).toEqual([])
})

test('what an earlier split has cut off is no part of an average', async () => {
  world.clock.time = opening - 86_400_000
  const { accountId, symbol, cash } = await scene()
  await db.write.run`update account set is_sync_enabled = false where id = ${accountId}`
  await world.quote(symbol, '100', '100')
  const about = { brokerId, accountId, clientOrderId: null, symbol, kind: 'fill', text: null } as const
  const trade = async (side: '1' | '2', quantity: string, px: string): Promise<void> => {
    const reportKey = `own${side}${quantity}@${px}`
    await insertReports(db.write, [{ ...about, reportKey, occurredAt: world.clock.time, side, quantity, px }])
    await world.drain()
    world.clock.time += 60_000
  }
  const enter = (day: string, units: number, old: number) =>
    enterActions(world.ctx, [{ kind: 'split', symbol, day, new: dec(units), old: dec(old) }])
  await trade('1', '5', '100')
  await enter('2024-03-12', 3, 2)
  world.clock.time = opening
  await bookActions(world.ctx)
  await trade('2', '7', '70')
  await trade('1', '1', '10')
  world.clock.time = opening + 86_400_000
  await trade('1', '1', '5')
  const before = await cash()
  await enter('2024-03-13', 2, 1)
  await bookActions(world.ctx)
  const [row] = await db.read.rows`
    select quantity::float8 as quantity, avg_px::float8 as px, opened_at = ${new Date(opening + 60_000).toISOString()}::timestamptz as "isOpenedThen"
    from account_position where account_id = ${accountId} and quantity <> 0`
  expect([row, await cash()]).toEqual([{ quantity: 3, px: 5, isOpenedThen: true }, before])
  expect(await platformViolations(world)).toEqual([])
})

test.each([
  ['an order of ours', 'OURS', true],
  ['its owner alone', 'OWN', false],
])(
  'what waits to be booked of an option is not lost when a split lists it anew: told of %s',
  async (_, root, isOurs) => {
    world.clock.time = opening
    const { accountId, setupId, strategyId, symbol } = await scene()
    const { id, symbol: before } = await addInstrument(db, { securityType: 'OPT', symbol: `${root}2418F200` })
    await db.write.run`
    update instrument set underlying = ${symbol}, root = ${root}, put_or_call = '1', strike = 200,
      expiry = '2024-06-21', last_trading_day = '2024-06-21', point_value = 100 where id = ${id}`
    await world.quote(symbol, '200', '200')
    if (isOurs) {
      await place(world, {
        strategyId,
        instrumentId: id,
        side: '1',
        quantity: '3',
        limit: '5',
        goodTillCanceled: true,
      })
      await world.drain()
      await publishQuotes(world.ctx, [quote(before, '4', '5', world.clock.time)])
    } else {
      const traded = { side: '1', quantity: dec(3), px: dec(5), symbol: before, clientOrderId: null } as const
      await world.paper.controls.execution(world.ctx, { ...traded, accountId, brokerId })
    }
    await world.step('paper reports')
    world.clock.time += 86_400_000
    await enterActions(world.ctx, [{ kind: 'split', symbol, day: '2024-03-13', new: dec(2), old: dec(1) }])
    await bookActions(world.ctx)
    await world.drain()
    const ledgers = await db.read.rows`
    select i.symbol, p.setup_id as "setupId", p.quantity::float8 as quantity
    from account_position p join instrument i on i.id = p.instrument_id where p.account_id = ${accountId}`
    const after = `${root}2418F100`
    expect(ledgers).toEqual([{ symbol: after, setupId: isOurs ? setupId : null, quantity: 6 }])
    expect(await readBroker(world, setupId, after)).toBe(6)
  },
)

test('two lists that name one opening by its holiday and by its own day are entered one after the other', async () => {
  const { symbol } = await scene()
  const split = { kind: 'split', symbol, new: dec(2), old: dec(1) } as const
  const list = (day: string) => enterActions(world.ctx, [{ ...split, day }])
  let second: ReturnType<typeof list> | undefined
  await db.transaction(async (tx) => {
    const within = {
      ...world.ctx,
      db: { ...db, transaction: <Told>(run: (own: typeof tx) => Promise<Told>) => run(tx) },
    }
    const first = await enterActions(within, [{ ...split, day: '2024-05-27' }])
    expect(first).toMatchObject({ added: 1, known: 0 })
    second = list('2024-05-28')
    await untilWaiting(db.read)
  })
  expect(await second).toMatchObject({ added: 0, known: 1, faults: [] })
})

test('what is placed while a split waits for its strategy is split as well', async () => {
  world.clock.time = opening
  const { strategyId, instrumentId, symbol } = await scene()
  await world.quote(symbol, '40', '40')
  const option = await addInstrument(db, { symbol: `${symbol}2418F200` })
  await db.write.run`
    update instrument set security_type = 'OPT', underlying = ${symbol}, root = ${symbol}, put_or_call = '1', strike = 200,
      expiry = '2024-06-21', last_trading_day = '2024-06-21', point_value = 100 where id = ${option.id}`
  await db.write.run`
    insert into position (strategy_id, instrument_id, quantity, avg_px) values (${strategyId}, ${option.id}, 1, 3)`
  await enterActions(world.ctx, [{ kind: 'split', symbol, day: '2024-03-13', new: dec(2), old: dec(1) }])
  const letGo = await holdTable(db, 'signal')
  const placing = db.transaction(async (tx) => {
    await tx.run`select from strategy where id = ${strategyId} for no key update`
    const within = { ...world, ctx: { ...world.ctx, db: { ...db, read: tx, write: tx } } }
    return place(within, {
      strategyId,
      instrumentId,
      side: '1',
      quantity: '10',
      limit: '30',
      goodTillCanceled: true,
    })
  })
  await untilWaiting(db.read)
  world.clock.time = Date.parse('2024-03-13T13:30:00Z')
  const booking = bookActions(world.ctx)
  await untilWaiting(db.read, 2)
  await Promise.all([letGo(), booking])
  expect(
    await db.read.one`
      select order_qty::float8 as quantity, limit_px::float8 as px from signal where id = ${await placing}`,
  ).toEqual({ quantity: 20, px: 15 })
})
