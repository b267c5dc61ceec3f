/** Dividends and splits through the door: what is refused, and that nothing is booked twice. */
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { dec } from '../../src/domain/decimal.ts'
import { assembleWork } from '../../src/execution/assembly.ts'
import { bookActions } from '../../src/execution/orders/corporate-actions.ts'
import { payDividend } from '../../src/execution/orders/dividends.ts'
import { enterActions } from '../../src/execution/orders/enter-actions.ts'
import { claimAction, settleAction } from '../../src/storage/actions/corporate-actions.ts'
import { silentLog } from '../support/database-server.ts'
import { call, faultsOf, resultsOf } from '../support/http.ts'
import { untilWaiting } from '../support/locks.ts'
import { testPlatform } from '../support/platform.ts'
import { addOwner } from './owner.ts'

const platform = await testPlatform()
const door = (path: string, body?: unknown) =>
  call(platform.url, `/test${path}`, body === undefined ? {} : { body })
const after = Date.parse('2024-03-13T14:00:00Z')
const { ctx } = assembleWork({
  db: platform.db,
  clock: { now: () => after },
  log: silentLog,
  workerId: 'w',
  environment: 'T',
})
let key = ''
let strategyId = 0

/** A strategy that holds a hundred at 100. */
beforeEach(async () => {
  await door('/reset', { now: '2024-03-12T14:00:00Z' })
  await door('/instruments', [
    { symbol: 'AAPL', securityType: 'CS' },
    { symbol: '@ESM24', securityType: 'FUT', pointValue: 50, tick: 0.25 },
  ])
  await door('/quotes', [{ symbol: 'AAPL', bid: 100, ask: 100 }])
  const owner = await addOwner(platform.url)
  key = owner.key
  strategyId = owner.StrategyId
  await buy('AAPL', 'stock', 100)
})

async function buy(
  FullSymbol: string,
  SymbolType: string,
  OrderQuantity: number,
  more: object = {},
): Promise<void> {
  const PlatformSymbol = { FullSymbol, SymbolType }
  const Order = {
    StrategyId: strategyId,
    OrderType: '1',
    Side: '1',
    OrderQuantity,
    TIF: '0',
    PlatformSymbol,
    ...more,
  }
  const answer = await call(platform.url, '/gen/Strategies/NewStrategyOrder', { key, body: { Order } })
  expect(answer.status).toBe(200)
}

const state = () =>
  platform.db.read.one<{ cash: string; quantity: string; avgPx: string; adjustments: number }>`
    select trim_scale(s.cash)::text as cash, trim_scale(p.quantity)::text as quantity,
      trim_scale(p.avg_px)::text as "avgPx", (select count(*)::int from position_adjustment) as adjustments
    from strategy s join position p on p.strategy_id = s.id join instrument i on i.id = p.instrument_id
    where i.symbol = 'AAPL'`
const dividend = { kind: 'dividend', symbol: 'AAPL', date: '2024-03-13', amount: 0.5 }
const split = { kind: 'split', symbol: 'AAPL', date: '2024-03-13', new: 2, old: 1 }

describe('a list that is wrong is refused as a whole', () => {
  test.each<[string, object, string]>([
    ['no amount', { ...dividend, amount: undefined }, '1130 [1]'],
    ['an amount of nothing', { ...dividend, amount: 0 }, '1130 [1]'],
    ['units of a dividend', { ...dividend, new: 2 }, '1130 [1]'],
    ['half a ratio', { ...split, old: undefined }, '1130 [1]'],
    ['a ratio of nothing', { ...split, new: 0 }, '1130 [1].new'],
    ['an amount of a split', { ...split, amount: 1 }, '1130 [1]'],
    ['another kind', { ...split, kind: 'spin-off' }, '1130 [1].kind'],
    ['a future', { ...dividend, symbol: '@ESM24' }, '1130 [1]'],
    ['a symbol that nobody knows', { ...dividend, symbol: 'NONE' }, '1130 [1].symbol'],
    ['other numbers for the same day', { ...dividend, amount: 0.6 }, '1130 [1]'],
  ])('%s', async (_, wrong, fault) => {
    const answer = await door('/corporate-actions', [dividend, wrong])
    expect([answer.status, ...faultsOf(answer)]).toEqual([400, fault])
    await door('/clock', { now: '2024-03-14T14:00:00Z' })
    expect(await state()).toEqual({ cash: '90000', quantity: '100', avgPx: '100', adjustments: 0 })
  })
})

test('entered twice, run twice and by two workers at once, everything happens once', async () => {
  await door('/corporate-actions', [dividend, split, dividend])
  await door('/corporate-actions', [split])
  await Promise.all([bookActions(ctx), bookActions(ctx)])
  await door('/clock', { now: '2024-03-13T14:00:00Z' })
  expect(await bookActions(ctx)).toBe(0)
  expect(await state()).toEqual({ cash: '90050', quantity: '200', avgPx: '50', adjustments: 2 })
  expect((await door('/audit')).json).toEqual({ violations: [] })
})

