/**
 * Mirroring one signal to 10,000 followers: from the due signal to the commit of every order and skip. The limit
 * is the same rows as ready bytes through COPY into the same tables in one transaction; the naive form reads,
 * decides and commits account by account.
 */
import pg from 'pg'
import { dec } from '../src/domain/decimal.ts'
import { followerColumns, type SignalFacts } from '../src/domain/mirror/mirror-columns.ts'
import { followerAt, planFollower } from '../src/domain/mirror/mirror-plan.ts'
import type { WorkContext } from '../src/execution/context.ts'
import { mirrorSignals } from '../src/execution/mirror/mirror.ts'
import type { Database } from '../src/storage/database/database.ts'
import { addBroker, addFollowers, type FollowerWish } from '../test/support/followers.ts'
import { copyIn } from './support/copy.ts'
import { startPlatform, symbol, workContext } from './support/platform.ts'
import {
  type Bench,
  type Figure,
  interleaved,
  type Method,
  median,
  ratioOf,
  seconds,
} from './support/report.ts'

const followers = 10_000
/** Accounts of a naive round: each costs the same. */
const naiveFollowers = 400
const rounds = 15

const orderColumns = `account_id, broker_id, setup_id, strategy_id, source_id, instrument_id, signal_type, side,
  ord_type, time_in_force, position_effect, order_qty, limit_px, stop_px, status, signal_filled_before, posted_at,
  ended_at, chase_at, pending_action, info, reason, strategy_qty, scaling_percentage, limit_value, held_qty,
  reference_px, setup_fence`
const skipColumns = `signal_id, setup_id, account_id, code, strategy_qty, scaling_percentage, limit_value, held_qty,
  reference_px, skipped_at`

interface Stage {
  db: Database
  copier: pg.Client
  ctx: WorkContext
  strategyId: number
}

/** A signal as an owner leaves it: due for all who follow the strategy. */
async function placeSignal({ db, strategyId }: Stage): Promise<number> {
  const { id } = await db.write.one<{ id: number }>`
    insert into signal (strategy_id, instrument_id, side, ord_type, time_in_force, position_effect, order_qty,
      limit_px, reference_px, status, posted_at, working_at, membership_horizon, mirror_due)
    select s.id, i.id, '1', '2', '1', 'O', 10, 100.25, 100.25, '0', now(), now(), s.membership_version, true
    from strategy s, instrument i where s.id = ${strategyId} and i.symbol = ${symbol} returning id`
  return id
}

/** Every round begins alike: without copies, and without live signals whose copies would be looked for. */
const empty = async (db: Database): Promise<void> => {
  await db.write.run`truncate account_order, account_skip, order_gap`
  await db.write
    .run`update signal set status = '4', ended_at = now(), mirror_due = false where ended_at is null`
}

/** Rows of a table in COPY's text form. */
async function readyBytes(db: Database, table: string, columns: string): Promise<Buffer> {
  const names = columns.split(',').map((name) => name.trim())
  const line = names.map((name) => `coalesce(${name}::text, '\\N')`).join(` || E'\\t' || `)
  const text = `select string_agg(${line}, E'\\n') as lines from ${table}`
  const { lines } = await db.read.one<{ lines: string }>(Object.assign([text], { raw: [text] }))
  return Buffer.from(`${lines}\n`)
}

function product(stage: Stage): Method {
  return {
    name: 'product',
    unit: 'followers/s',
    measure: async () => {
      await empty(stage.db)
      await placeSignal(stage)
      return followers / (await seconds(() => mirrorSignals(stage.ctx)))
    },
  }
}

