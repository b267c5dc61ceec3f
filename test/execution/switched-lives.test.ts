/**
 * Random lives in which every switch of the platform is turned at any moment, also while a broker is being asked. A plain
 * model stands at the border to the broker: nothing opens or grows while openings are forbidden for it, nothing goes out
 * where nothing may, closings never exceed what is held, no order goes to a broker that has it. Every skip names a
 * switch that was on. With everything on again, and quiet, the books are the broker's and everybody is in step.
 * SWITCHED_RUNS=<number> lives more lives; SEED names others.
 */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { planSync } from '../../src/domain/mirror/mirror-sync-plan.ts'
import { emptied } from '../../src/door/empty.ts'
import { instant } from '../../src/storage/database/wire.ts'
import { allowOpening } from '../../src/storage/mirror/setups.ts'
import { syncCases } from '../../src/storage/mirror/sync-cases.ts'
import { markSetups } from '../../src/storage/mirror/sync-due.ts'
import { loadSyncFacts } from '../../src/storage/mirror/sync-facts.ts'
import { auditViolations } from '../../src/storage/operating/audit.ts'
import { signalRules } from '../../src/storage/operating/audit-signals.ts'
import { testDatabase } from '../support/database.ts'
import { addBroker } from '../support/followers.ts'
import { makeAccountWorld } from './account-world.ts'
import { type Happening, livesOf, restOf } from './lives.ts'
import { acts, mend } from './switched-acts.ts'
import { Border, forbidOpening, type Obstacle } from './switched-border.ts'
import { follow, type Life, say } from './switched-life.ts'
import { switchActs, switchOn } from './switched-turns.ts'
import { addInstrument, addStrategy, opening } from './world.ts'

const { db } = await testDatabase()
const runs = Number(process.env.SWITCHED_RUNS ?? 50)

/** What happened over all lives: a kind of event that never did would prove nothing. */
const counted = new Map<string, number>()
const count = (what: string, by = 1): void => void counted.set(what, (counted.get(what) ?? 0) + by)

const weights: Record<string, number> = {
  order: 14,
  exit: 4,
  replace: 5,
  cancel: 3,
  quote: 8,
  step: 12,
  work: 8,
  wait: 5,
  forget: 2,
  amid: 4,
  lose: 3,
}

const lives = livesOf(Object.keys(acts), weights, { usual: 2, minLength: 10, maxLength: 45 })

/** Every life has the platform to itself: it is as fast as the first, and its seed replays it alone. */
async function begin(): Promise<Life> {
  await emptied(db, (tx) => tx.run`delete from lease`.then(() => undefined))
  const border = new Border(db, { count })
  const world = makeAccountWorld(db, {}, border.between)
  const brokerId = await addBroker(db)
  world.clock.time = opening
  const strategyId = await addStrategy(db, '10000000')
  const { id: instrumentId, symbol } = await addInstrument(db, { securityType: 'FUT' })
  const life: Life = {
    world,
    border,
    brokerId,
    strategyId,
    instrumentId,
    symbol,
    followers: [],
    signals: [],
    bid: 100,
    isStrategyOff: false,
    isHeld: false,
    isCut: false,
  }
  await follow(life, 2, 150)
  await follow(life, 1, 70)
  await say(life)
  return life
}

/** What stands in the way of each setup, with what its broker has told. */
async function obstaclesNow({ followers, border }: Life): Promise<Map<number, Set<Obstacle>>> {
  const rows = await db.read.rows<{ id: number }>`
    select t.id from setup t join account a on a.id = t.account_id where a.is_autotrade_disabled`
  const disabled = new Set(rows.map(({ id }) => id))
  return new Map(
    followers.map(({ setupId }) => {
      const switched = border.switches.of(setupId)
      if (disabled.has(setupId)) switched.add('Autotrade off')
      return [setupId, switched]
    }),
  )
}

