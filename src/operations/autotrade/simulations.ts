/** Simulated subscriptions: begun and ended by the site's admin, measured by what their strategies gained. */
import type { ParamsOf } from '../../contract/index.ts'
import { type SimSkip, simResult, simSkip } from '../../domain/billing/simulation.ts'
import { decOrNull } from '../../domain/decimal.ts'
import { ownRowsOrSite } from '../../domain/people/scope.ts'
import { dayLength } from '../../domain/time.ts'
import {
  listSimulations,
  loadSimFacts,
  loadStrategyValues,
  type SimRow,
} from '../../storage/accounts/simulations.ts'
import { lockStrategies } from '../../storage/orders/signals.ts'
import { lockSubscription } from '../../storage/people/subscriptions.ts'
import { isRefused, refuse } from '../context.ts'
import type { Handler } from '../handler.ts'
import { beginFor, endSimulation, subscribe } from '../subscribe.ts'

const words: Record<SimSkip, string> = {
  already_subscribed: 'The person subscribes to the strategy',
  already_simulated: 'The strategy is being simulated',
  simulated_recently: 'The strategy was simulated within the last 30 days',
  strategy_not_found: 'There is no such strategy',
  strategy_not_alive: 'The strategy is not alive',
  strategy_private: 'The strategy is private',
  not_in_site_catalog: 'The site does not offer the strategy',
}

/** Begins what can begin; what cannot is skipped with its reason. */
export const startSim: Handler<'StartSim'> = async (ctx, { PersonId: personId, StrategyIds: ids }) => {
  const siteId = await beginFor(ctx.sql, personId)
  if (isRefused(siteId)) return siteId
  await lockStrategies(ctx.sql, ids)
  const facts = await loadSimFacts(ctx.sql, personId, siteId, ids)
  const created: { StrategyId: number; SubscriptionId: number; StartDate: number }[] = []
  const skipped: { StrategyId: number | bigint; Reason: SimSkip; Message: string }[] = []
  for (const id of ids) {
    const reason = simSkip(facts.get(Number(id)), ctx.now)
    if (reason) {
      skipped.push({ StrategyId: id, Reason: reason, Message: words[reason] })
      continue
    }
    const opened = await subscribe(ctx.sql, { personId, strategyId: id, kind: 'simulated', at: ctx.now })
    if (isRefused(opened)) return opened
    created.push({ StrategyId: Number(id), SubscriptionId: opened, StartDate: ctx.now })
  }
  return { results: [{ PersonId: personId, Created: created, Skipped: skipped }] }
}

/** Ends a simulated subscription; a real one is not touched. */
export const stopSim: Handler<'StopSim'> = async (ctx, { PersonId: personId, StrategyId: strategyId }) => {
  await lockStrategies(ctx.sql, [strategyId])
  const present = await lockSubscription(ctx.sql, personId, strategyId)
  if (!present) return refuse('NotFound', 'StrategyId', 'The person does not simulate the strategy')
  if (present.kind !== 'simulated')
    return refuse('StateConflict', 'StrategyId', 'The subscription is a real one')
  await endSimulation(ctx.sql, present.id, { personId, strategyId, at: ctx.now }, 'stopped')
  return { results: [{ PersonId: personId, StrategyId: strategyId, StoppedSubscriptionId: present.id }] }
}

/** How old a simulation may be that is listed unless told otherwise. */
const recentDays = 365

/** The earliest start that is listed: who asks for what has ended as well means the whole history. */
function oldestStart(
  { MaxAccountDays: days, ActiveOnly: activeOnly }: ParamsOf<'GetSimResults'>,
  now: number,
): number {
  if (days === undefined && !activeOnly) return 0
  return now - (days ?? recentDays) * dayLength
}

/** Without a person: one's own, and those of an admin's site. */
export const getSimResults: Handler<'GetSimResults'> = async (ctx, params) => {
  const rows = await listSimulations(ctx.sql, {
    scope: ownRowsOrSite(ctx.caller),
    personId: params.PersonId,
    siteId: params.WhiteLabelSiteId,
    activeOnly: params.ActiveOnly,
    loginDays: params.MinLoginDays ?? 0,
    from: oldestStart(params, ctx.now),
  })
  const values = await loadStrategyValues(ctx.sql, [...new Set(rows.map(({ strategyId }) => strategyId))])
  return { results: rows.map((row) => shownSimulation(row, values)) }
}

function shownSimulation(row: SimRow, values: Awaited<ReturnType<typeof loadStrategyValues>>) {
  const started = decOrNull(row.startedEquity)
  const noted = decOrNull(row.endedEquity)
  const ended = row.endedAt === null ? (values.get(row.strategyId) ?? null) : noted
  const { delta, percent } = simResult(started, ended)
  return {
    PersonId: row.personId,
    FirstName: row.firstName,
    LastName: row.lastName,
    Email: row.email,
    Account: row.account ?? `SIM${row.subscriptionId}`,
    StrategyId: row.strategyId,
    StrategyName: row.strategyName,
    StartDate: row.startedAt,
    EndDate: row.endedAt,
    StartEquity: started,
    EndEquity: ended,
    TotalReturn: percent?.toDecimalPlaces(8) ?? null,
    TotalDelta: delta,
    ScalingFactor: row.scalingPercentage ?? 100,
    SubscriptionId: row.subscriptionId,
    IsResultReady: delta !== null,
  }
}
