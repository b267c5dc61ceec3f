/**
 * Resting orders and the market. How fast quotes find the orders they reach, with 100,000 orders resting on 500
 * symbols: against the same books empty, and against reading every order of the symbol. How fast a quote that
 * reaches 10,000 orders books them: against one transaction for each.
 */
import { dec } from '../src/domain/decimal.ts'
import { completeInstrument } from '../src/domain/market/derive-instrument.ts'
import type { WorkContext } from '../src/execution/context.ts'
import type { MarketQuote } from '../src/execution/market/feed.ts'
import { publishQuotes } from '../src/execution/orders/matcher.ts'
import { quoteRange } from '../src/execution/orders/moments.ts'
import type { Database } from '../src/storage/database/database.ts'
import type { Transaction } from '../src/storage/database/sql.ts'
import { insertInstruments } from '../src/storage/market/instruments.ts'
import { lockReached, type PriceRange } from '../src/storage/work/matching.ts'
import { type Platform, startPlatform, workContext } from './support/platform.ts'
import { type Bench, interleaved, type Method, ratioOf } from './support/report.ts'

const symbols = 500
const restingOrders = 100_000
const strategies = 10_000
const canceledAtOnce = 100
/** Each costs the same, so some are enough. */
const ordersOneByOne = 200
const rounds = 3

interface Stage extends Platform {
  ctx: WorkContext
}

/** Symbols of a name; answers their rows. */
async function addSymbols(db: Database, name: string, count: number): Promise<number[]> {
  const made = Array.from({ length: count }, (_, index) =>
    completeInstrument({ symbol: `${name}${index}`, securityType: 'CS', calendar: 'CONTINUOUS' }, 20_000),
  )
  await db.transaction((tx) => insertInstruments(tx, made))
  const rows = await db.read.rows<{ id: number }>`
    select id from instrument where symbol ~ ${`^${name}[0-9]+$`} order by id`
  return rows.map(({ id }) => id)
}

/** Limits and stops of both sides, from 1 to 20 percent away from a price of 100. */
async function addResting(db: Database, instrumentIds: readonly number[]): Promise<void> {
  for (let first = 0; first < restingOrders; first += 10_000) await addSlice(db, instrumentIds, first)
}

async function addSlice(db: Database, instrumentIds: readonly number[], first: number): Promise<void> {
  await db.write.run`
    insert into signal (strategy_id, instrument_id, side, ord_type, time_in_force, position_effect, order_qty,
      limit_px, stop_px, reference_px, status, posted_at, working_at, membership_horizon)
    select (select min(id) from strategy) + n % ${strategies}::int, (${instrumentIds}::bigint[])[1 + n % ${instrumentIds.length}::int],
      side, ord_type, '1', 'O', 1, case ord_type when '2' then px end, case ord_type when '3' then px end, px, '0',
      now(), now(), 0
    from generate_series(${first}::int, ${first + 9_999}::int) n
    cross join lateral (select (1 + n / 2 % 2)::text as side, (2 + n / 4 % 2)::text as ord_type) kind
    cross join lateral (select round((100 + case when (side = '1') = (ord_type = '2') then -1 else 1 end
      * (1 + n * 7919 % 1900 / 100.0))::numeric, 2) as px) price`
}

/** A walk that stays within half a percent of 100. */
function quotesFor(instrumentIds: readonly number[]): MarketQuote[] {
  const at = Date.now()
  return instrumentIds.map((instrumentId) => {
    const bid = dec((99.6 + Math.random() * 0.7).toFixed(2))
    return { instrumentId, bid, ask: bid.plus('0.05'), at }
  })
}

const rangesFor = (instrumentIds: readonly number[]): PriceRange[] =>
  quotesFor(instrumentIds).map((quote, place) => quoteRange(instrumentIds[place] ?? 0, [quote]))

/** Every order of the symbols, each held against the prices: what the index of trigger prices avoids. */
const scanSymbols = (tx: Transaction, ranges: readonly PriceRange[]): Promise<unknown[]> => tx.rows`
  select distinct s.strategy_id, s.instrument_id
  from unnest(${ranges.map((range) => range.instrumentId)}::bigint[], ${ranges.map((range) => range.buyLow)}::numeric[],
    ${ranges.map((range) => range.sellHigh)}::numeric[]) r (instrument_id, ask, bid)
  join signal s on s.instrument_id = r.instrument_id and s.status in ('0', '1', '6', 'E')
  where s.ord_type = '1' or s.is_triggered
    or s.ord_type = '2' and (s.side = '1' and s.limit_px >= r.ask or s.side = '2' and s.limit_px <= r.bid)
    or s.ord_type = '3' and (s.side = '1' and s.stop_px <= r.ask or s.side = '2' and s.stop_px >= r.bid)`

const perSecond = async (count: number, work: () => Promise<unknown>): Promise<number> => {
  const startedAt = performance.now()
  await work()
  return (count / (performance.now() - startedAt)) * 1000
}

type Lookup = (tx: Transaction, ranges: readonly PriceRange[]) => Promise<unknown>

