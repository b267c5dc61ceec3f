/** What a white-label site may take home about its members: sign-ins, Autotrade, subscriptions and executions. */
import { dayLength, second } from '../../domain/time.ts'
import {
  countAutotrade,
  countSignIns,
  type ExecutionExportRow,
  type ExportFilter,
  exportExecutions,
  exportSignIns,
  exportStability,
  exportSubscriptions,
  type SignInRow,
  type StabilityRow,
  type SubscriptionExportRow,
} from '../../storage/operating/site-export.ts'
import { findSite } from '../../storage/people/sites.ts'
import { isRefused, refuse } from '../context.ts'
import type { Handler } from '../handler.ts'
import { whiteLabelSiteOf } from '../white-label.ts'

const accountsAtOnce = 5_000

const shownSignIn = (row: SignInRow) => ({
  Id: row.id,
  PersonId: row.personId,
  Kind: row.kind,
  Outcome: row.outcome,
  OccurredUtc: row.at,
  IPAddress: row.ipAddress,
})

const shownCounts = ({ sso, login, failed }: { sso: number; login: number; failed: number }) => ({
  Sso: sso,
  Login: login,
  Failed: failed,
})

const shownSubscription = (row: SubscriptionExportRow) => ({
  Id: row.id,
  PersonId: row.personId,
  StrategyId: row.strategyId,
  IsSimulation: row.isSimulation,
  IsAlive: row.isAlive,
  StartDate: row.startedAt,
  EndDate: row.endedAt,
  Cost: row.cost,
})

const shownStability = (row: StabilityRow) => ({
  PersonId: row.personId,
  Account: row.account,
  Connects: row.connects,
  Disconnects: row.disconnects,
  Disables: row.disables,
})

const shownExecution = (row: ExecutionExportRow) => ({
  Id: row.id,
  PersonId: row.personId,
  Account: row.account,
  StrategyId: row.strategyId,
  SignalId: row.signalId,
  Symbol: row.symbol,
  Side: row.side,
  Quantity: row.quantity,
  AvgFillPrice: row.avgPx,
  ExecutedUtc: row.at,
})

interface Asked {
  readonly FromWhen?: number | bigint | undefined
  readonly ToWhen?: number | bigint | undefined
  readonly DaysBack: number | bigint
}

/** Unix seconds, both ends included; without a beginning as many days as were asked for before the end. */
function windowOf({ FromWhen, ToWhen, DaysBack }: Asked, now: number): { from: number; to: number } {
  const to = Number(ToWhen ?? Math.floor(now / second))
  const from = Number(FromWhen ?? Math.max(0, to - (Number(DaysBack) * dayLength) / second))
  return { from, to }
}

/** What happened at a site within the window, to the second; both ends belong to it. */
export const getWlInstrumentationExport: Handler<'GetWlInstrumentationExport'> = async (ctx, params) => {
  const { sql, now } = ctx
  const siteId = await whiteLabelSiteOf(ctx, params.WhiteLabelSiteId)
  if (isRefused(siteId)) return siteId
  const site = await findSite(sql, siteId)
  const { from, to } = windowOf(params, now)
  if (from > to) return refuse('BadCombination', 'FromWhen', 'FromWhen must not be after ToWhen.')
  const filter: ExportFilter = {
    siteId,
    from: from * second,
    until: to * second + second - 1,
    now,
    personId: params.PersonId ?? null,
    strategyId: params.SystemId ?? null,
  }
  const [signInCounts, autotrade, signIns, subscriptions, stability, executions] = await Promise.all([
    countSignIns(sql, filter),
    countAutotrade(sql, filter),
    exportSignIns(sql, filter, Number(params.SessionLimit)),
    exportSubscriptions(sql, filter, Number(params.SubscriptionLimit)),
    exportStability(sql, filter, accountsAtOnce),
    exportExecutions(sql, filter, Number(params.ExecutionLimit)),
  ])
  return {
    results: [
      {
        WhiteLabelSiteId: siteId,
        WhiteLabelSiteName: site?.name ?? '',
        WhiteLabelSiteDomain: site?.domain ?? '',
        RequestedWindow: { FromWhen: from, ToWhen: to, DaysBack: params.DaysBack },
        Filters: { PersonId: params.PersonId, SystemId: params.SystemId },
        SessionEventSummary: shownCounts(signInCounts),
        SessionEvents: signIns.rows.map(shownSignIn),
        Autotrade: { Accounts: autotrade.accounts, Setups: autotrade.setups, Disabled: autotrade.disabled },
        Subscriptions: subscriptions.rows.map(shownSubscription),
        AccountStability: stability.rows.map(shownStability),
        Executions: executions.rows.map(shownExecution),
        Summary: {
          SessionEvents: signIns.total,
          Subscriptions: subscriptions.total,
          Accounts: stability.total,
          Executions: executions.total,
        },
      },
    ],
  }
}
