/** Every switch of the platform as it is turned on or off in a life, with the model of it at the border. */
import { expect } from 'vitest'
import { withdrawOpenings } from '../../src/operations/strategies/withdrawing.ts'
import { enableAutotrade, switchAccounts } from '../../src/storage/accounts/accounts.ts'
import { instant } from '../../src/storage/database/wire.ts'
import {
  insertSetup,
  raiseMembership,
  type SetupChoices,
  updateSetup,
} from '../../src/storage/mirror/setups.ts'
import { markAccounts } from '../../src/storage/mirror/sync-due.ts'
import { changeSetup, changeStrategy } from '../../src/storage/operating/administration.ts'
import { changeBroker } from '../../src/storage/operating/provision.ts'
import { endSubscription } from '../../src/storage/people/subscriptions.ts'
import { setSwitch } from '../../src/storage/work/switches.ts'
import { leaveStrategy } from '../support/followers.ts'
import {
  type Act,
  dbOf,
  type Follower,
  followerOf,
  type Life,
  nowOf,
  subscribe,
  under,
} from './switched-life.ts'

const choices = (futuresEnabled: boolean, scalingPercentage: number): SetupChoices => ({
  scalingPercentage,
  stocksEnabled: true,
  maxStocksDollars: null,
  optionsEnabled: true,
  optionsShort: true,
  maxOptions: null,
  futuresEnabled,
  maxFutures: null,
  forexEnabled: true,
  maxForex: null,
  autoStopLossDollars: 0,
})

async function turnClass(
  life: Life,
  { setupId, accountId, isStopped }: Follower,
  isOn: boolean,
): Promise<void> {
  if (isStopped) return
  const at = instant(nowOf(life))
  // As a start does: Autotrade is on afterwards.
  await under(life, async (tx) => {
    await updateSetup(tx, setupId, choices(isOn, 150), at)
    await enableAutotrade(tx, accountId, at)
  })
  life.border.switches.turn(setupId, 'class off', !isOn)
  for (const other of life.followers.filter((one) => one.accountId === accountId))
    life.border.switches.turn(other.setupId, 'Autotrade off', false)
}

async function turnClosingOnly(
  life: Life,
  { setupId, account, isStopped }: Follower,
  isOn: boolean,
): Promise<void> {
  if (isStopped) return
  const { brokerId, strategyId } = life
  const wish = { brokerId, account, strategyId, closingOrdersOnly: isOn }
  expect(await changeSetup(dbOf(life).write, wish, nowOf(life))).toBe(true)
  life.border.switches.turn(setupId, 'closing only', isOn)
}

/** Of the account, so of all its setups. */
async function turnAccount(
  life: Life,
  { accountId }: Follower,
  what: 'Autotrade off' | 'AutoSync off',
  isOff: boolean,
): Promise<void> {
  const wish = {
    isAutotradeEnabled: what === 'Autotrade off' ? !isOff : undefined,
    isSyncEnabled: what === 'AutoSync off' ? !isOff : undefined,
  }
  const change = { reason: 'DisabledByHolder', changedAt: instant(nowOf(life)) }
  await dbOf(life).transaction((tx) => switchAccounts(tx, [accountId], wish, change))
  for (const one of life.followers.filter((other) => other.accountId === accountId))
    life.border.switches.turn(one.setupId, what, isOff)
}

async function turnSubscription(life: Life, { personId }: Follower, isOn: boolean): Promise<void> {
  const { strategyId } = life
  const { write } = dbOf(life)
  const present = await write.maybe<{ id: number }>`
    select id from subscription where person_id = ${personId} and strategy_id = ${strategyId} and ended_at is null`
  if (isOn === (present !== undefined)) return
  if (present) await endSubscription(write, present.id, nowOf(life), 'unpaid')
  else await subscribe(life, personId)
  for (const one of life.followers.filter((other) => other.personId === personId))
    life.border.switches.turn(one.setupId, 'lapsed', !isOn)
}

async function turnOpenings(life: Life, isOn: boolean): Promise<void> {
  const db = dbOf(life)
  await setSwitch(db.write, 'noOpeningOrders', !isOn, nowOf(life))
  life.border.switches.areOpeningsOff = !isOn
  if (isOn) await markAccounts(db, nowOf(life))
}