const late = { ...ctx, clock: { now: () => Date.parse('2024-03-14T14:00:00Z') } }

/** Books what is due by a worker that finds another one at the first dividend. */
async function bookBesideAnother(): Promise<void> {
  const now = late.clock.now()
  let waiting: Promise<number> | undefined
  await platform.db.transaction(async (tx) => {
    const first = await claimAction(tx, now)
    if (!first) throw new Error('nothing is due')
    waiting = bookActions(late)
    await untilWaiting(platform.db.read)
    await payDividend(tx, first, now)
    await settleAction(tx, first.id, now)
  })
  await waiting
}

const limited = { OrderType: '2', Limit: 50, TIF: '0' }

/** What became of limited orders, the oldest first. */
const limits = () => platform.db.read.rows<{
  status: string
  quantity: string
  limit: string
  isHeld: boolean
}>`
  select status, trim_scale(order_qty)::text as quantity, trim_scale(limit_px)::text as limit, is_held as "isHeld"
  from signal where limit_px is not null order by id`

test('what a contract delivers gets the dividend of the day after, also from a worker that waited for another', async () => {
  const call90 = { symbol: 'AAPL2413C90', underlying: 'AAPL', putOrCall: 1, strike: 90, expiry: '2024-03-13' }
  await door('/instruments', [{ ...call90, securityType: 'OPT', pointValue: 100, settlement: 'physical' }])
  await door('/quotes', [{ symbol: 'AAPL2413C90', bid: 12, ask: 12 }])
  await buy('AAPL2413C90', 'option', 1)
  await door('/corporate-actions', [dividend, { ...dividend, date: '2024-03-14' }])
  await bookBesideAnother()
  // 100 were bought at 100 and a call at 12; of 0.5 a share 50 are paid, 100 taken at 90, and 100 paid.
  expect(await state()).toMatchObject({ cash: '79950', quantity: '200' })
})

test('an order that ended before a split is as it was, and one that was released before it is not, also where both are noticed late', async () => {
  await buy('AAPL', 'stock', 10, limited)
  await buy('AAPL', 'stock', 10, { ...limited, TIF: '1', ParkedUntilDate: '2024-03-12T16:00:00Z' })
  await door('/corporate-actions', [split])
  await bookActions(late)
  expect(await limits()).toEqual([
    { status: 'C', quantity: '10', limit: '50', isHeld: false },
    { status: '0', quantity: '20', limit: '25', isHeld: false },
  ])
})

test('an order that ended between two actions is as it was, also for a worker that waited for another', async () => {
  await buy('AAPL', 'stock', 10, limited)
  // It ends with the session before the split.
  await platform.db.write.run`
    update signal set expires_at = '2024-03-13T20:00:00Z' where limit_px is not null`
  await door('/corporate-actions', [dividend, { ...split, date: '2024-03-14' }])
  await bookBesideAnother()
  expect(await state()).toMatchObject({ quantity: '200' })
  expect(await limits()).toMatchObject([{ status: 'C', quantity: '10', limit: '50' }])
})

test('of many orders that ended before a split each is as it was', async () => {
  await door('/instruments', [{ symbol: 'MSFT', securityType: 'CS' }])
  await buy('MSFT', 'stock', 10, limited)
  await buy('AAPL', 'stock', 10, limited)
  // More than one round ends, and those of the other stock first.
  await platform.db.transaction((tx) =>
    tx.script(`
      create temp table many on commit drop as select s.* from signal s join instrument i on i.id = s.instrument_id
        where i.symbol = 'MSFT';
      update signal set expires_at = expires_at + interval '1 second' from instrument i
        where i.id = instrument_id and i.symbol = 'AAPL';
      insert into signal overriding user value select many.* from many, generate_series(1, 1000)`),
  )
  await door('/corporate-actions', [split])
  await bookActions(late)
  expect((await limits()).filter(({ status }) => status !== 'C')).toEqual([])
  expect((await limits())[1]).toMatchObject({ quantity: '10', limit: '50' })
})

test('an order that cannot be ended keeps no action of others waiting', async () => {
  await door('/instruments', [{ symbol: 'MSFT', securityType: 'CS' }])
  await buy('MSFT', 'stock', 10, limited)
  await door('/corporate-actions', [split])
  const { db } = platform
  await db.transaction((tx) => tx.script("alter table signal add constraint endless check (status <> 'C')"))
  onTestFinished(() => db.transaction((tx) => tx.script('alter table signal drop constraint endless')))
  await bookActions(late)
  expect(await state()).toMatchObject({ quantity: '200' })
})