/** Ten batches of quotes look for what they reach; with `cancels`, orders end and others start in between. */
const lookups = (
  { db }: Stage,
  name: string,
  instrumentIds: readonly number[],
  look: Lookup,
  cancels = false,
): Method => ({
  name,
  unit: 'quotes/s',
  measure: () => {
    const batches = Array.from({ length: 10 }, () => rangesFor(instrumentIds))
    return perSecond(10 * instrumentIds.length, () =>
      db.transaction(async (tx) => {
        for (const ranges of batches) {
          if (cancels) await cancelSome(tx, instrumentIds)
          await look(tx, ranges)
        }
      }),
    )
  },
})

/** Ends the oldest orders, and as many that had ended work again. */
async function cancelSome(tx: Transaction, instrumentIds: readonly number[]): Promise<void> {
  await tx.run`
    with going as (
      select id, status from signal where instrument_id = ${instrumentIds[0]}::bigint order by status, id
      limit ${canceledAtOnce}::int
    )
    update signal s set status = case going.status when '4' then '0' else '4' end,
      ended_at = case going.status when '4' then null else now() end
    from going where s.id = going.id`
}

const published = ({ ctx }: Stage, name: string, instrumentIds: readonly number[]): Method => ({
  name,
  unit: 'quotes/s',
  measure: () => perSecond(instrumentIds.length, () => publishQuotes(ctx, quotesFor(instrumentIds))),
})

let bursts = 0

/** One order of each of `owners` strategies, or all of one; one quote reaches them all. */
const burst = ({ db, ctx }: Stage, name: string, orders: number, owners: number): Method => ({
  name,
  unit: 'orders/s',
  measure: async () => {
    const [id = 0] = await addSymbols(db, `BURST${++bursts}N`, 1)
    await addBurst(db, [id], orders, owners)
    return perSecond(orders, () =>
      publishQuotes(ctx, [{ instrumentId: id, bid: dec(99), ask: dec(100), at: Date.now() }]),
    )
  },
})

/** The same orders, each on a symbol of its own that is quoted by itself. */
const oneByOne = ({ db, ctx }: Stage, name: string): Method => ({
  name,
  unit: 'orders/s',
  measure: async () => {
    const ids = await addSymbols(db, `SINGLE${++bursts}N`, ordersOneByOne)
    await addBurst(db, ids, ordersOneByOne, ordersOneByOne)
    return perSecond(ordersOneByOne, async () => {
      for (const instrumentId of ids) {
        await publishQuotes(ctx, [{ instrumentId, bid: dec(99), ask: dec(100), at: Date.now() }])
      }
    })
  },
})

async function addBurst(
  db: Database,
  instrumentIds: readonly number[],
  orders: number,
  owners: number,
): Promise<void> {
  await db.write.run`
    insert into signal (strategy_id, instrument_id, side, ord_type, time_in_force, position_effect, order_qty,
      limit_px, reference_px, status, posted_at, working_at, membership_horizon)
    select (select min(id) from strategy) + n % ${owners}::int, (${instrumentIds}::bigint[])[1 + n % ${instrumentIds.length}::int],
      '1', '2', '1', 'O', 1, 100.25, 100.25, '0', now(), now(), 0
    from generate_series(0, ${orders - 1}::int) n`
}

async function run() {
  const platform = await startPlatform(strategies)
  const { db } = platform
  const ctx = workContext(db)
  const stage: Stage = { ...platform, ctx }
  await db.write.run`update strategy set cash = 1e9, starting_cash = 1e9`
  const empty = await addSymbols(db, 'EMPTY', symbols)
  const full = await addSymbols(db, 'FULL', symbols)
  const hot = await addSymbols(db, 'HOT', 1)
  await addResting(db, full)
  await addResting(db, hot)
  await db.write.run`analyze`
  const figures = await interleaved(
    [
      lookups(stage, 'lookup, empty books', empty, lockReached),
      lookups(stage, 'lookup, 100,000 resting', full, lockReached),
      lookups(stage, 'lookup and cancels, 100,000 resting', full, lockReached, true),
      lookups(stage, 'reading every order, 100,000 resting', full, scanSymbols),
      lookups(stage, 'lookup, 100,000 in one symbol', hot, lockReached),
      lookups(stage, 'reading every order, 100,000 in one symbol', hot, scanSymbols),
      published(stage, 'published, empty books', empty),
      published(stage, 'published, 100,000 resting', full),
      burst(stage, 'burst of 10,000 orders', 10_000, strategies),
      burst(stage, 'burst of 10,000 orders of one strategy', 10_000, 1),
      oneByOne(stage, 'one transaction per order'),
    ],
    rounds,
  )
  await platform.close()
  const lookup = 'lookup, 100,000 resting'
  return {
    figures,
    ratios: [
      ratioOf(figures, lookup, 'lookup, empty books', { atLeast: 0.3 }),
      ratioOf(figures, lookup, 'reading every order, 100,000 resting', { atLeast: 15 }),
      ratioOf(figures, 'lookup and cancels, 100,000 resting', lookup),
      ratioOf(figures, 'lookup, 100,000 in one symbol', 'reading every order, 100,000 in one symbol', {
        atLeast: 15,
      }),
      ratioOf(figures, 'published, 100,000 resting', 'published, empty books', { atLeast: 0.3 }),
      ratioOf(figures, 'burst of 10,000 orders', 'one transaction per order', { atLeast: 5 }),
      ratioOf(figures, 'burst of 10,000 orders of one strategy', 'one transaction per order', { atLeast: 5 }),
    ],
  }
}

export const bench: Bench = { name: 'matcher', run }