async function copyLimit(stage: Stage): Promise<Method> {
  const { db, copier } = stage
  await empty(db)
  await placeSignal(stage)
  await mirrorSignals(stage.ctx)
  const orders = await readyBytes(db, 'account_order', orderColumns)
  const skips = await readyBytes(db, 'account_skip', skipColumns)
  return {
    name: 'COPY of ready bytes',
    unit: 'followers/s',
    measure: async () => {
      await empty(db)
      const took = await seconds(async () => {
        await copier.query('begin')
        await copyIn(copier, `copy account_order (${orderColumns}) from stdin`, orders)
        await copyIn(copier, `copy account_skip (${skipColumns}) from stdin`, skips)
        await copier.query('commit')
      })
      return followers / took
    },
  }
}

interface NaiveRow {
  accountId: number
  brokerId: number
  setupId: number
  fence: number
  scaling: number
  isDisabled: boolean
  held: string
}

/** One account: what it chose and holds, the decision, its order, the commit. */
async function mirrorOne(stage: Stage, facts: SignalFacts, signalId: number, setupId: number): Promise<void> {
  await stage.db.transaction(async (tx) => {
    const row = await tx.one<NaiveRow>`
      select s.account_id as "accountId", a.broker_id as "brokerId", s.id as "setupId", s.fence,
        s.scaling_percentage as scaling, a.is_autotrade_disabled as "isDisabled", coalesce(p.quantity, 0) as held
      from setup s join account a on a.id = s.account_id
      left join account_position p on p.setup_id = s.id
      where s.id = ${setupId}::bigint`
    const follower = { ...followerAt(followerColumns(1), 0), position: dec(row.held) }
    const settings = { ...follower.settings, scalingPercentage: dec(row.scaling) }
    const block = row.isDisabled ? 'AutotradeDisabled' : null
    const { quantity, code, strategyQuantity } = planFollower(facts, { ...follower, settings, block })
    if (quantity.isZero()) {
      await tx.run`
        insert into account_skip (signal_id, setup_id, account_id, code, strategy_qty, scaling_percentage, held_qty,
          skipped_at)
        values (${signalId}::bigint, ${row.setupId}::bigint, ${row.accountId}::bigint, ${code}::text,
          ${strategyQuantity}::numeric, ${row.scaling}::int, ${row.held}::numeric, now())`
      return
    }
    await tx.run`
      insert into account_order (account_id, broker_id, setup_id, strategy_id, source_id, instrument_id, side,
        ord_type, time_in_force, position_effect, order_qty, limit_px, posted_at, pending_action, strategy_qty,
        scaling_percentage, held_qty, reference_px, setup_fence)
      select ${row.accountId}::bigint, ${row.brokerId}::int, ${row.setupId}::bigint, strategy_id, id, instrument_id,
        side, ord_type, time_in_force, position_effect, ${quantity}::numeric, limit_px, now(), 'new',
        ${strategyQuantity}::numeric, ${row.scaling}::int, ${row.held}::numeric, reference_px, ${row.fence}::bigint
      from signal where id = ${signalId}::bigint`
  })
}

async function naive(stage: Stage, setupIds: readonly number[]): Promise<Method> {
  const facts: SignalFacts = {
    assetClass: 'CS',
    side: '1',
    positionEffect: 'O',
    quantity: dec(10),
    filled: dec(0),
    filledBefore: dec(0),
    strategyPosition: dec(0),
    referencePrice: dec('100.25'),
    entryKept: dec(0),
  }
  return {
    name: 'account by account, a commit each',
    unit: 'followers/s',
    measure: async () => {
      await empty(stage.db)
      const signalId = await placeSignal(stage)
      await stage.db.write.run`update signal set mirror_due = false where id = ${signalId}`
      const took = await seconds(async () => {
        for (const setupId of setupIds.slice(0, naiveFollowers)) {
          await mirrorOne(stage, facts, signalId, setupId)
        }
      })
      return naiveFollowers / took
    },
  }
}

const patientRounds = 40
const readers = 4

