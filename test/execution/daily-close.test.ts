/** The daily close on real rows: on time, late, again, and after a correction. */
import { expect, test } from 'vitest'
import { dec } from '../../src/domain/decimal.ts'
import { closeDays } from '../../src/execution/orders/daily-close.ts'
import { reopenDays } from '../../src/execution/orders/late-prices.ts'
import { matchArrivals, publishBars, publishQuotes } from '../../src/execution/orders/matcher.ts'
import { saveLedgers } from '../../src/storage/accounts/ledgers.ts'
import { insertExecutions } from '../../src/storage/brokers/reports.ts'
import { touchStrategies } from '../../src/storage/work/record-changes.ts'
import { testDatabase } from '../support/database.ts'
import { addInstrument, bar, close, makeWorld, opening, place, quote, type World } from './world.ts'

const { db } = await testDatabase()
const day = 86_400_000

/** A strategy that begins at the opening, with 100,000. */
async function begin(): Promise<number> {
  const { id } = await db.write.one<{ id: number }>`
    with owner as (
      insert into person (site_id, role, alias, first_name, last_name, email, created_at)
      select id, 'user', 'p', 'P', 'P', gen_random_uuid()::text || '@example.com', now() from site where kind = 'platform'
      returning id, site_id)
    insert into strategy (site_id, owner_person_id, name, started_at, starting_cash, cash)
    select site_id, id, 'S', to_timestamp(${opening}::float8 / 1000), 100000, 100000 from owner returning id`
  return id
}

const readDays = (id: number) =>
  db.read.rows<{ day: string; cash: number; value: number; leverage: number | null }>`
    select day, cash::float8, value::float8, leverage::float8 from strategy_day where strategy_id = ${id} order by day`

const values = async (id: number) => (await readDays(id)).map((row) => [row.day, row.value])

async function closeAt(world: World, at: number): Promise<void> {
  world.clock.time = at
  await reopenDays(world.ctx)
  await closeDays(world.ctx, 'strategy')
  await closeDays(world.ctx, 'account')
}

async function buy(
  world: World,
  strategyId: number,
  instrumentId: number,
  quantity: string,
  side: '1' | '2' = '1',
) {
  await place(world, { strategyId, instrumentId, side, quantity, positionEffect: side === '1' ? 'O' : 'C' })
  await matchArrivals(world.ctx)
}

test('a stock record is closed with the session, once, and says what its parts are', async () => {
  const world = makeWorld(db)
  const { symbol, id } = await addInstrument(db)
  const strategyId = await begin()
  await publishQuotes(world.ctx, [quote(symbol, '99', '100')])
  await buy(world, strategyId, id, '500')
  await publishQuotes(world.ctx, [quote(symbol, '110', '111', opening + 60_000)])
  await closeAt(world, close - 1)
  expect(await readDays(strategyId)).toEqual([])
  await closeAt(world, close)
  const row = {
    day: '2024-03-12',
    cash: 50_000,
    value: 105_000,
    leverage: expect.closeTo(55_000 / 105_000, 10),
  }
  expect(await readDays(strategyId)).toEqual([row])
  // A quote of the next day changes nothing of this one.
  await publishQuotes(world.ctx, [quote(symbol, '120', '121', opening + day)])
  await db.transaction((tx) => touchStrategies(tx, [{ id: strategyId, at: opening }], close))
  await closeAt(world, opening + day)
  expect(await readDays(strategyId)).toEqual([row])
})

test('a worker that was away closes every day it missed, each with its own marks and books', async () => {
  const world = makeWorld(db)
  const { symbol, id } = await addInstrument(db)
  const strategyId = await begin()
  for (const [place, price] of ['100', '110', '120', '130'].entries()) {
    world.clock.time = opening + place * day
    await publishQuotes(world.ctx, [quote(symbol, price, price, world.clock.time)])
    if (place < 3) await buy(world, strategyId, id, '100')
  }
  // Friday evening; then the weekend and a Monday without a quote.
  await closeAt(world, close + 6 * day)
  expect(await values(strategyId)).toEqual([
    ['2024-03-12', 100_000],
    ['2024-03-13', 101_000],
    ['2024-03-14', 103_000],
    ['2024-03-15', 106_000],
    ['2024-03-18', 106_000],
  ])
})