async function turnBroker(life: Life, isOn: boolean): Promise<void> {
  const db = dbOf(life)
  const wish = { needsAuthorization: undefined, needsCredentials: undefined, isEnabled: isOn }
  await changeBroker(db.write, life.brokerId, wish, nowOf(life))
  life.border.switches.isBrokerOff = !isOn
  if (isOn) await markAccounts(db, nowOf(life), life.brokerId)
}

async function turnStrategy(life: Life, isOn: boolean): Promise<void> {
  const { strategyId } = life
  await dbOf(life).transaction(async (tx) => {
    if (!isOn) await withdrawOpenings(tx, strategyId, nowOf(life))
    await changeStrategy(tx, { strategyId, isAlive: isOn, changedAt: nowOf(life) })
  })
  life.isStrategyOff = !isOn
}

async function stop(life: Life, follower: Follower, isLeftOpen: boolean): Promise<void> {
  if (follower.isStopped) return
  await leaveStrategy(dbOf(life), follower.setupId, isLeftOpen)
  follower.isStopped = true
  life.border.switches.turn(follower.setupId, 'stop', true)
}

/** Starts again in the account of one that has stopped, as the interface does. */
export const startAgain: Act = async (life, pick) => {
  const stopped = life.followers.filter(
    (one) =>
      one.isStopped && !life.followers.some((other) => other.accountId === one.accountId && !other.isStopped),
  )
  const again = stopped[pick % Math.max(1, stopped.length)]
  if (!again || life.isStrategyOff || life.border.switches.isBrokerOff) return
  await turnSubscription(life, again, true)
  const { strategyId, border } = life
  const startedAt = instant(nowOf(life))
  const { accountId } = again
  let setupId = 0
  await under(life, async (tx) => {
    const joined = { joinedVersion: await raiseMembership(tx, strategyId), joinsPositions: true, startedAt }
    setupId = await insertSetup(tx, { accountId, strategyId, ...joined }, choices(true, 100))
    await enableAutotrade(tx, accountId, startedAt)
  })
  const others = life.followers.filter((one) => one.accountId === accountId)
  const isSyncOff = others.some((one) => border.switches.of(one.setupId).has('AutoSync off'))
  for (const one of others) border.switches.turn(one.setupId, 'Autotrade off', false)
  border.switches.turn(setupId, 'AutoSync off', isSyncOff)
  life.followers.push({ ...again, setupId, isStopped: false })
}

/** Three of five times off, so that switches stand against each other, and for a while. */
const isOnAt = (pick: number): boolean => pick % 5 < 2

/** Every switch, turned on or off. */
export const switchActs: Record<string, Act> = {
  openings: (life, pick) => turnOpenings(life, isOnAt(pick)),
  class: (life, pick) => turnClass(life, followerOf(life, pick), isOnAt(pick)),
  'closing only': (life, pick) => turnClosingOnly(life, followerOf(life, pick), !isOnAt(pick)),
  Autotrade: (life, pick) => turnAccount(life, followerOf(life, pick), 'Autotrade off', !isOnAt(pick)),
  AutoSync: (life, pick) => turnAccount(life, followerOf(life, pick), 'AutoSync off', !isOnAt(pick)),
  restrict: (life, pick) => {
    const { accountId } = followerOf(life, pick)
    const { brokerId, world } = life
    return world.paper.controls.notice(world.ctx, { brokerId, accountId, kind: 'marginCall', text: null })
  },
  broker: (life, pick) => turnBroker(life, isOnAt(pick)),
  subscription: (life, pick) => turnSubscription(life, followerOf(life, pick), isOnAt(pick)),
  strategy: (life, pick) => turnStrategy(life, isOnAt(pick)),
  stop: (life, pick) => stop(life, followerOf(life, pick), false),
  'stop, leaving open': (life, pick) => stop(life, followerOf(life, pick), true),
}

/** Everything is switched on again. */
export async function switchOn(life: Life): Promise<void> {
  const { followers } = life
  await turnOpenings(life, true)
  await turnBroker(life, true)
  await turnStrategy(life, true)
  for (const one of followers) {
    await turnClass(life, one, true)
    await turnClosingOnly(life, one, false)
    await turnAccount(life, one, 'Autotrade off', false)
    await turnAccount(life, one, 'AutoSync off', false)
    await turnSubscription(life, one, true)
  }
}