/** The time of one round that 99 of 100 stay below. */
async function slowest(stage: Stage, name: string): Promise<Figure> {
  const rounds: number[] = []
  for (let round = 0; round < patientRounds; round++) {
    await empty(stage.db)
    await placeSignal(stage)
    rounds.push(1000 * (await seconds(() => mirrorSignals(stage.ctx))))
  }
  const value = rounds.toSorted((a, b) => a - b)[Math.floor(0.99 * patientRounds)] ?? Number.NaN
  return { name, unit: 'ms', value, rounds }
}

/** The same beside others who read orders of accounts all the time. */
async function slowestBesideReaders(stage: Stage, name: string): Promise<Figure> {
  let isOver = false
  const read = async (reader: number): Promise<void> => {
    for (let turn = 0; !isOver; turn++) {
      await stage.db.read.rows`
        select id, status, order_qty, cum_qty from account_order
        where account_id = ${1 + ((turn * readers + reader) % followers)}::bigint order by id desc limit 50`
    }
  }
  const reading = Array.from({ length: readers }, (_, reader) => read(reader))
  const figure = await slowest(stage, name)
  isOver = true
  await Promise.all(reading)
  return figure
}

/** Accounts that follow, without their entries in the audit log, which would take a minute. */
const scenery = (db: Database, wish: FollowerWish): Promise<number[]> =>
  db.transaction(
    async (tx) => {
      await tx.run`set local session_replication_role = replica`
      return addFollowers({ ...db, write: tx }, wish)
    },
    { statementTimeoutMs: 120_000 },
  )

/** Ten times as many followers of a strategy of their own: slices of twenty thousand, each a transaction. */
async function many(stage: Stage, brokerId: number, count: number): Promise<Figure> {
  const { db, strategyId } = stage
  await scenery(db, { strategyId, brokerId, count, scaling: 150 })
  await db.write.run`analyze`
  const rounds: number[] = []
  for (let round = 0; round < 5; round++) {
    await empty(db)
    await placeSignal(stage)
    rounds.push(count / (await seconds(() => mirrorSignals(stage.ctx))))
  }
  return { name: 'product, 100,000 followers', unit: 'followers/s', value: median(rounds), rounds }
}

async function run() {
  const platform = await startPlatform(2)
  const { db } = platform
  const copier = new pg.Client({ connectionString: platform.url })
  await copier.connect()
  const [strategyId = 1, otherId = 2] = platform.strategyIds
  const stage: Stage = { db, copier, ctx: workContext(db), strategyId }
  const brokerId = await addBroker(db)
  const setupIds = await scenery(db, { strategyId, brokerId, count: followers, scaling: 150 })
  await db.write.run`update account set is_autotrade_disabled = true where id % 20 = 0`
  await db.write.run`analyze`
  const speeds = await interleaved(
    [product(stage), await copyLimit(stage), await naive(stage, setupIds)],
    rounds,
  )
  const copySpeed = speeds.find(({ name }) => name === 'COPY of ready bytes')?.value ?? Number.NaN
  const copyTime = (1000 * followers) / copySpeed
  const figures = [
    ...speeds,
    { name: 'COPY, median time', unit: 'ms', value: copyTime, rounds: [copyTime] },
    await slowest(stage, 'product, p99'),
    await slowestBesideReaders(stage, 'product beside readers, p99'),
    await many({ ...stage, strategyId: otherId }, brokerId, 10 * followers),
  ]
  await copier.end()
  await platform.close()
  return {
    figures,
    ratios: [
      ratioOf(figures, 'product', 'COPY of ready bytes', { atLeast: 0.7 }),
      ratioOf(figures, 'product', 'account by account, a commit each', { atLeast: 40 }),
      ratioOf(figures, 'product, p99', 'COPY, median time', { atMost: 3 }),
      ratioOf(figures, 'product beside readers, p99', 'COPY, median time', { atMost: 4 }),
      ratioOf(figures, 'product, 100,000 followers', 'product'),
    ],
  }
}

export const bench: Bench = { name: 'fanout', run }