test('of many who missed many days two workers close some each, and neither holds all of them', async () => {
  const world = makeWorld(db)
  const ids = [await begin(), await begin(), await begin(), await begin()]
  world.clock.time = close + 6 * day
  const atOnce = { records: 20_000, days: 14, madeUp: 1 }
  const both = () => Promise.all([1, 2].map(() => closeDays(world.ctx, 'strategy', atOnce)))
  const closed = [await both(), await both(), await both()].map(([one = 0, other = 0]) => [one, other])
  expect(Math.max(...closed.flat())).toBe(2)
  expect(closed.flat().reduce((sum, count) => sum + count, 0)).toBe(ids.length)
  const days = ['2024-03-12', '2024-03-13', '2024-03-14', '2024-03-15', '2024-03-18']
  for (const id of ids) expect((await readDays(id)).map((row) => row.day)).toEqual(days)
})

test('books that have moved since are made up few at a time, for the transaction stands still meanwhile', async () => {
  const world = makeWorld(db)
  const { symbol, id } = await addInstrument(db)
  const ids = [await begin(), await begin(), await begin()]
  for (const [place, price] of ['100', '110'].entries()) {
    world.clock.time = opening + place * day
    await publishQuotes(world.ctx, [quote(symbol, price, price, world.clock.time)])
    for (const [at, strategyId] of ids.entries()) await buy(world, strategyId, id, `${(at + 1) * 100}`)
  }
  const read: number[] = []
  const watched: typeof db = {
    ...db,
    transaction: (work, options) =>
      db.transaction((tx) => {
        const rows: typeof tx.rows = async (...statement) => {
          const found = await tx.rows<{ takesBack?: boolean }>(...statement)
          if (found[0]?.takesBack !== undefined) read.push(found.length)
          return found as never
        }
        return work({ ...tx, rows })
      }, options),
  }
  world.clock.time = close + day
  const atOnce = { records: 20_000, days: 200_000, madeUp: 2 }
  expect(await closeDays({ ...world.ctx, db: watched }, 'strategy', atOnce)).toBe(3)
  expect(read).toEqual([4, 2])
  for (const [at, strategyId] of ids.entries()) {
    const gain = (at + 1) * 1000
    expect(await values(strategyId)).toEqual([
      ['2024-03-12', 100_000],
      ['2024-03-13', 100_000 + gain],
    ])
  }
})

test('what a quote or a new order closes was held on its day', async () => {
  const world = makeWorld(db)
  const { symbol, id } = await addInstrument(db)
  const strategyId = await begin()
  const nextQuote = async (days: number, price: string) => {
    world.clock.time = opening + days * day
    await publishQuotes(world.ctx, [quote(symbol, price, price, world.clock.time)])
  }
  await nextQuote(0, '100')
  await buy(world, strategyId, id, '500')
  // In the evening, to be filled by the first quote of the next day.
  world.clock.time = close + 1
  await place(world, { strategyId, instrumentId: id, side: '2', quantity: '500', positionEffect: 'C' })
  await nextQuote(1, '110')
  await nextQuote(2, '100')
  await buy(world, strategyId, id, '500')
  // To be filled by the last quote.
  await nextQuote(3, '100')
  await buy(world, strategyId, id, '500', '2')
  await closeAt(world, close + 3 * day)
  expect((await readDays(strategyId)).map(({ leverage }) => leverage)).toEqual([
    0.5,
    expect.closeTo(55_000 / 105_000, 10),
    expect.closeTo(50_000 / 105_000, 10),
    expect.closeTo(50_000 / 105_000, 10),
  ])
})

test('who holds what trades in the evening is closed at 17:00', async () => {
  const world = makeWorld(db)
  const future = await addInstrument(db, { securityType: 'FUT', calendar: 'CME_GLOBEX', pointValue: '50' })
  const strategyId = await begin()
  await publishQuotes(world.ctx, [quote(future.symbol, '4999', '5000')])
  await buy(world, strategyId, future.id, '2')
  await closeAt(world, close)
  expect(await readDays(strategyId)).toEqual([])
  await publishQuotes(world.ctx, [quote(future.symbol, '5010', '5011', close + 1)])
  await publishQuotes(world.ctx, [quote(future.symbol, '5020', '5021', close + 2 * 3_600_000)])
  await closeAt(world, close + 3_600_000)
  expect(await readDays(strategyId)).toEqual([
    // Highest when it was bought.
    { day: '2024-03-12', cash: 100_000, value: 101_000, leverage: expect.closeTo(499_900 / 99_900, 10) },
  ])
})

