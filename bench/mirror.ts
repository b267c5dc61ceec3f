/**
 * One signal on its way to 10,000 paper accounts at four brokers that take 20 ms to answer, by one worker and by two:
 * from the moment it is due to the first order sent, the last one sent, and the last execution booked.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { dec } from '../src/domain/decimal.ts'
import { publishQuotes } from '../src/execution/orders/matcher.ts'
import type { Database } from '../src/storage/database/database.ts'
import { addBroker, addFollowers } from '../test/support/followers.ts'
import { startPlatform, symbol, workContext } from './support/platform.ts'
import { type Bench, type Figure, median, ratioOf } from './support/report.ts'
import { typescriptFlags } from './support/served.ts'

const followers = 10_000
const brokers = 4
const rounds = 3
const names = ['first order sent', 'last order sent', 'book complete'] as const
/** Milliseconds after the signal was due, in the order of the names. */
type Times = readonly [number, number, number]

interface Batch {
  readonly sentAt: number
  readonly count: number
}

/** Worker processes, and what they have sent. */
async function startWorkers(url: string, count: number) {
  const sent: Batch[] = []
  const script = join(import.meta.dirname, 'support/mirror-worker.ts')
  const children = Array.from({ length: count }, (_, place): ChildProcess => {
    const child = fork(script, [url, `bench ${place}`], { execArgv: typescriptFlags })
    child.on('message', (message) => {
      if (message !== 'ready') sent.push(message as Batch)
    })
    return child
  })
  await Promise.all(children.map((child) => once(child, 'message')))
  const stop = async (): Promise<void> => {
    for (const child of children) child.disconnect()
    await Promise.all(children.map((child) => once(child, 'exit')))
  }
  return { sent, stop }
}

/** A market order of the strategy as its owner leaves it, due for all who follow. */
const placeSignal = (db: Database, strategyId: number): Promise<number> => db.write.run`
  insert into signal (strategy_id, instrument_id, side, ord_type, time_in_force, position_effect, order_qty,
    reference_px, status, posted_at, working_at, membership_horizon, mirror_due)
  select s.id, i.id, '1', '1', '1', 'O', 10, 100.25, '0', now(), now(), s.membership_version, true
  from strategy s, instrument i where s.id = ${strategyId} and i.symbol = ${symbol}`

const filledOf = async (db: Database): Promise<number> =>
  (
    await db.read.one<{ filled: number }>`
    select count(*)::int as filled from account_order where status = '2'`
  ).filled

async function round(url: string, db: Database, strategyId: number, workers: number): Promise<Times> {
  await db.write
    .run`truncate account_order, account_skip, account_position, execution, broker_report, paper_order,
    paper_report, paper_total, sync_due, signal cascade`
  const { sent, stop } = await startWorkers(url, workers)
  const quote = () =>
    publishQuotes(workContext(db), [{ symbol, bid: dec('100'), ask: dec('100.5'), at: Date.now() }])
  await quote()
  const dueAt = Date.now()
  await placeSignal(db, strategyId)
  let filled = 0
  while (filled < followers) {
    await delay(50)
    filled = await filledOf(db)
    await quote()
  }
  const times = sent.map(({ sentAt }) => sentAt - dueAt)
  await stop()
  return [Math.min(...times), Math.max(...times), Date.now() - dueAt]
}

async function run() {
  const { url, db, strategyIds, close } = await startPlatform(1)
  const [strategyId = 0] = strategyIds
  for (let place = 0; place < brokers; place++) {
    const brokerId = await addBroker(db)
    await db.write.run`update broker set adapter = 'far' where id = ${brokerId}`
    await addFollowers(db, { strategyId, brokerId, count: followers / brokers })
  }
  const taken = new Map<number, Times[]>([
    [1, []],
    [2, []],
  ])
  for (let place = 0; place < rounds; place++)
    for (const [workers, times] of taken) times.push(await round(url, db, strategyId, workers))
  await close()
  const figures = [...taken].flatMap(([workers, times]) =>
    names.map((name, place): Figure => {
      const rounds = times.map((one) => one[place] ?? 0)
      return {
        name: `${name}, ${workers} ${workers === 1 ? 'worker' : 'workers'}`,
        unit: 'ms',
        value: median(rounds),
        rounds,
      }
    }),
  )
  return { figures, ratios: [ratioOf(figures, `${names[2]}, 2 workers`, `${names[2]}, 1 worker`)] }
}

export const bench: Bench = { name: 'mirror', run }
