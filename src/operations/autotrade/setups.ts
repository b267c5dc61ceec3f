/** Starting, changing and stopping Autotrade, and the listings of who autotrades what. */
import type { ParamsOf } from '../../contract/index.ts'
import { isPlatformAdmin, isSiteAdmin, ownsStrategy } from '../../domain/access.ts'
import { loadStrategyFacts } from '../../storage/access.ts'
import { enableAutotrade, listAccounts, lockAccount } from '../../storage/accounts.ts'
import { pageSetups, type SetupRow } from '../../storage/setup-listings.ts'
import {
  excludeHeldSymbols,
  insertSetup,
  lockLiveSetup,
  raiseMembership,
  type SetupChoices,
  stopSetup,
  updateSetup,
} from '../../storage/setups.ts'
import { type LockedStrategy, lockStrategies, wakeWorkers } from '../../storage/signals.ts'
import { cancelSubscription } from '../../storage/subscriptions.ts'
import { instant } from '../../storage/wire.ts'
import { type Context, isRefused, type Refused, refuse } from '../context.ts'
import type { Handler } from '../handler.ts'
import { paged } from '../paging.ts'
import { subscribe } from '../subscribe.ts'

type Start = ParamsOf<'StartAutotrade'>

/** Parts of a start that are not built yet; a follower must not believe in protection that is not there. */
function notOfferedIn(ctx: Context, params: Start): Refused | undefined {
  if (ctx.host === 'WL')
    return refuse('NotOfferedYet', 'StrategyId', 'Approval by the customer is not offered yet')
  if (params.AccountUserName !== undefined) return refuse('NotOfferedYet', 'AccountUserName')
  if (params.AccountPassword !== undefined) return refuse('NotOfferedYet', 'AccountPassword')
  return undefined
}

const choicesOf = (params: Start): SetupChoices => ({
  scalingPercentage: Number(params.ScalingPercentage ?? 100),
  stocksEnabled: params.StocksEnabled,
  maxStocksDollars: params.MaxStocksDollars ?? null,
  optionsEnabled: params.OptionsEnabled,
  optionsShort: params.ShortOptionsEnabled,
  maxOptions: params.MaxOptions ?? null,
  futuresEnabled: params.FuturesEnabled,
  maxFutures: params.MaxFutures ?? null,
  forexEnabled: params.ForexEnabled,
  maxForex: params.MaxForex ?? null,
  autoStopLossDollars: params.AutoStopLoss ?? 0,
})

/** What is opened by following in a live, a paper and a simulated account. */
const subscriptionKinds = { 0: 'paid', 1: 'paper', 2: 'simulated' } as const

/** The one account that the call names. Refuses one that is not there, and a number that two brokers gave. */
export async function findAccount(
  ctx: Context,
  wanted: { Account: string; PersonId?: number | bigint | undefined; BrokerId?: number | undefined },
) {
  const [account, second] = await listAccounts(ctx.sql, {
    account: wanted.Account,
    personId: wanted.PersonId ?? ctx.caller.personId,
    brokerId: wanted.BrokerId,
  })
  if (!account) return refuse('NotFound', wanted.BrokerId === undefined ? 'Account' : 'BrokerId')
  if (second) return refuse('BadCombination', 'BrokerId', 'Several brokers have an account of this number')
  return account
}

/** Why the strategy may not get a new follower. What the caller may not know of does not exist. */
async function refusedStrategy(ctx: Context, strategy: LockedStrategy): Promise<Refused | undefined> {
  const [facts] = await loadStrategyFacts(ctx.sql, [strategy.id], [ctx.caller.personId])
  if (!facts) return refuse('NotFound', 'StrategyId')
  if (!strategy.isAlive) return refuse('StateConflict', 'StrategyId', 'The strategy is not alive')
  if (ownsStrategy(ctx.caller, facts)) return undefined
  if (facts.isPrivate) {
    const knows = facts.isLiveSubscriber || isSiteAdmin(ctx.caller, facts)
    return knows
      ? refuse('StateConflict', 'StrategyId', 'The strategy is private')
      : refuse('NotFound', 'StrategyId')
  }
  return strategy.noSubsAllowed
    ? refuse('StateConflict', 'StrategyId', 'The strategy takes no subscribers')
    : undefined
}