test('a correction of the past closes the days from its own on once more', async () => {
  const world = makeWorld(db)
  const { symbol, id } = await addInstrument(db)
  const strategyId = await begin()
  await publishQuotes(world.ctx, [quote(symbol, '100', '100')])
  await buy(world, strategyId, id, '100')
  await closeAt(world, close + day)
  expect(await values(strategyId)).toEqual([
    ['2024-03-12', 100_000],
    ['2024-03-13', 100_000],
  ])
  await db.transaction(async (tx) => {
    await tx.run`
      insert into daily_mark (instrument_id, day, bid, ask) values (${id}, '2024-03-13', 90, 90)`
    await touchStrategies(tx, [{ id: strategyId, at: opening + day }], close)
  })
  await closeAt(world, close + day)
  expect(await values(strategyId)).toEqual([
    ['2024-03-12', 100_000],
    ['2024-03-13', 99_000],
  ])
})

test('a fill after the close and before 17:00 belongs to the day', async () => {
  const world = makeWorld(db)
  const future = await addInstrument(db, { securityType: 'FUT', calendar: 'CME_GLOBEX', pointValue: '50' })
  const strategyId = await begin()
  await closeAt(world, close)
  expect(await values(strategyId)).toEqual([['2024-03-12', 100_000]])
  world.clock.time = close + 60_000
  await publishQuotes(world.ctx, [quote(future.symbol, '4999', '5000', world.clock.time)])
  await buy(world, strategyId, future.id, '2')
  await closeAt(world, close + 120_000)
  expect(await values(strategyId)).toEqual([['2024-03-12', 100_000]])
  await publishQuotes(world.ctx, [quote(future.symbol, '5010', '5011', close + 180_000)])
  await closeAt(world, close + 3_600_000)
  expect(await values(strategyId)).toEqual([['2024-03-12', 101_000]])
})

test('foreign money is worth what its pair says on each day', async () => {
  const world = makeWorld(db)
  const pair = await addInstrument(db, {
    securityType: 'FOR',
    calendar: 'FOREX',
    symbol: 'EURUSD',
    pointValue: '1000',
  })
  const stock = await addInstrument(db, { currency: 'EUR' })
  const strategyId = await begin()
  await publishQuotes(world.ctx, [quote(pair.symbol, '1.10', '1.10'), quote(stock.symbol, '100', '100')])
  await buy(world, strategyId, stock.id, '100')
  // The pair trades on when the stocks have closed.
  await closeAt(world, close)
  expect(await values(strategyId)).toEqual([])
  await publishQuotes(world.ctx, [quote(pair.symbol, '1.15', '1.15', close + 1)])
  await closeAt(world, close + 3_600_000)
  await publishQuotes(world.ctx, [quote(pair.symbol, '1.20', '1.20', opening + day)])
  const days = [
    ['2024-03-12', 100_500],
    ['2024-03-13', 101_000],
  ]
  await closeAt(world, close + day + 3_600_000)
  expect(await values(strategyId)).toEqual(days)
  // A day that is closed again for whatever reason is worth the same.
  await db.transaction((tx) => touchStrategies(tx, [{ id: strategyId, at: opening }], close))
  await closeAt(world, close + day + 3_600_000)
  expect(await values(strategyId)).toEqual(days)
})

test('an account is worth its cash and what it holds, foreign executions included', async () => {
  const world = makeWorld(db)
  const { symbol, id } = await addInstrument(db)
  await publishQuotes(world.ctx, [quote(symbol, '50', '51')])
  const { accountId } = await db.write.one<{ accountId: number }>`
    with broker as (
      insert into broker (name, connection_name, environment, adapter) values ('B', 'B', 'paper', 'paper') returning id)
    insert into account (site_id, person_id, broker_id, broker_environment, kind, account, starting_cash, cash,
      settings_changed_at, created_at)
    select p.site_id, p.id, broker.id, 'paper', 1, 'A', 1000, 1000, now(), to_timestamp(${opening}::float8 / 1000)
    from broker, (select * from person limit 1) p returning id as "accountId"`
  await closeAt(world, close)
  await db.transaction(async (tx) => {
    const own = { setupId: null, strategyId: null, accountId, instrumentId: id }
    await saveLedgers(tx, [{ ...own, quantity: dec(10), avgPx: dec(45), openedAt: opening }])
    await insertExecutions(tx, [
      {
        brokerId: 1,
        accountId,
        execId: 'X1',
        orderId: null,
        setupId: null,
        instrumentId: id,
        side: '1',
        quantity: dec(10),
        px: dec(45),
        fx: dec(1),
        commission: dec(1),
        cashChange: dec(-451),
        executedAt: opening,
        busts: null,
      },
    ])
  })
  await closeAt(world, close + 3_600_000)
  expect(
    await db.read
      .rows`select day, cash::float8, value::float8 from account_day where account_id = ${accountId} order by day`,
  ).toEqual([{ day: '2024-03-12', cash: 549, value: 1049 }])
})

