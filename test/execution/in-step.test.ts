/**
 * Random lives against a model that is as plain as it can be: signals, settings, trading by hand, executions taken
 * back, reports that come twice, late or in another order, a broker that is silent, away or stubborn, workers that die. After
 * quiet every account holds what its strategy means for it, or the report says why not; what is booked is the
 * broker's own book; no rule of the audit is broken. IN_STEP_RUNS=<number> lives more lives; SEED names others.
 */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { dec } from '../../src/domain/decimal.ts'
import { planSync } from '../../src/domain/mirror/mirror-sync-plan.ts'
import { emptied } from '../../src/door/empty.ts'
import { publishQuotes } from '../../src/execution/orders/matcher.ts'
import { newTally } from '../../src/execution/tally.ts'
import { enableAutotrade } from '../../src/storage/accounts/accounts.ts'
import { instant } from '../../src/storage/database/wire.ts'
import { allowOpening, type SetupChoices, updateSetup } from '../../src/storage/mirror/setups.ts'
import { syncCases } from '../../src/storage/mirror/sync-cases.ts'
import { markSetups } from '../../src/storage/mirror/sync-due.ts'
import { loadSyncFacts } from '../../src/storage/mirror/sync-facts.ts'
import { testDatabase } from '../support/database.ts'
import { addBroker, addFollowers, joinStrategy, leaveStrategy } from '../support/followers.ts'
import { accountViolations, makeAccountWorld } from './account-world.ts'
import { type Happening, livesOf, restOf } from './lives.ts'
import { Stubborn } from './stubborn-broker.ts'
import { addInstrument, addStrategy, endSignal, opening, place, quote } from './world.ts'

const { db } = await testDatabase()
const stubborn = new Stubborn()
let world = makeAccountWorld(db, {}, stubborn.between)
let { ctx, paper } = world
let brokerId = 0
let orders = 0
const runs = Number(process.env.IN_STEP_RUNS ?? 500)

/** What happened over all lives: a kind of event that never did would prove nothing. */
const counted = new Map<string, number>()
const count = (what: string, by = 1): void => void counted.set(what, (counted.get(what) ?? 0) + by)

interface Life {
  readonly strategyId: number
  readonly instrumentId: number
  readonly symbol: string
  readonly setups: number[]
  readonly signals: number[]
  bid: number
}

type Act = (life: Life, pick: number) => Promise<unknown>

const setupOf = ({ setups }: Life, pick: number): number => setups[pick % setups.length]!

const accountOf = async (setupId: number): Promise<number> =>
  (await db.read.one<{ id: number }>`select account_id as id from setup where id = ${setupId}`).id

const say = ({ symbol, bid }: Life): Promise<number> =>
  publishQuotes(ctx, [quote(symbol, String(bid), String(bid + 1), world.clock.now())])

async function trade({ strategyId, instrumentId, signals, bid }: Life, pick: number): Promise<void> {
  const { held } = await db.read.one<{ held: number }>`
    select coalesce((select quantity from position where strategy_id = ${strategyId}
      and instrument_id = ${instrumentId}), 0)::float8 as held`
  const direction = pick % 2 === 0 ? 1 : -1
  const closes = held * direction < 0
  const wanted = 1 + (pick % 9)
  const limit = pick % 3 === 0 ? {} : { limit: String(bid + (pick % 7) - 3) }
  const id = await place(world, {
    strategyId,
    instrumentId,
    side: direction > 0 ? '1' : '2',
    positionEffect: closes ? 'C' : 'O',
    ...limit,
    quantity: String(closes ? Math.min(wanted, Math.abs(held)) : wanted),
    goodTillCanceled: true,
  })
  signals.push(id)
}

