/** AutoSync as its owner sees it: how each symbol stands and why, and the wish to open what is missing. */
import { planSync } from '../../domain/mirror/mirror-sync-plan.ts'
import { loadAccountValues } from '../../storage/accounts/account-values.ts'
import { lockAccount } from '../../storage/accounts/accounts.ts'
import { listSettings } from '../../storage/mirror/setup-listings.ts'
import { allowOpening, listLiveSetups } from '../../storage/mirror/setups.ts'
import { syncCases } from '../../storage/mirror/sync-cases.ts'
import { loadSyncFacts } from '../../storage/mirror/sync-facts.ts'
import { lockStrategies, wakeWorkers } from '../../storage/orders/signals.ts'
import { isRefused, refuse } from '../context.ts'
import type { Handler } from '../handler.ts'
import { shownSymbols } from '../symbols.ts'
import { findAccount } from './find-account.ts'
import { shownSettings } from './settings.ts'

/** A report of positions; another kind would be of working orders. */
const reportType = 1

/** What AutoSync would find now, line by line: planned by the same function, and nothing is written. */
export const getAutotradeSyncStatusReport: Handler<'GetAutotradeSyncStatusReport'> = async (ctx, params) => {
  const settings = await listSettings(ctx.sql, params.PersonId, params.Account)
  const wanted = settings.filter(
    ({ strategyId }) => params.StrategyId === undefined || strategyId === Number(params.StrategyId),
  )
  const values = await loadAccountValues(ctx.sql, [...new Set(wanted.map(({ accountId }) => accountId))])
  const facts = await loadSyncFacts(
    ctx.sql,
    wanted.map(({ id }) => id),
  )
  const lines = syncCases(facts, ctx.now).flatMap(({ setup, input, obstacles, instruments }) => {
    const row = wanted.find(({ id }) => id === setup.id)!
    const { report } = planSync(input, obstacles)
    return report.map((line) => ({ row, line, instrument: instruments.get(line.symbol)! }))
  })
  return {
    results: lines.map(({ row, line, instrument }, place) => ({
      Id: place + 1,
      ReportType: reportType,
      PersonId: row.personId,
      Account: row.account,
      StrategyId: row.strategyId,
      StrategyName: row.strategyName,
      BrokerName: row.brokerName,
      AccountQuantity: line.accountQuantity,
      StrategyQuantity: line.strategyQuantity,
      ScaledQuantity: line.scaledQuantity,
      InSync: line.inSync,
      NotInSyncReason: line.text ?? line.reason,
      ...shownSymbols(instrument),
      AutotradeSettings: shownSettings(row, ctx, values.get(row.accountId)),
    })),
  }
}

/** The strategies that the call names; all of the account where it names none. */
const named = (params: {
  StrategyId?: number | bigint | undefined
  StrategyIds?: readonly (number | bigint)[] | undefined
}): number[] => [params.StrategyId ?? [], params.StrategyIds ?? []].flat().map(Number)

/** Lets AutoSync open once what is missing, in the named strategies or in all that the account follows. */
export const syncPositionsToOpen: Handler<'SyncPositionsToOpen'> = async (ctx, params) => {
  const account = await findAccount(ctx, params)
  if (isRefused(account)) return account
  const wanted = named(params)
  const find = async () =>
    (await listLiveSetups(ctx.sql, account.id)).filter(
      ({ strategyId }) => wanted.length === 0 || wanted.includes(strategyId),
    )
  const locked = (await find()).map(({ strategyId }) => strategyId)
  await lockStrategies(ctx.sql, locked)
  await lockAccount(ctx.sql, account.id)
  // What was stopped while the locks were waited for is followed no more.
  const setups = (await find()).filter(({ strategyId }) => locked.includes(strategyId))
  if (setups.length < Math.max(1, new Set(wanted).size)) {
    const isListed = params.StrategyId === undefined && wanted.length > 0
    const field = isListed ? 'StrategyIds' : 'StrategyId'
    return refuse('NotFound', field, 'The account does not autotrade the strategy')
  }
  await allowOpening(
    ctx.sql,
    setups.map(({ id }) => id),
    ctx.now,
  )
  await wakeWorkers(ctx.sql)
  return { results: [true] }
}
