/**
 * One market order of a strategy to 10,000 paper accounts whose broker takes 20 ms to answer: from the order's commit
 * to the first and the last request, and until every follower holds its copy, with one worker and with two. A broker
 * is sent to by one worker at a time, so what a second one speeds up is the rest: planning, reports, books.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { dec } from '../src/domain/decimal.ts'
import { accountSteps } from '../src/execution/account-side.ts'
import type { Broker } from '../src/execution/brokers/broker.ts'
import { createPaperBroker } from '../src/execution/brokers/paper.ts'
import type { WorkContext } from '../src/execution/context.ts'
import { publishQuotes } from '../src/execution/matcher.ts'
import { createWorker } from '../src/execution/worker.ts'
import type { Database } from '../src/storage/database.ts'
import { addBroker, addFollowers } from '../test/support/followers.ts'
import { startPlatform, symbol, workContext } from './support/platform.ts'
import { type Bench, type Figure, median, ratioOf } from './support/report.ts'

const followers = 10_000
const latencyMs = 20
const rounds = 2
const lookEveryMs = 25
const longestMs = 120_000

interface Times {
  first: number
  last: number
  complete: number
}

/** The paper broker behind a link on which every request takes its time. */
function distant(broker: Broker, sent: (at: number) => void): Broker {
  return {
    ...broker,
    place: async (...call) => {
      sent(performance.now())
      await delay(latencyMs)
      return broker.place(...call)
    },
  }
}

/** A signal as its owner leaves it; wakes the workers. */
async function placeSignal(db: Database, strategyId: number): Promise<void> {
  await db.write.run`
    insert into signal (strategy_id, instrument_id, side, ord_type, time_in_force, position_effect, order_qty,
      reference_px, status, posted_at, working_at, membership_horizon, mirror_due)
    select s.id, i.id, '1', '1', '1', 'O', 10, 100, '0', now(), now(), s.membership_version, true
    from strategy s, instrument i where s.id = ${strategyId} and i.symbol = ${symbol}`
  await db.write.run`select pg_notify('work', '')`
}

const countHolding = async (db: Database, strategyId: number): Promise<number> =>
  (
    await db.read.one<{ count: number }>`
    select count(*)::int as count from account_position where strategy_id = ${strategyId} and quantity <> 0`
  ).count

/** A worker that starts asks first what its broker's accounts hold: that is not what is measured. */
async function settled(db: Database, brokerId: number): Promise<void> {
  while (!(await db.read.maybe`select from reconciliation where broker_id = ${brokerId}`))
    await delay(lookEveryMs)
}

/** Works on one signal with so many workers. */
async function measure(
  ctx: WorkContext,
  { strategyId, brokerId }: { strategyId: number; brokerId: number },
  workers: number,
): Promise<Times> {
  const sends: number[] = []
  const broker = distant(createPaperBroker().broker, (at) => sends.push(at))
  const running = Array.from({ length: workers }, (_, place) =>
    createWorker({ ctx: { ...ctx, workerId: `w${place}` }, steps: accountSteps({ paper: broker }) }),
  )
  for (const worker of running) await worker.start()
  await settled(ctx.db, brokerId)
  const quoted = { symbol, bid: dec(99), ask: dec(100), at: Date.now() }
  await publishQuotes(ctx, [quoted])
  const startedAt = performance.now()
  await placeSignal(ctx.db, strategyId)
  while ((await countHolding(ctx.db, strategyId)) < followers) {
    if (performance.now() - startedAt > longestMs) throw new Error('the copies do not fill')
    await delay(lookEveryMs)
  }
  const complete = performance.now() - startedAt
  for (const worker of running) await worker.stop()
  const since = (at: number | undefined): number => ((at ?? Number.NaN) - startedAt) / 1000
  return { first: since(sends[0]), last: since(sends.at(-1)) + latencyMs / 1000, complete: complete / 1000 }
}

async function run() {
  const platform = await startPlatform(2 * (rounds + 1))
  const { db, strategyIds } = platform
  const ctx = workContext(db)
  const counts = [1, 2]
  const found = new Map(counts.map((count) => [count, [] as Times[]]))
  const left = [...strategyIds]
  for (let round = -1; round < rounds; round++) {
    for (const count of counts) {
      const strategyId = left.shift() ?? 0
      const brokerId = await addBroker(db)
      await addFollowers(db, { strategyId, brokerId, count: followers })
      await db.write.run`analyze`
      const times = await measure(ctx, { strategyId, brokerId }, count)
      if (round >= 0) found.get(count)?.push(times)
      // Nobody asks any more what those accounts hold.
      await db.write.run`update broker set adapter = 'retired' where id = ${brokerId}`
    }
  }
  await platform.close()
  const figures = [...found].flatMap(([count, times]) =>
    (['first', 'last', 'complete'] as const).map((what): Figure => {
      const all = times.map((one) => one[what])
      return { name: nameOf(what, count), unit: 's', value: median(all), rounds: all }
    }),
  )
  const ratio = ratioOf(figures, nameOf('complete', 1), nameOf('complete', 2))
  return { figures, ratios: [ratio] }
}

const words = { first: 'first request', last: 'last answer', complete: 'books complete' }

const nameOf = (what: keyof Times, workers: number): string =>
  `${words[what]}, ${workers} worker${workers === 1 ? '' : 's'}`

export const bench: Bench = { name: 'mirror', run }