/** The owner gives an order another price. */
const move: Act = async (life, pick) => {
  const id = life.signals[pick % Math.max(1, life.signals.length)] ?? 0
  const live = await db.transaction(async (tx) => {
    const row = await tx.maybe<{
      side: '1' | '2'
      positionEffect: 'O' | 'C'
      quantity: string
      limit: string | null
    }>`
      select s.side, s.position_effect as "positionEffect", s.order_qty as quantity, s.limit_px as limit
      from signal s join strategy t on t.id = s.strategy_id
      where s.id = ${id} and s.status = '0' and s.limit_px is not null for no key update of t`
    if (row) await endSignal(tx, id, '5', instant(world.clock.time))
    return row
  })
  if (!live) return
  const { strategyId, instrumentId, signals, bid } = life
  const { side, positionEffect, quantity } = live
  signals.push(
    await place(world, {
      strategyId,
      instrumentId,
      side,
      positionEffect,
      quantity,
      replaces: id,
      goodTillCanceled: true,
      limit: String(bid + (pick % 7) - 3),
    }),
  )
}

const withdraw: Act = ({ signals }, pick) =>
  db.transaction(async (tx) => {
    const id = signals[pick % Math.max(1, signals.length)] ?? 0
    const live = await tx.maybe`
      select s.id from signal s join strategy t on t.id = s.strategy_id
      where s.id = ${id} and s.status in ('0', '1') for no key update of t`
    if (live) await endSignal(tx, id, '4', instant(world.clock.time))
  })

function choicesOf(pick: number): SetupChoices {
  return {
    scalingPercentage: [30, 50, 100, 150, 250][pick % 5]!,
    stocksEnabled: true,
    maxStocksDollars: null,
    optionsEnabled: true,
    optionsShort: true,
    maxOptions: null,
    futuresEnabled: pick % 7 !== 0,
    maxFutures: pick % 4 === 0 ? pick % 6 : null,
    forexEnabled: true,
    maxForex: null,
    autoStopLossDollars: pick % 3 === 0 ? 5 + (pick % 40) : 0,
  }
}

/** Under the locks that the interface takes. */
const change = (
  life: Life,
  act: (tx: Parameters<Parameters<typeof db.transaction>[0]>[0]) => Promise<unknown>,
) =>
  db.transaction(async (tx) => {
    await tx.run`select from strategy where id = ${life.strategyId} for no key update`
    await act(tx)
  })

const anExecution = (setupId: number): Promise<{ execId: string } | undefined> => db.read.maybe<{
  execId: string
}>`
  select exec_id as "execId" from execution where setup_id = ${setupId} and busts is null
  order by executed_at desc, exec_id desc limit 1`

async function join(life: Life): Promise<void> {
  const id = await joinStrategy(db, life.strategyId, brokerId)
  life.setups.push(id)
  await change(life, (tx) => allowOpening(tx, [id], world.clock.time))
}

