/** Starting, changing and stopping Autotrade, and the listings of who autotrades what. */

import type { ParamsOf } from '../../contract/index.ts'
import { ownRowsOrSite, rowsOf } from '../../domain/people/scope.ts'
import { lockAccount } from '../../storage/accounts/accounts.ts'
import { pageSetups, type SetupRow } from '../../storage/mirror/setup-listings.ts'
import {
  lockLiveSetup,
  lockUnclosedSetups,
  raiseMembership,
  type SetupChoices,
  stopAgain,
  stopSetup,
} from '../../storage/mirror/setups.ts'
import { lockStrategies, wakeWorkers } from '../../storage/orders/signals.ts'
import { type Credentials, missingCredentials, saveCredentials } from '../../storage/people/credentials.ts'
import { isRefused, refuse } from '../context.ts'
import type { Handler } from '../handler.ts'
import { paged } from '../paging.ts'
import { terminateSubscription } from '../subscribe.ts'
import { askCustomer, settleApproval } from './approvals.ts'
import { findAccount } from './find-account.ts'
import { performStart, prepareStart } from './starting.ts'

type Start = ParamsOf<'StartAutotrade'>

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

/** Programs send empty text for what they do not have; kept, it would take the place of what signs in. */
const credentialsOf = ({ AccountUserName: userName, AccountPassword: password }: Start): Credentials => ({
  userName: userName?.trim() === '' ? undefined : userName,
  password: password?.trim() === '' ? undefined : password,
})

/** On the white-label host the account's holder is asked first; elsewhere a start takes effect at once. */
export const startAutotrade: Handler<'StartAutotrade'> = async (ctx, params) => {
  const account = await findAccount(ctx, params)
  if (isRefused(account)) return account
  const { DoNotJoinCurrentSystemPositions: leaves } = params
  const ready = await prepareStart(ctx.sql, ctx.caller, account, params.StrategyId, leaves !== undefined)
  if (isRefused(ready)) return ready
  const credentials = credentialsOf(params)
  const missing = await missingCredentials(ctx.sql, account.id, credentials)
  if (missing) return refuse('MissingValue', missing === 'userName' ? 'AccountUserName' : 'AccountPassword')
  await saveCredentials(ctx.sql, ctx.secrets.keyRing, account.id, credentials, ctx.now)
  const choices = choicesOf(params)
  const joinsPositions = leaves !== true
  const asked = { account, strategyId: ready.strategy.id }
  if (ctx.host === 'WL') return askCustomer(ctx, asked, { joinsPositions, ...choices })
  const refused = await performStart(ctx.sql, ready, choices, joinsPositions, ctx.now)
  if (refused) return refused
  await settleApproval(ctx, asked, 'start')
  return { bare: true }
}

/** A stop that is repeated while something is still to be closed, as when a broker refused to, is carried out anew. */
export const stopAutotrade: Handler<'StopAutotrade'> = async (ctx, params) => {
  const account = await findAccount(ctx, params)
  if (isRefused(account)) return account
  await lockStrategies(ctx.sql, [params.StrategyId])
  await lockAccount(ctx.sql, account.id)
  const setupId = await lockLiveSetup(ctx.sql, account.id, params.StrategyId)
  const unclosed = await lockUnclosedSetups(ctx.sql, account.id, params.StrategyId)
  const stopped = setupId ?? unclosed[0]
  const headers = await settleApproval(ctx, { account, strategyId: params.StrategyId }, 'stop', stopped)
  if (stopped === undefined && !headers)
    return refuse('NotFound', 'StrategyId', 'The account does not autotrade the strategy')
  const stop = { stoppedAt: ctx.now, positionsLeftOpen: params.LeavePositionsOpen }
  if (unclosed.length > 0) await stopAgain(ctx.sql, unclosed, stop)
  if (setupId !== undefined)
    await stopSetup(ctx.sql, setupId, {
      leftVersion: await raiseMembership(ctx.sql, params.StrategyId),
      ...stop,
    })
  if (params.TerminateStrategySubscription)
    await terminateSubscription(ctx.sql, { ...account, strategyId: params.StrategyId, at: ctx.now })
  await wakeWorkers(ctx.sql)
  return { bare: true, ...(headers && { headers }) }
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

/** What the person follows and with which settings, in one account or in all. */
export const getAutotradedStrategies: Handler<'GetAutotradedStrategies'> = (ctx, params) =>
  paged(ctx, 'GetAutotradedStrategies', params, shownSetup, (request) =>
    pageSetups(
      ctx.sql,
      { personId: params.PersonId, account: params.Account },
      rowsOf(params.PersonId),
      request,
    ),
  )

/** Rows are cut to what the caller may see: own strategies, own accounts, an admin's customers. */
export const getAutotraders: Handler<'GetAutotraders'> = (ctx, params) => {
  const filter = { strategyId: params.StrategyId, brokerId: params.BrokerId, siteId: params.WhiteLabelSiteId }
  return paged(ctx, 'GetAutotraders', params, shownSetup, (request) =>
    pageSetups(ctx.sql, filter, ownRowsOrSite(ctx.caller), request),
  )
}