test('a second import counts what it knew', async () => {
  const action = { kind: 'split', symbol: 'AAPL', day: '2024-03-13', new: dec(2), old: dec(1) } as const
  expect(await enterActions(ctx, [action])).toEqual({ added: 1, known: 0, faults: [] })
  expect(await enterActions(ctx, [action, action])).toEqual({ added: 0, known: 2, faults: [] })
})

test('of a stock that is delisted nothing is announced for a day after its last', async () => {
  await door('/corporate-actions', [{ kind: 'delisting', symbol: 'AAPL', date: '2024-03-12' }])
  for (const action of [dividend, split])
    expect(faultsOf(await door('/corporate-actions', [action]))).toEqual(['1130 [0]'])
  const announced = [
    { ...split, date: '2024-03-12' },
    { ...dividend, kind: 'settlement' },
  ]
  expect((await door('/corporate-actions', announced)).status).toBe(200)
})

describe('a day without a session is the next one', () => {
  const onSaturday = { ...split, date: '2024-03-16', new: 1, old: 3 }
  const onMonday = { ...split, date: '2024-03-18' }

  test('so its split and another one of the next day are two of one opening, and refused', async () => {
    await door('/corporate-actions', [onSaturday])
    expect(faultsOf(await door('/corporate-actions', [onMonday]))).toEqual(['1130 [0]'])
    expect(faultsOf(await door('/corporate-actions', [onSaturday, onMonday]))).toEqual(['1130 [1]'])
    await door('/clock', { now: '2024-03-18T14:00:00Z' })
    expect(await state()).toMatchObject({ quantity: '33', adjustments: 1 })
    expect((await door('/audit')).json).toEqual({ violations: [] })
  })

  test('so a split that is told of both days happens once', async () => {
    await door('/corporate-actions', [onMonday, { ...onMonday, date: '2024-03-16' }])
    await door('/corporate-actions', [{ ...onMonday, date: '2024-03-17' }])
    await door('/clock', { now: '2024-03-18T14:00:00Z' })
    expect(await state()).toMatchObject({ quantity: '200', adjustments: 1 })
  })

  test('so what was entered of both before they were one is known when it is entered again', async () => {
    const lines = [
      { ...dividend, date: '2024-03-16', amount: 1 },
      { ...dividend, date: '2024-03-18', amount: 2 },
    ]
    await door('/corporate-actions', [lines[1]])
    await ctx.db.write
      .run`insert into corporate_action (instrument_id, kind, ex_date, amount, takes_effect_at, imported_at)
      select instrument_id, kind, '2024-03-16', 1, takes_effect_at, imported_at from corporate_action`
    expect((await door('/corporate-actions', lines)).json).toEqual({})
  })
})

test('days that went by without a worker are caught up in their order', async () => {
  await door('/corporate-actions', [split, { ...dividend, date: '2024-03-14', amount: 1 }])
  await door('/clock', { now: '2024-03-18T14:00:00Z' })
  expect(await state()).toEqual({ cash: '90200', quantity: '200', avgPx: '50', adjustments: 2 })
})

test('what dividends have paid in all is told of the strategy; a split is no dividend', async () => {
  await door('/corporate-actions', [dividend, { ...split, new: 1, old: 3 }])
  await door('/clock', { now: '2024-03-13T14:00:00Z' })
  const { id } = await platform.db.read.one<{ id: number }>`select id from strategy`
  const answer = await call(platform.url, `/gen/Strategies/GetStrategyDetails?StrategyId=${id}`, { key })
  // 100 shares at 0.50; the third of a share that the split leaves over is sold, which is no dividend.
  expect(resultsOf<object>(answer)[0]).toMatchObject({ CashDividends: 50, StartingCash: 100_000 })
})

test('an option that a split gives the terms of another one is listed under the next root', async () => {
  const aCall = (symbol: string, strike: number) => ({
    symbol,
    securityType: 'OPT',
    underlying: 'AAPL',
    putOrCall: '1',
    strike,
    expiry: '2024-04-19',
  })
  const splits = (date: string) => door('/corporate-actions', [{ ...split, date, new: 3, old: 2 }])
  await door('/instruments', [aCall('AAPL2419D150', 150)])
  await splits('2024-03-13')
  await door('/clock', { now: '2024-03-13T14:00:00Z' })
  await door('/instruments', [aCall('AAPL2419D100', 100)])
  await splits('2024-03-14')
  expect((await door('/clock', { now: '2024-03-14T14:00:00Z' })).status).toBe(200)
  const options = await platform.db.read.rows`
    select symbol, root, strike::float, point_value::float as "pointValue", description from instrument
    where security_type = 'OPT' order by id`
  expect(options).toEqual([
    {
      symbol: 'AAPL12419D66.67',
      root: 'AAPL1',
      strike: 66.67,
      pointValue: 225,
      description: 'AAPL12419D66.67',
    },
    {
      symbol: 'AAPL22419D66.67',
      root: 'AAPL2',
      strike: 66.67,
      pointValue: 150,
      description: 'AAPL22419D66.67',
    },
  ])
})
