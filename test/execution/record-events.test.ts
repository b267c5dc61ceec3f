/**
 * Dividends, splits and executions taken back inside the record: every day is worth its cash and what is held at the
 * marks of that day, changes by its trades and dividends alone, and closing it again changes nothing.
 */
import { expect, test } from 'vitest'
import { dec } from '../../src/domain/decimal.ts'
import { bookActions } from '../../src/execution/orders/corporate-actions.ts'
import { closeDays } from '../../src/execution/orders/daily-close.ts'
import { type EnteredAction, enterActions } from '../../src/execution/orders/enter-actions.ts'
import { resetPaperAccount } from '../../src/storage/brokers/paper-resets.ts'
import { insertReports } from '../../src/storage/brokers/report-intake.ts'
import { correctionKey } from '../../src/storage/brokers/reports.ts'
import { touchAccounts, touchStrategies } from '../../src/storage/work/record-changes.ts'
import { testDatabase } from '../support/database.ts'
import { addBroker } from '../support/followers.ts'
import { makeScene } from './account-scene.ts'
import { accountViolations, makeAccountWorld } from './account-world.ts'
import { close, opening } from './world.ts'

const { db } = await testDatabase()
const brokerId = await addBroker(db)
const world = makeAccountWorld(db)
const { ctx, clock, paper } = world
const scene = makeScene(world, brokerId)
const day = 86_400_000

interface ClosedRow {
  day: string
  cash: string
  value: string
}

async function makeBooks() {
  clock.time = opening - 100_000
  const made = await scene()
  const { strategyId, accountId, setupId, symbol, order } = made
  await db.write.run`
    update strategy set started_at = to_timestamp(${opening}::float8 / 1000) where id = ${strategyId}`
  await db.write.run`
    update account set created_at = to_timestamp(${opening}::float8 / 1000) where id = ${accountId}`
  await db.write.run`
    update strategy_record set next_close_at = to_timestamp(${opening}::float8 / 1000)
    where strategy_id = ${strategyId}`
  await db.write.run`
    update account_record set next_close_at = to_timestamp(${opening}::float8 / 1000)
    where account_id = ${accountId}`
  const rows = (table: 'strategy' | 'account') =>
    table === 'strategy'
      ? db.read.rows<ClosedRow>`
          select day, trim_scale(cash)::text as cash, trim_scale(value)::text as value from strategy_day
          where strategy_id = ${strategyId} order by day`
      : db.read.rows<ClosedRow>`
          select day, trim_scale(cash)::text as cash, trim_scale(value)::text as value from account_day
          where account_id = ${accountId} order by day`
  return {
    strategyId,
    accountId,
    setupId,
    symbol,
    rows,
    held: made.held,
    trade: async (
      side: '1' | '2',
      quantity: string,
      positionEffect: 'O' | 'C' = side === '1' ? 'O' : 'C',
    ) => {
      await order(side, quantity, { positionEffect })
      await world.drain()
    },
    quote: (price: string) => world.quote(symbol, price, price),
    enter: async (action: Omit<EnteredAction, 'symbol'>) => {
      expect((await enterActions(ctx, [{ ...action, symbol }])).faults).toEqual([])
      await bookActions(ctx)
    },
    /** Carries on at 10:00 of the nth day. */
    at: async (place: number) => {
      clock.time = opening + place * day
      await bookActions(ctx)
    },
    close: async (place: number) => {
      clock.time = close + place * day
      await closeDays(ctx, 'strategy')
      await closeDays(ctx, 'account')
    },
    values: async (table: 'strategy' | 'account') => (await rows(table)).map(({ value }) => Number(value)),
    /** Closes everything from the start on once more, at the present moment. */
    again: async () => {
      const before = [await rows('strategy'), await rows('account')]
      await db.transaction(async (tx) => {
        await touchStrategies(tx, [{ id: strategyId, at: opening }], close)
        await touchAccounts(tx, [{ id: accountId, at: opening }])
      })
      await closeDays(ctx, 'strategy')
      await closeDays(ctx, 'account')
      expect([await rows('strategy'), await rows('account')]).toEqual(before)
    },
  }
}

const dividend = (date: string, amount: string) =>
  ({ kind: 'dividend', day: date, amount: dec(amount) }) as const
const split = (date: string, units: string, old: string) =>
  ({ kind: 'split', day: date, new: dec(units), old: dec(old) }) as const

test('a dividend and a split are part of their days, and of no day before them', async () => {
  const { at, quote, trade, enter, close: end, values, again } = await makeBooks()
  await quote('100')
  await trade('1', '101')
  await end(0)
  await at(1)
  await enter(dividend('2024-03-14', '1'))
  await enter(split('2024-03-15', '1', '2'))
  await quote('102')
  await end(1)
  await at(2)
  await quote('103')
  await end(2)
  await at(3)
  // Nobody quotes on the day of the split.
  await end(3)
  await at(6)
  await quote('210')
  await trade('2', '20')
  await end(6)
  // 101 shares; 50 and half a one of 206 in cash.
  const expected = [100_000, 100_202, 100_404, 100_404, 100_604]
  expect([await values('strategy'), await values('account')]).toEqual([expected, expected])
  await again()
})

