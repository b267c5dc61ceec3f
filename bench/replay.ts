/**
 * Twenty years of daily bars for 100 strategies, played as the demo plays its history: orders through the
 * operation, bars through the matcher, everything else through the worker. Each strategy holds the index while it
 * closes above an average of its own length.
 */
import { readIndexBars } from '../src/demo/prices.ts'
import { buildStage, contextOf, granted, type Stage } from '../src/demo/stage.ts'
import { sessionOn } from '../src/domain/market/calendar.ts'
import { completeInstrument } from '../src/domain/market/derive-instrument.ts'
import { publishBars } from '../src/execution/orders/matcher.ts'
import { newStrategyOrder } from '../src/operations/strategies/orders.ts'
import { insertInstruments } from '../src/storage/market/instruments.ts'
import { findPlatformSite } from '../src/storage/operating/provision.ts'
import { quiet, secrets, startPlatform } from './support/platform.ts'
import { profiled } from './support/profile.ts'
import type { Bench, Figure } from './support/report.ts'
import { watched } from './support/statements.ts'

const strategies = 100
const symbol = 'SPX'

interface Follower {
  readonly strategyId: number
  /** Days of its average. */
  readonly length: number
  isLong: boolean
}

const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length

/** Who changes sides after these closes. */
const turning = (followers: readonly Follower[], closes: readonly number[]): Follower[] =>
  followers.filter(({ length, isLong }) => {
    const last = closes.at(-1) ?? 0
    return closes.length >= length && last > mean(closes.slice(-length)) !== isLong
  })

async function orderAll(stage: Stage, owner: Parameters<typeof contextOf>[2], turned: readonly Follower[]) {
  await stage.db.transaction(async (tx) => {
    const ctx = contextOf(stage, tx, owner)
    const orders = turned.map(({ strategyId, isLong }) => ({
      StrategyId: strategyId,
      OrderType: '1' as const,
      Side: isLong ? ('2' as const) : ('1' as const),
      OrderQuantity: 10,
      TIF: '0' as const,
      PlatformSymbol: { FullSymbol: symbol, SymbolType: 'stock' as const },
    }))
    const answers = await newStrategyOrder.many(
      tx,
      orders.map((Order) => ({ ctx, params: { Order } })),
    )
    for (const answer of answers) granted(answer)
  })
  for (const follower of turned) follower.isLong = !follower.isLong
}

/** Day by day: the bar fills what was ordered after the last close, then the rules decide. */
async function play(stage: Stage, owner: Parameters<typeof contextOf>[2], followers: readonly Follower[]) {
  const closes: number[] = []
  for (const { day, open, high, low, close, volume } of readIndexBars()) {
    const session = sessionOn('US_EQUITY', day)
    if (!session) continue
    const bar = { symbol, at: session.open, endsAt: session.close, open, high, low, close }
    await publishBars(stage.work, [volume === null ? bar : { ...bar, volume }])
    stage.clock.time = session.close
    await stage.worker.drain()
    closes.push(close.toNumber())
    const turned = turning(followers, closes)
    if (turned.length > 0) await orderAll(stage, owner, turned)
  }
}

async function run() {
  const platform = await startPlatform(strategies)
  const { db } = platform
  const siteId = await db.transaction(async (tx) => {
    await insertInstruments(tx, [completeInstrument({ symbol, securityType: 'CS' }, 20_000)])
    return findPlatformSite(tx)
  })
  const watch = watched(db.relaxed())
  const stage = buildStage(watch.db, quiet, 'B', secrets)
  const owner = { personId: platform.ownerId, siteId, siteKind: 'platform' as const }
  const followers = platform.strategyIds.map((strategyId, place) => ({
    strategyId,
    length: 5 + 2 * place,
    isLong: false,
  }))
  const startedAt = performance.now()
  const costs = await profiled(() => play(stage, owner, followers), 10)
  const seconds = (performance.now() - startedAt) / 1000
  const { events, fills } = await db.read.one<{ events: number; fills: number }>`
    select (select count(*)::int from signal_event) as events, (select count(*)::int from fill) as fills`
  await watch.db.close()
  await platform.close()
  const bars = readIndexBars().length
  const figure = (name: string, unit: string, value: number): Figure => ({
    name,
    unit,
    value,
    rounds: [value],
  })
  return {
    figures: [
      figure('bars', 'bars', bars),
      figure('fills', 'fills', fills),
      figure('time', 's', seconds),
      figure('events (bars and events of orders)', 'events/s', (bars + events) / seconds),
      figure('days of a strategy', 'days/s', (bars * strategies) / seconds),
    ],
    ratios: [],
    costs: [...costs, ...watch.costs(seconds, 12)],
  }
}

export const bench: Bench = { name: 'replay', run }
