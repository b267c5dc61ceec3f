/** Sentences of what holders do themselves, and of what they and operators switch, as their own tools do it. */
import { withdrawOpenings } from '../../../src/operations/strategies/withdrawing.ts'
import { markAccounts } from '../../../src/storage/mirror/sync-due.ts'
import { changeSetup, changeStrategy } from '../../../src/storage/operating/administration.ts'
import { changeBroker } from '../../../src/storage/operating/provision.ts'
import { endSubscription, findSubscription } from '../../../src/storage/people/subscriptions.ts'
import { setSwitch } from '../../../src/storage/work/switches.ts'
import { expectSame, type Given, type Sentence } from './language.ts'
import { ask, door, named, outcomeOf, type Stage, symbolOf } from './stage.ts'
import { numberOf, readTerms } from './terms.ts'

const isOn = (word: string | undefined): boolean => {
  if (word !== 'on' && word !== 'off') throw new Error(`a switch is on or off, not ${word}`)
  return word === 'on'
}

async function switchAccount(stage: Stage, name: string | undefined, wish: object): Promise<void> {
  const { account: Account, holder } = named(stage.accounts, name)
  const call = { method: 'PUT', body: { Account, ...wish } } as const
  const answer = await ask(stage, holder.key, '/Autotrade/SetAutotradeSettings', call)
  expectSame('200', outcomeOf(answer))
}

/** A closing order of the holder's own. */
async function orderByHolder(stage: Stage, given: Given): Promise<void> {
  const { account: Account, holder } = named(stage.accounts, given.account)
  const Order = {
    Side: given.side === 'buy' ? '1' : '2',
    OrderQuantity: numberOf(given.quantity),
    PlatformSymbol: symbolOf(stage, given.symbol),
    ...readTerms(given.terms ?? ''),
  }
  const answer = await ask(stage, holder.key, '/Autotrade/NewAutotradeOrder', { body: { Account, Order } })
  expectSame('200', outcomeOf(answer))
}

/** What commands change in the rows; workers hear of it within the time of the door's clock. */
const settle = (stage: Stage): Promise<unknown> =>
  door(stage, '/clock', { now: new Date(stage.now).toISOString() })

async function switchOpenings(stage: Stage, { word }: Given): Promise<void> {
  const { db } = stage.platform
  await setSwitch(db.write, 'noOpeningOrders', !isOn(word), stage.now)
  if (isOn(word)) await markAccounts(db, stage.now)
  await settle(stage)
}

async function switchBroker(stage: Stage, { account: name, word }: Given): Promise<void> {
  const { db } = stage.platform
  const id = await brokerOf(stage, name)
  const wish = { needsAuthorization: undefined, needsCredentials: undefined, isEnabled: isOn(word) }
  await changeBroker(db.write, id, wish, stage.now)
  if (isOn(word)) await markAccounts(db, stage.now, id)
  await settle(stage)
}

async function brokerOf({ platform, accounts }: Stage, name: string | undefined): Promise<number> {
  const { account } = named(accounts, name)
  const rows = platform.db.read.one<{
    id: number
  }>`select broker_id as id from account where account = ${account}`
  return (await rows).id
}

async function switchStrategy(stage: Stage, { strategy, word }: Given): Promise<void> {
  const { strategyId } = named(stage.strategies, strategy)
  const changedAt = stage.now
  await stage.platform.db.transaction(async (tx) => {
    if (!isOn(word)) await withdrawOpenings(tx, strategyId, changedAt)
    await changeStrategy(tx, { strategyId, isAlive: isOn(word), changedAt })
  })
  await settle(stage)
}

async function onlyClose(stage: Stage, { account: name, strategy, word }: Given): Promise<void> {
  const { account } = named(stage.accounts, name)
  const { strategyId } = named(stage.strategies, strategy)
  const wish = { brokerId: await brokerOf(stage, name), account, strategyId, closingOrdersOnly: isOn(word) }
  await changeSetup(stage.platform.db.write, wish, stage.now)
  await settle(stage)
}

/** As one that was not paid does, at the end of its term. */
async function endPaying(stage: Stage, { person: name, strategy }: Given): Promise<void> {
  const { db } = stage.platform
  const { personId } = named(stage.people, name)
  const present = await findSubscription(db.read, personId, named(stage.strategies, strategy).strategyId)
  if (!present) throw new Error(`${name} does not subscribe to ${strategy}`)
  await endSubscription(db.write, present.id, stage.now, 'unpaid')
  await settle(stage)
}

export const switchingSentences: readonly Sentence<Stage>[] = [
  {
    says: 'AutoSync of <account> is switched <word>',
    does: (stage, { account, word }) => switchAccount(stage, account, { IsAutoSyncEnabled: isOn(word) }),
  },
  {
    says: 'Autotrade of <account> is switched <word>',
    does: (stage, { account, word }) => switchAccount(stage, account, { IsAutotradeEnabled: isOn(word) }),
  },
  { says: 'the holder of <account> orders <side> <quantity> <symbol> <terms>', does: orderByHolder },
  { says: 'openings are switched <word>', does: switchOpenings },
  { says: 'the broker of <account> is switched <word>', does: switchBroker },
  { says: '<strategy> is switched <word>', does: switchStrategy },
  { says: 'closing only of <account> in <strategy> is switched <word>', does: onlyClose },
  { says: 'the subscription of <person> to <strategy> ends', does: endPaying },
]