/** Which obstacle each code of a skip speaks of. */
const spokenOf: Readonly<Record<string, readonly Obstacle[]>> = {
  SubscriptionEnded: ['stop', 'lapsed'],
  AutotradeDisabled: ['Autotrade off'],
  BrokerDisabled: ['broker disabled'],
  MassSwitch: ['openings off'],
  AssetClassDisabled: ['class off'],
  ClosingOrdersOnly: ['closing only'],
}
/** Those that keep every order from going out, the strongest first. */
const strength: readonly string[] = ['AutotradeDisabled', 'BrokerDisabled', 'MassSwitch']
const rankOf = (code: string): number => {
  const rank = strength.indexOf(code)
  return rank === -1 ? strength.length : rank
}
const codesOfSize = ['NothingHeld', 'NoIncrease', 'RoundedToZero', 'UnknownOutcomePending']

/** Every new skip names a switch that was on before or after what has just happened. */
async function seeSkips(
  life: Life,
  seen: Set<string>,
  on: readonly Map<number, Set<Obstacle>>[],
): Promise<void> {
  const rows = await db.read.rows<{ signalId: number; setupId: number; code: string }>`
    select signal_id as "signalId", setup_id as "setupId", code from account_skip`
  for (const { signalId, setupId, code } of rows) {
    const key = `${signalId} ${setupId}`
    if (seen.has(key)) continue
    seen.add(key)
    count(`skip ${code}`)
    const named = spokenOf[code]
    const wasOn = named?.some((one) => on.some((then) => then.get(setupId)?.has(one)))
    const now = on.map((then) => then.get(setupId))
    const stronger = code === 'SubscriptionEnded' || !named ? [] : strength.slice(0, rankOf(code))
    const passed = stronger.filter((one) =>
      now.every((then) => spokenOf[one]!.some((what) => then?.has(what))),
    )
    if (passed.length > 0)
      life.border.wrongs.push(`setup ${setupId} skipped ${signalId} because of ${code}, not of ${passed}`)
    if (!wasOn && !codesOfSize.includes(code))
      life.border.wrongs.push(`setup ${setupId} skipped ${signalId} because of ${code}, which was not on`)
  }
}

/**
 * Orders that no broker has seen although all work was done and theirs can be reached, and that may not open or grow
 * anything now: they are never to go out. Where the broker answers, what would open has been withdrawn by those switches
 * that withdraw it, but for copies of what has ended, in their grace. What waits behind a claim that runs is not seen yet.
 */
async function seeWaiting(life: Life, on: Map<number, Set<Obstacle>>): Promise<void> {
  const { border } = life
  const rows = await db.read.rows<{ id: number; setupId: number; isUnseen: boolean; isLeft: boolean }>`
    select o.id, o.setup_id as "setupId", o.unknown_at is not null or o.chase_at is not null as "isLeft",
      o.status = 'A' and o.attempts = 0 and (o.pending_action = 'new' or o.order_qty > x.order_qty) as "isUnseen"
    from account_order o
      left join account_order x on x.account_id = o.account_id and x.id = o.replaces_order_id
    where o.status in ('A', '0', '1', 'E') and o.position_effect = 'O' and not exists (
      select from account_order c where c.account_id = o.account_id
        and c.pending_action is not null and c.claimed_until > clock_timestamp())`
  // While it keeps silent nothing is claimed, and a switch takes hold with the next claim.
  const isThere = !(life.isHeld || life.isCut || border.isLosing)
  const answers = isThere && !border.switches.isBrokerOff
  for (const { id, setupId, isUnseen, isLeft } of rows) {
    const switched = on.get(setupId) ?? new Set()
    const why = forbidOpening.filter((one) => switched.has(one))
    if (isThere && isUnseen && why.length > 0) border.kept.set(id, why.join(' and '))
    const isKeptInStep = !switched.has('AutoSync off') && !switched.has('Autotrade off')
    const withdraws = isKeptInStep ? (['stop', 'class off', 'closing only'] as const) : (['stop'] as const)
    const left = withdraws.filter((one) => switched.has(one))
    if (answers && !isLeft && left.length > 0) border.wrongs.push(`order ${id} works on under ${left}`)
    if (left.length === 0 && why.length > 0) count('opening order that stays')
  }
}