export const startAutotrade: Handler<'StartAutotrade'> = async (ctx, params) => {
  const missing = notOfferedIn(ctx, params)
  if (missing) return missing
  const account = await findAccount(ctx, params)
  if (isRefused(account)) return account
  const strategy = (await lockStrategies(ctx.sql, [params.StrategyId])).get(Number(params.StrategyId))
  if (!strategy) return refuse('NotFound', 'StrategyId')
  await lockAccount(ctx.sql, account.id)
  const setup = await lockLiveSetup(ctx.sql, account.id, strategy.id)
  if (setup && params.DoNotJoinCurrentSystemPositions !== undefined) {
    return refuse(
      'BadCombination',
      'DoNotJoinCurrentSystemPositions',
      'Only a new setup may choose not to join',
    )
  }
  const refused = setup ? undefined : await refusedStrategy(ctx, strategy)
  if (refused) return refused
  if (!account.isBrokerEnabled)
    return refuse('StateConflict', 'Account', 'The broker of the account is disabled')
  const now = instant(ctx.now)
  if (setup) await updateSetup(ctx.sql, setup.id, choicesOf(params), now)
  else {
    const kind = subscriptionKinds[account.kind]
    const wanted = { personId: account.personId, strategyId: strategy.id, kind, at: ctx.now }
    const subscribed = await subscribe(ctx.sql, wanted)
    if (isRefused(subscribed)) return subscribed
    await joinStrategy(ctx, params, account.id, strategy)
  }
  await enableAutotrade(ctx.sql, account.id, now)
  await wakeWorkers(ctx.sql)
  return { bare: true }
}

async function joinStrategy(
  ctx: Context,
  params: Start,
  accountId: number,
  strategy: LockedStrategy,
): Promise<void> {
  const joinsPositions = params.DoNotJoinCurrentSystemPositions !== true
  const startedAt = instant(ctx.now)
  const joinedVersion = await raiseMembership(ctx.sql, strategy.id)
  const start = { accountId, strategyId: strategy.id, joinedVersion, joinsPositions, startedAt }
  const id = await insertSetup(ctx.sql, start, choicesOf(params))
  if (!joinsPositions) await excludeHeldSymbols(ctx.sql, id, startedAt)
}

export const stopAutotrade: Handler<'StopAutotrade'> = async (ctx, params) => {
  const account = await findAccount(ctx, params)
  if (isRefused(account)) return account
  await lockStrategies(ctx.sql, [params.StrategyId])
  await lockAccount(ctx.sql, account.id)
  const setup = await lockLiveSetup(ctx.sql, account.id, params.StrategyId)
  if (!setup) return refuse('NotFound', 'StrategyId', 'The account does not autotrade the strategy')
  await stopSetup(ctx.sql, setup.id, {
    leftVersion: await raiseMembership(ctx.sql, params.StrategyId),
    stoppedAt: ctx.now,
    positionsLeftOpen: params.LeavePositionsOpen,
  })
  if (params.TerminateStrategySubscription)
    await cancelSubscription(ctx.sql, account.personId, params.StrategyId)
  await wakeWorkers(ctx.sql)
  return { bare: true }
}

const shownSetup = (row: SetupRow) => ({
  Id: row.id,
  PersonId: row.personId,
  Account: row.account,
  ScalingPercentage: row.scalingPercentage,
  StrategyId: row.strategyId,
  StrategyName: row.strategyName,
  BrokerId: row.brokerId,
  BrokerName: row.brokerName,
  StartDate: row.startedAt,
  LastModified: row.changedAt,
})

const everything = { personId: null, siteId: null }

export const getAutotradedStrategies: Handler<'GetAutotradedStrategies'> = (ctx, params) =>
  paged(ctx, 'GetAutotradedStrategies', params, shownSetup, (asked) =>
    pageSetups(ctx.sql, { personId: params.PersonId, account: params.Account }, everything, asked),
  )

/** Rows are cut to what the caller may see: own strategies, own accounts, an admin's customers. */
export const getAutotraders: Handler<'GetAutotraders'> = (ctx, params) => {
  const { caller } = ctx
  const isAdmin = caller.role === 'geosite_admin' || caller.role === 'whitelabel_admin'
  const scope = isPlatformAdmin(caller)
    ? everything
    : { personId: caller.personId, siteId: isAdmin ? caller.siteId : null }
  const filter = { strategyId: params.StrategyId, brokerId: params.BrokerId, siteId: params.WhiteLabelSiteId }
  return paged(ctx, 'GetAutotraders', params, shownSetup, (asked) =>
    pageSetups(ctx.sql, filter, scope, asked),
  )
}