test('what is entered late counts from its own day on', async () => {
  const { at, quote, trade, enter, close: end, values, again } = await makeBooks()
  await quote('100')
  await trade('1', '100')
  await end(0)
  for (const place of [1, 2]) {
    await at(place)
    await quote(['102', '52'][place - 1] as string)
    await end(place)
  }
  const before = [100_000, 100_200, 95_200]
  expect([await values('strategy'), await values('account')]).toEqual([before, before])
  await enter(dividend('2024-03-13', '0.5'))
  await enter(split('2024-03-14', '2', '1'))
  await end(2)
  const after = [100_000, 100_250, 100_450]
  expect([await values('strategy'), await values('account')]).toEqual([after, after])
  await again()
})

test('an execution that a broker takes back was part of the days until then', async () => {
  const { accountId, at, quote, trade, close: end, values, held, again } = await makeBooks()
  await db.write.run`update account set is_sync_enabled = false where id = ${accountId}`
  await quote('100')
  await trade('1', '10')
  await end(0)
  await at(1)
  await quote('110')
  await trade('1', '10')
  await end(1)
  await at(2)
  const { execId } = await db.read.one<{ execId: string }>`
    select exec_id as "execId" from execution where account_id = ${accountId} and px = 100`
  await paper.controls.bust(ctx, execId)
  await world.drain()
  await quote('120')
  await end(2)
  expect(await held()).toBe(10)
  expect(await values('account')).toEqual([100_000, 100_100, 100_100])
  expect(await values('strategy')).toEqual([100_000, 100_100, 100_300])
  await again()
})

test('a dividend on what is told late is part of its own day', async () => {
  const { at, quote, trade, enter, close: end, values, held, again } = await makeBooks()
  await quote('100')
  paper.controls.hold(true)
  await trade('1', '10')
  await end(0)
  await at(1)
  await enter(dividend('2024-03-13', '1'))
  paper.controls.hold(false)
  await quote('100')
  await end(1)
  expect(await held()).toBe(10)
  expect(await values('account')).toEqual([100_000, 100_010])
  await again()
})

test('what is told late and was taken back by then was never paid a dividend', async () => {
  const { accountId, at, quote, trade, enter, close: end, values, held, again } = await makeBooks()
  await db.write.run`update account set is_sync_enabled = false where id = ${accountId}`
  await quote('100')
  paper.controls.hold(true)
  await trade('1', '10')
  const { execId } = await db.read.one<{ execId: string }>`
    select report_key as "execId" from paper_report where account_id = ${accountId} and kind = 'fill'`
  await paper.controls.bust(ctx, execId)
  await end(0)
  await at(1)
  await enter(dividend('2024-03-13', '1'))
  await enter(split('2024-03-13', '2', '1'))
  paper.controls.hold(false)
  await quote('50')
  await end(1)
  expect(await held()).toBe(0)
  expect(await values('account')).toEqual([100_000, 100_000])
  expect(await accountViolations(world)).toEqual([])
  await again()
})

const taken: [string, '1' | '2', [string, string], number, boolean][] = [
  ['a forward split', '1', ['2', '1'], 0, false],
  ['a reverse split', '1', ['1', '2'], 0, false],
  ['a forward split of a short position', '2', ['2', '1'], 0, false],
  ['a reverse split of a short position', '2', ['1', '2'], 0, false],
  ['a forward split beside what else is held', '1', ['2', '1'], 10, false],
  ['a reverse split beside what else is held', '1', ['1', '2'], 3, false],
  ['a reverse split and only then told', '1', ['1', '2'], 0, true],
]
test.each(taken)(
  'what is taken back after %s was never paid for, nor paid',
  async (_, side, ratio, rest, isHeld) => {
    const books = await makeBooks()
    const { accountId, symbol, at, quote, trade, enter, close: end, values, held, again } = books
    await db.write.run`update account set is_sync_enabled = false where id = ${accountId}`
    await quote('100')
    paper.controls.hold(isHeld)
    await trade(side, '101', 'O')
    await end(0)
    await at(1)
    await quote('110')
    if (rest > 0) await trade(side, String(rest), 'O')
    await end(1)
    await at(2)
    await enter(dividend('2024-03-14', '1'))
    await enter(split('2024-03-14', ...ratio))
    const price = (110 * Number(ratio[1])) / Number(ratio[0])
    await quote(String(price))
    const { execId } = await db.read.one<{ execId: string }>`
    select report_key as "execId" from paper_report
    where account_id = ${accountId} and kind = 'fill' and px = 100`
    await paper.controls.bust(ctx, execId)
    paper.controls.hold(false)
    await world.drain()
    await end(2)
    const units = (rest * Number(ratio[0])) / Number(ratio[1])
    expect(await held()).toBe(Math.trunc(units))
    const average = await db.read.rows<{ px: number }>`
    select round(avg_px, 8)::float8 as px from account_position p join instrument i on i.id = p.instrument_id
    where account_id = ${accountId} and i.symbol = ${symbol} and quantity <> 0`
    expect(average).toEqual(rest > 0 ? [{ px: price }] : [])
    // A dividend of 1 for each of the rest, which has the value that it was bought for.
    expect(await values('account')).toEqual([100_000, 100_000, 100_000 + rest])
    const [snapshot] = await paper.broker.snapshot(ctx, [accountId])
    expect([...(snapshot?.positions.values() ?? [])].map(Number)).toEqual(rest > 0 ? [Math.trunc(units)] : [])
    expect(await accountViolations(world)).toEqual([])
    await again()
  },
)