async function live(story: readonly Happening[]): Promise<void> {
  const life = await begin()
  const seen = new Set<string>()
  const happens = async (act: () => Promise<unknown>, isWork: boolean): Promise<void> => {
    const before = await obstaclesNow(life)
    await act()
    const after = await obstaclesNow(life)
    await seeSkips(life, seen, [before, after])
    if (isWork) await seeWaiting(life, after)
    expect(life.border.wrongs).toEqual([])
  }
  for (const { act, pick } of story) {
    life.world.clock.time += 1
    count(act)
    await happens(() => acts[act]!(life, pick), act === 'work')
  }
  count(
    'switches left on',
    [...(await obstaclesNow(life)).values()].reduce((sum, one) => sum + one.size, 0),
  )
  await happens(() => mend(life), true)
  await happens(() => comeToRest(life), false)
  await expectRest(life)
  count(
    'orders',
    (await db.read.one<{ count: number }>`select count(*)::int as count from account_order`).count,
  )
}

/** Mends everything, and works until nothing is left. */
async function comeToRest(life: Life): Promise<void> {
  const { world } = life
  await switchOn(life)
  const { settle, minutes } = restOf(world, () => say(life))
  await settle()
  await minutes()
  await expectTheBrokersBook(life)
  await db.write.run`
    update signal set status = '4', ended_at = ${instant(world.clock.time)}, mirror_due = true, needs_match = false
    where strategy_id = ${life.strategyId} and status in ('0', '1')`
  await minutes()
  const setups = life.followers.map(({ setupId }) => setupId)
  await db.transaction(async (tx) => {
    await tx.run`select from strategy where id = ${life.strategyId} for no key update`
    await allowOpening(tx, setups, world.clock.time)
    await markSetups(tx, setups, world.clock.time)
  })
  await minutes()
}

async function expectRest(life: Life): Promise<void> {
  const setups = life.followers.map(({ setupId }) => setupId)
  for (const { setup, input, obstacles } of syncCases(
    await loadSyncFacts(db.read, setups),
    life.world.clock.time,
  ))
    for (const row of planSync(input, obstacles).report) {
      count(row.inSync ? 'in step' : `apart: ${row.reason}`)
      expect(
        row.inSync,
        `setup ${setup.id}: ${row.accountQuantity} of ${row.scaledQuantity} ${row.reason} ${row.text}`,
      ).toBe(true)
    }
  await expectTheBrokersBook(life)
  // Orders are written here as an owner leaves them, without the events of the interface.
  expect((await auditViolations(db.read)).filter(({ rule }) => !(rule in signalRules))).toEqual([])
  const waiting = await db.read.rows`
    select id, setup_id, source, source_id, revision, status, pending_action from account_order
    where pending_action is not null or status in ('A', '6', 'E') or unknown_at is not null`
  expect(waiting).toEqual([])
  const unclosed = await db.read.rows`
    select t.id, p.quantity from setup t join account_position p on p.setup_id = t.id and p.quantity <> 0
    where t.stopped_at is not null and not t.positions_left_open and not exists (
      select from account_order o where o.setup_id = t.id and o.source = 'X' and o.status = '8')`
  expect(unclosed).toEqual([])
  const switchedOff = await db.read
    .rows`select id, sync_disabled_reason from account where not is_sync_enabled`
  expect(switchedOff).toEqual([])
}

async function expectTheBrokersBook({ followers, instrumentId, symbol, world }: Life): Promise<void> {
  for (const accountId of new Set(followers.map((one) => one.accountId))) {
    const { ours } = await db.read.one<{ ours: number }>`
      select coalesce((select sum(quantity) from account_position
        where account_id = ${accountId} and instrument_id = ${instrumentId}), 0)::float8 as ours`
    const [theirs] = await world.paper.broker.snapshot(world.ctx, [accountId])
    expect(ours, `account ${accountId}`).toBe(Number(theirs?.positions.get(symbol) ?? 0))
  }
}

const passing = ['place O', 'place C', 'replace O', 'replace C', 'cancel', 'request lost', 'in step']
const skips = Object.keys(spokenOf).map((code) => `skip ${code}`)

test('no switch is passed by', { timeout: 1_800_000 }, async () => {
  await fc.assert(fc.asyncProperty(lives, live), { numRuns: runs, endOnFailure: true })
  count('lives', runs)
  console.info([...counted].map(([what, times]) => `${what} ${times}`).join(', '))
  // Which of them a few lives of another seed bring is left to chance.
  if (process.env.SEED !== undefined) return
  for (const what of [...Object.keys(acts), ...Object.keys(switchActs), ...passing, ...skips])
    expect(counted.get(what) ?? 0, what).toBeGreaterThan(0)
})
