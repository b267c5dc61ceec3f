/**
 * The commission plans that strategies choose from, as an installation starts with them: configuration, in
 * account currency, per unit (share, contract, 1000 of base currency) and side. Fractions of the notional:
 * 0.01 is one percent. Where a plan's broker does not offer a class, the default plan's rates stand.
 */

import { dec } from '../../decimal.ts'
import type { CommissionRates, PlanRates } from '../commission.ts'

export type CommissionPlan = 0 | 1 | 3 | 4 | 5

interface RateRow {
  readonly perUnit?: string
  readonly minPerOrder?: string
  readonly pctOfNotional?: string
  readonly maxPctOfNotional?: string
}

const read = (text: string | undefined) => (text === undefined ? null : dec(text))

const rates = (row: RateRow): CommissionRates => ({
  perUnit: read(row.perUnit),
  minPerOrder: read(row.minPerOrder),
  pctOfNotional: read(row.pctOfNotional),
  maxPctOfNotional: read(row.maxPctOfNotional),
})

const standard: PlanRates = {
  CS: rates({ perUnit: '0.01' }),
  OPT: rates({ perUnit: '1' }),
  FUT: rates({ perUnit: '2.5' }),
  FOR: rates({ pctOfNotional: '0.00002' }),
}

/** Whether this platform charges its strategies by the default plan, or nothing at all. */
export type Charging = 'none' | 'default'

export const commissionPlans: Readonly<Record<CommissionPlan, PlanRates>> = {
  0: standard,
  // A European retail broker: a share of the notional with a minimum.
  1: {
    CS: rates({ pctOfNotional: '0.0005', minPerOrder: '3' }),
    OPT: rates({ perUnit: '1.5' }),
    FUT: rates({ perUnit: '2' }),
    FOR: rates({ pctOfNotional: '0.00003' }),
  },
  // Interactive Brokers, fixed pricing.
  3: {
    CS: rates({ perUnit: '0.005', minPerOrder: '1', maxPctOfNotional: '0.01' }),
    OPT: rates({ perUnit: '0.65', minPerOrder: '1' }),
    FUT: rates({ perUnit: '2.25' }),
    FOR: rates({ pctOfNotional: '0.00002', minPerOrder: '2' }),
  },
  // Tradovate: futures only.
  4: { ...standard, FUT: rates({ perUnit: '1.29' }) },
  // StoneX: futures and forex.
  5: { ...standard, FUT: rates({ perUnit: '2.25' }), FOR: rates({ pctOfNotional: '0.00004' }) },
}

/** The rates by which fills are charged; null: without commission. */
export const chargedRates = (charging: Charging): PlanRates | null =>
  charging === 'none' ? null : commissionPlans[0]
