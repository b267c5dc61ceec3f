/** The plans that a white-label site offers, and who pays for Autotrade there. */
import { findFeePolicy, listPlans, type PlanRow } from '../../storage/billing/catalog.ts'
import { isRefused } from '../context.ts'
import type { Handler } from '../handler.ts'
import { whiteLabelSiteOf } from '../white-label.ts'

const shownPlan = (row: PlanRow) => ({
  Id: row.id,
  Name: row.name,
  StrategiesIncluded: row.strategiesIncluded,
  Price: row.price,
  Currency: row.currency,
})

/** The plans of a site by the month and the year, and who pays its fees. */
export const getAutotradePlans: Handler<'GetAutotradePlans'> = async (ctx, params) => {
  const siteId = await whiteLabelSiteOf(ctx, params.WhiteLabelSiteId)
  if (isRefused(siteId)) return siteId
  const plans = await listPlans(ctx.sql, siteId)
  const { payer, tiers } = await findFeePolicy(ctx.sql, siteId)
  const shownTiers = tiers.map(({ fromAccounts, toAccounts, price, currency }) => ({
    FromAccounts: fromAccounts,
    ToAccounts: toAccounts,
    PricePerAccount: price,
    Currency: currency,
  }))
  return {
    results: [
      {
        WhiteLabelSiteId: siteId,
        MonthlyPlans: plans.filter(({ termDays }) => termDays === 30).map(shownPlan),
        AnnualPlans: plans.filter(({ termDays }) => termDays === 365).map(shownPlan),
        FeePolicy: { Payer: payer, ...(payer === 'site' && { Tiers: shownTiers }) },
      },
    ],
  }
}
