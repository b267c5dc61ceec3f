/**
 * What a start of Autotrade comes to, whoever gave the last word: the caller, or the customer whose approval was
 * asked for. The strategy is locked before the account, as everywhere.
 */

import { isCovered, joinedKind } from '../../domain/billing/subscription.ts'
import { type Actor, ownsStrategy, seesStrategy } from '../../domain/people/access.ts'
import { loadAccountValues, noteStartedEquity } from '../../storage/accounts/account-values.ts'
import { type AccountRow, enableAutotrade, lockAndReadAccounts } from '../../storage/accounts/accounts.ts'
import type { Sql } from '../../storage/database/sql.ts'
import { instant } from '../../storage/database/wire.ts'
import { excludeHeldSymbols } from '../../storage/mirror/exclusions.ts'
import {
  insertSetup,
  lockLiveSetup,
  raiseMembership,
  type SetupChoices,
  updateSetup,
} from '../../storage/mirror/setups.ts'
import { type LockedStrategy, lockStrategies, wakeWorkers } from '../../storage/orders/signals.ts'
import { loadStrategyFacts } from '../../storage/people/access.ts'
import { lockSubscription } from '../../storage/people/subscriptions.ts'
import { isRefused, type Refused, refuse } from '../context.ts'
import { beginFor, subscribe } from '../subscribe.ts'

/** A start that nothing speaks against; its rows are locked. */
export interface ReadyStart {
  readonly account: AccountRow
  readonly strategy: LockedStrategy
  /** That runs already. */
  readonly setupId: number | undefined
  /** A subscription for such an account runs, or waits for its payment: what follows it already costs nothing more. */
  readonly isSubscribed: boolean
}

/** What is opened by following in a live, a paper and a simulated account. */
export const subscriptionKinds = { 0: 'paid', 1: 'paper', 2: 'simulated' } as const

/** Why the strategy may not get a new follower. What the actor may not know of does not exist, whatever else holds. */
async function refusedStrategy(
  sql: Sql,
  actor: Actor,
  strategy: LockedStrategy,
): Promise<Refused | undefined> {
  const [facts] = await loadStrategyFacts(sql, [strategy.id], [actor.personId])
  if (!facts || !seesStrategy(actor, facts)) return refuse('NotFound', 'StrategyId')
  if (!strategy.isAlive) return refuse('StateConflict', 'StrategyId', 'The strategy is not alive')
  if (ownsStrategy(actor, facts)) return undefined
  if (facts.isPrivate) return refuse('StateConflict', 'StrategyId', 'The strategy is private')
  return strategy.noSubsAllowed
    ? refuse('StateConflict', 'StrategyId', 'The strategy takes no subscribers')
    : undefined
}

/** Locks what a start touches and holds it against the rules; `chooses`: it says whether to join positions. */
export async function prepareStart(
  sql: Sql,
  actor: Actor,
  known: AccountRow,
  strategyId: number | bigint,
  chooses: boolean,
): Promise<ReadyStart | Refused> {
  const holder = await beginFor(sql, known.personId)
  if (isRefused(holder)) return holder
  const strategy = (await lockStrategies(sql, [strategyId])).get(Number(strategyId))
  if (!strategy) return refuse('NotFound', 'StrategyId')
  const [account = known] = await lockAndReadAccounts(sql, [known.id])
  const setupId = await lockLiveSetup(sql, account.id, strategy.id)
  if (setupId !== undefined && chooses) {
    return refuse(
      'BadCombination',
      'DoNotJoinCurrentSystemPositions',
      'Only a new setup may choose not to join',
    )
  }
  const present = await lockSubscription(sql, account.personId, strategyId)
  const kind = subscriptionKinds[account.kind]
  // One that runs for paper accounts is not enough for a live one: the start makes it a paid one.
  const isSubscribed =
    present !== undefined && isCovered(present, kind) && joinedKind(present.kind, kind) === present.kind
  const refused =
    setupId !== undefined && isSubscribed ? undefined : await refusedStrategy(sql, actor, strategy)
  if (refused) return refused
  if (!account.isBrokerEnabled)
    return refuse('StateConflict', 'Account', 'The broker of the account is disabled')
  if (account.isTradeLeader)
    return refuse('StateConflict', 'Account', 'The account feeds a strategy and is not mirrored into')
  return { account, strategy, setupId, isSubscribed }
}

/** Starts or changes the setup; Autotrade is on afterwards, under a subscription that runs. */
export async function performStart(
  sql: Sql,
  { account, strategy, setupId, isSubscribed }: ReadyStart,
  choices: SetupChoices,
  joinsPositions: boolean,
  now: number,
): Promise<Refused | undefined> {
  const at = instant(now)
  if (setupId === undefined || !isSubscribed) {
    const kind = subscriptionKinds[account.kind]
    const wanted = { personId: account.personId, strategyId: strategy.id, kind, at: now }
    const subscribed = await subscribe(sql, wanted)
    if (isRefused(subscribed)) return subscribed
  }
  if (setupId !== undefined) await updateSetup(sql, setupId, choices, at)
  else {
    const joinedVersion = await raiseMembership(sql, strategy.id)
    const joined = { joinedVersion, joinsPositions, startedAt: at }
    const id = await insertSetup(sql, { accountId: account.id, strategyId: strategy.id, ...joined }, choices)
    const equity = (await loadAccountValues(sql, [account.id])).get(account.id)
    if (equity) await noteStartedEquity(sql, id, equity)
    if (!joinsPositions) await excludeHeldSymbols(sql, id, at)
  }
  await enableAutotrade(sql, account.id, at)
  await wakeWorkers(sql)
  return undefined
}