const corrected: [string, '1' | '2', [string, string], 'at once' | 'one by one', number, number][] = [
  ['a forward split', '1', ['2', '1'], 'at once', 202, 40],
  ['a forward split', '1', ['2', '1'], 'one by one', 202, 40],
  ['a reverse split', '1', ['1', '2'], 'at once', 50, 160],
  ['a reverse split', '1', ['1', '2'], 'one by one', 50, 160],
  ['a forward split of a short position', '2', ['2', '1'], 'at once', -202, 40],
  ['a reverse split of a short position', '2', ['1', '2'], 'one by one', -50, 160],
]
test.each(corrected)('what is corrected after %s (%s, %s, %s) is as if told right', async (...given) => {
  const [, side, ratio, how, units, average] = given
  const books = await makeBooks()
  const { accountId, symbol, at, quote, trade, enter, close: end, values, held, again } = books
  await db.write.run`update account set is_sync_enabled = false where id = ${accountId}`
  await quote('100')
  await trade(side, '101', 'O')
  await end(0)
  await at(1)
  await quote('110')
  await end(1)
  await at(2)
  await enter(dividend('2024-03-14', '1'))
  await enter(split('2024-03-14', ...ratio))
  await quote(String((110 * Number(ratio[1])) / Number(ratio[0])))
  // Told twice: the second correction is one of what the first has put right.
  let wrong = (
    await db.read.one<{ execId: string }>`
      select exec_id as "execId" from execution where account_id = ${accountId}`
  ).execId
  const { clientOrderId } = await db.read.one<{ clientOrderId: string }>`
    select client_order_id as "clientOrderId" from paper_order where account_id = ${accountId}`
  for (const px of ['127', '80']) {
    const right = `${wrong}+`
    const about = { brokerId, accountId, clientOrderId, symbol, occurredAt: clock.time }
    const bust = { ...about, kind: 'bust', reportKey: correctionKey(right), text: wrong } as const
    const fill = { ...about, kind: 'fill', reportKey: right, text: null, side, quantity: '101', px } as const
    await insertReports(db.write, [bust])
    if (how === 'one by one') await world.drain()
    await insertReports(db.write, [fill])
    if (how === 'one by one') await world.drain()
    wrong = right
  }
  await world.drain()
  await end(2)
  expect(await held()).toBe(units)
  expect(
    await db.read.rows`
      select p.avg_px::float8 as held, o.cum_qty::float8 as executed, o.avg_px::float8 as px
      from account_position p join account_order o using (account_id) where account_id = ${accountId}`,
  ).toEqual([{ held: average, executed: 101, px: 80 }])
  const gain = (each: number): number => 100_000 + (side === '1' ? 101 : -101) * each
  expect(await values('account')).toEqual([gain(20), gain(30), gain(31)])
  expect(await accountViolations(world)).toEqual([])
  await again()
})

test('a paper account that begins anew forgets its dividends and splits too', async () => {
  const { accountId, at, quote, trade, enter, close: end, values, held, again } = await makeBooks()
  await db.write.run`update account set is_sync_enabled = false where id = ${accountId}`
  await quote('100')
  await trade('1', '10')
  await end(0)
  await at(1)
  await enter(dividend('2024-03-13', '1'))
  await enter(split('2024-03-13', '2', '1'))
  await quote('55')
  await end(1)
  await at(2)
  await db.transaction((tx) =>
    resetPaperAccount(tx, accountId, { at: clock.time, environment: ctx.settings.environment }),
  )
  await end(2)
  expect(await held()).toBe(0)
  expect(await values('account')).toEqual([100_000, 100_110, 100_000])
  expect(await accountViolations(world)).toEqual([])
  await again()
})