test('a price that comes when its day is closed has it closed again', async () => {
  const world = makeWorld(db)
  const { symbol, id } = await addInstrument(db)
  const strategyId = await begin()
  await publishQuotes(world.ctx, [quote(symbol, '100', '100')])
  await buy(world, strategyId, id, '100')
  await closeAt(world, close)
  await publishQuotes(world.ctx, [quote(symbol, '97', '97', close - 1)])
  await closeAt(world, close + 100)
  expect(await values(strategyId)).toEqual([['2024-03-12', 99_700]])
  // A bar of the next day, an hour after its end.
  await closeAt(world, close + day + 3_600_000)
  await publishBars(world.ctx, [bar(symbol, ['97', '99', '90', '95'], opening + day, close + day)])
  await closeAt(world, close + day + 3_600_000)
  expect(await values(strategyId)).toEqual([
    ['2024-03-12', 99_700],
    ['2024-03-13', 99_500],
  ])
})

test('and so has the last price of a pair, for who holds something in its currency', async () => {
  const world = makeWorld(db)
  const foreign = await addInstrument(db, { currency: 'CHF' })
  await addInstrument(db, { securityType: 'FOR', calendar: 'FOREX', symbol: 'CHFUSD', pointValue: '1000' })
  const strategyId = await begin()
  const evening = close + 3_600_000
  await publishQuotes(world.ctx, [quote(foreign.symbol, '100', '100'), quote('CHFUSD', '1', '1')])
  await buy(world, strategyId, foreign.id, '100')
  await closeAt(world, evening)
  expect(await values(strategyId)).toEqual([['2024-03-12', 100_000]])
  await publishQuotes(world.ctx, [quote('CHFUSD', '1.1', '1.1', evening - 1)])
  await closeAt(world, evening + 100)
  expect(await values(strategyId)).toEqual([['2024-03-12', 101_000]])
})

test('and so has one that is booked while its day is closed', async () => {
  const world = makeWorld(db)
  const { symbol, id } = await addInstrument(db)
  const strategyId = await begin()
  await publishQuotes(world.ctx, [quote(symbol, '100', '100')])
  await buy(world, strategyId, id, '100')
  const transaction: typeof db.transaction = (work, options) =>
    db.transaction(async (tx) => {
      const done = await work(tx)
      await closeAt(makeWorld(db), close)
      return done
    }, options)
  world.clock.time = close - 1
  await publishQuotes({ ...world.ctx, db: { ...db, transaction } }, [quote(symbol, '97', '97', close - 1)])
  expect(await values(strategyId)).toEqual([['2024-03-12', 100_000]])
  await closeAt(world, close + 100)
  expect(await values(strategyId)).toEqual([['2024-03-12', 99_700]])
})

test('and so has that of a pair through which a currency is counted in that of an account', async () => {
  const world = makeWorld(db)
  const { symbol, id } = await addInstrument(db, { currency: 'SEK' })
  await addInstrument(db, { securityType: 'FOR', calendar: 'FOREX', symbol: 'USDSEK', pointValue: '1000' })
  await addInstrument(db, { securityType: 'FOR', calendar: 'FOREX', symbol: 'GBPUSD', pointValue: '1000' })
  const evening = close + 3_600_000
  await publishQuotes(world.ctx, [
    quote(symbol, '100', '100'),
    quote('USDSEK', '100', '100'),
    quote('GBPUSD', '1', '1'),
  ])
  const { accountId } = await db.write.one<{ accountId: number }>`
    with broker as (
      insert into broker (name, connection_name, environment, adapter) values ('E', 'E', 'paper', 'paper') returning id)
    insert into account (site_id, person_id, broker_id, broker_environment, kind, account, currency, starting_cash, cash,
      settings_changed_at, created_at)
    select p.site_id, p.id, broker.id, 'paper', 1, 'E', 'GBP', 1000, 1000, now(), to_timestamp(${opening}::float8 / 1000)
    from broker, (select * from person limit 1) p returning id as "accountId"`
  const own = { setupId: null, strategyId: null, accountId, instrumentId: id }
  await db.transaction((tx) =>
    saveLedgers(tx, [{ ...own, quantity: dec(1000), avgPx: dec(90), openedAt: opening }]),
  )
  const worth = async () =>
    (
      await db.read.one<{
        value: number
      }>`select value::float8 from account_day where account_id = ${accountId}`
    ).value
  await closeAt(world, evening)
  expect(await worth()).toBe(2000)
  await publishQuotes(world.ctx, [quote('GBPUSD', '2', '2', evening - 1)])
  await closeAt(world, evening + 100)
  expect(await worth()).toBe(1500)
})