const acts: Record<string, Act> = {
  trade,
  move,
  withdraw,
  quote: (life, pick) => {
    life.bid = 95 + (pick % 11)
    return say(life)
  },
  settings: (life, pick) =>
    change(life, (tx) => updateSetup(tx, setupOf(life, pick), choicesOf(pick), instant(world.clock.time))),
  resync: (life, pick) => change(life, (tx) => allowOpening(tx, [setupOf(life, pick)], world.clock.time)),
  byHand: async (life, pick) => {
    const accountId = await accountOf(setupOf(life, pick))
    const side = pick % 2 === 0 ? '1' : '2'
    const traded = { side, quantity: dec(1 + (pick % 3)), px: dec(life.bid), symbol: life.symbol } as const
    await paper.controls.execution(ctx, { ...traded, accountId, brokerId, clientOrderId: null })
  },
  enable: async (life, pick) => {
    const accountId = await accountOf(setupOf(life, pick))
    await change(life, async (tx) => {
      await enableAutotrade(tx, accountId, instant(world.clock.time))
      await tx.run`
        update account set is_sync_enabled = true, sync_disabled_reason = null,
          settings_changed_at = ${instant(world.clock.time)} where id = ${accountId}`
    })
  },
  restrict: async (life, pick) => {
    const accountId = await accountOf(setupOf(life, pick))
    await paper.controls.notice(ctx, { brokerId, accountId, kind: 'marginCall', text: null })
  },
  takeBack: async (life, pick) => {
    const found = await anExecution(setupOf(life, pick))
    if (found) await paper.controls.bust(ctx, found.execId)
  },
  repeat: async (life, pick) => {
    const found = await anExecution(setupOf(life, pick))
    if (found) await paper.controls.duplicate(ctx, found.execId)
  },
  /** What has not arrived yet arrives in the opposite order. */
  reorder: () => db.write.run`
    with late as (update paper_report set is_delivered = true where not is_delivered returning *)
    insert into broker_report (broker_id, report_key, account_id, client_order_id, kind, symbol, side, quantity, px,
      text, occurred_at)
    select broker_id, report_key, account_id, client_order_id, kind, symbol, side, quantity, px, text, occurred_at
    from late order by id desc on conflict (broker_id, account_id, report_key) do nothing`,
  refuse: async (_, pick) => stubborn.refuse(pick),
  join,
  stop: async (life, pick) => {
    const setupId = setupOf(life, pick)
    const isLive = await db.read.maybe`select from setup where id = ${setupId} and stopped_at is null`
    if (isLive) await leaveStrategy(db, setupId, pick % 2 === 0)
  },
  hold: async (_, pick) => paper.controls.hold(pick % 2 === 0),
  cut: async (_, pick) => paper.controls.down(pick % 2 === 0),
  reject: async (life, pick) => paper.controls.reject(await accountOf(setupOf(life, pick)), 'no'),
  partial: async (life, pick) => paper.controls.partial(await accountOf(setupOf(life, pick)), '1'),
  step: (_, pick) => world.steps[pick % world.steps.length]!.run(ctx),
  work: () => world.drain(),
  die: async (_, pick) => {
    const step = world.steps[pick % world.steps.length]!
    await step.run(dying(1 + (pick % 5))).catch((error: Error) => expect(error.message).toBe('killed'))
  },
  wait: async (_, pick) => {
    world.clock.time += (1 + (pick % 40)) * 1_000
  },
}

const weights: Record<string, number> = {
  trade: 8,
  move: 3,
  withdraw: 3,
  quote: 6,
  step: 5,
  work: 3,
  die: 3,
  wait: 3,
  refuse: 3,
}

const lives = livesOf(Object.keys(acts), weights, { usual: 1, minLength: 5, maxLength: 30 })

/** A context whose transactions fail from the n-th on, half of them after they have committed. */
function dying(after: number) {
  let left = after
  const transaction: typeof db.transaction = async (work, options) => {
    left -= 1
    if (left > 0) return db.transaction(work, options)
    if (left % 2 === 0) await db.transaction(work, options)
    throw new Error('killed')
  }
  // What it remembers dies with it.
  return { ...ctx, tally: newTally(), workerId: `dying${after}`, db: { ...db, transaction } }
}

/** Mends everything, ends every signal and works until nothing is left. */
async function comeToRest(life: Life): Promise<void> {
  paper.controls.hold(false)
  paper.controls.down(false)
  await db.write.run`update lease set expires_at = clock_timestamp()`
  const { settle, minutes } = restOf(world, () => say(life))
  await settle()
  await db.write.run`
    update signal set status = '4', ended_at = ${instant(world.clock.time)}, mirror_due = true, needs_match = false
    where strategy_id = ${life.strategyId} and status in ('0', '1')`
  await minutes()
  if (stubborn.refuses === null) return
  stubborn.asked = []
  await minutes()
  expectPatience()
  stubborn.refuses = null
  await change(life, async (tx) => {
    await allowOpening(tx, life.setups, world.clock.time)
    await markSetups(tx, life.setups, world.clock.time)
  })
  await minutes()
}

/** Of three quiet minutes: what was refused is not asked for again by itself, but for a cancel, once a minute. */
function expectPatience(): void {
  const { refuses, asked } = stubborn
  const times = new Map<string, number>()
  for (const { clientOrderId } of asked) times.set(clientOrderId, (times.get(clientOrderId) ?? 0) + 1)
  count('requests refused in quiet', asked.length)
  expect(Math.max(0, ...times.values()), `${refuses}`).toBeLessThanOrEqual(refuses === 'cancel' ? 3 : 0)
}

/** Reasons that may keep an account apart from its strategy when nothing moves any more. */
const lasting =
  /^(Excluded|SyncDisabled|SyncToOpenDisabled|AssetClassDisabled|LongNotAllowed|ShortNotAllowed|ClosingOrdersOnly)$/

async function expectInStep({ setups }: Life): Promise<void> {
  for (const { setup, input, obstacles } of syncCases(
    await loadSyncFacts(db.read, setups),
    world.clock.time,
  )) {
    const { report, actions } = planSync(input, obstacles)
    for (const row of report) {
      count(row.inSync ? 'in step' : `apart: ${row.text === null ? row.reason : 'refused by the broker'}`)
      const told = `setup ${setup.id} holds ${row.accountQuantity} of ${row.scaledQuantity}: ${row.reason} ${row.text}`
      if (!row.inSync && row.text === null) expect(`${row.reason}`, told).toMatch(lasting)
    }
    const { place: placed, close, open, cancel, replace } = actions
    expect([...placed, ...close, ...open, ...cancel, ...replace], `setup ${setup.id}`).toEqual([])
  }
}

async function expectTheBrokersBook({ setups, instrumentId, symbol }: Life): Promise<void> {
  for (const accountId of new Set(await Promise.all(setups.map(accountOf)))) {
    const { ours } = await db.read.one<{ ours: number }>`
      select coalesce((select sum(quantity) from account_position
        where account_id = ${accountId} and instrument_id = ${instrumentId}), 0)::float8 as ours`
    const [theirs] = await paper.broker.snapshot(ctx, [accountId])
    expect(ours, `account ${accountId}`).toBe(Number(theirs?.positions.get(symbol) ?? 0))
  }
}

/** Every life has the platform to itself: it is as fast as the first, and its seed replays it alone. */
async function beginAnew(): Promise<void> {
  await emptied(db, (tx) => tx.run`delete from lease`.then(() => undefined))
  world = makeAccountWorld(db, {}, stubborn.between)
  ;[stubborn.refuses, stubborn.asked] = [null, []]
  ctx = world.ctx
  paper = world.paper
  brokerId = await addBroker(db)
  world.clock.time = opening
}

async function live(story: readonly Happening[]): Promise<void> {
  await beginAnew()
  const strategyId = await addStrategy(db, '10000000')
  const { id: instrumentId, symbol } = await addInstrument(db, { securityType: 'FUT' })
  const setups = await addFollowers(db, { strategyId, brokerId, count: 2, scaling: 150 })
  const life: Life = { strategyId, instrumentId, symbol, setups, signals: [], bid: 100 }
  await db.transaction((tx) => markSetups(tx, setups, opening))
  await say(life)
  for (const { act, pick } of story) {
    world.clock.time += 1
    count(act)
    await acts[act]!(life, pick)
  }
  await comeToRest(life)
  await expectInStep(life)
  await expectTheBrokersBook(life)
  expect(await accountViolations(world)).toEqual([])
  orders += (await db.read.one<{ count: number }>`select count(*)::int as count from account_order`).count
}

test('lives end in step, with the broker’s book', { timeout: 1_800_000 }, async () => {
  await fc.assert(fc.asyncProperty(lives, live), { numRuns: runs, endOnFailure: true })
  count('lives', runs)
  count('orders', orders)
  console.info([...counted].map(([what, times]) => `${what} ${times}`).join(', '))
  for (const act of Object.keys(acts)) expect(counted.get(act) ?? 0, act).toBeGreaterThan(0)
})
