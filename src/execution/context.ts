/**
 * What every step of the worker gets: the rows, the moment, the log and the rules of this platform. A step
 * does the work that is due in set-based statements and says how many rows it moved. Steps may be repeated,
 * may run beside any number of other workers, and may die at any statement without leaving half a change.
 */
import type { PlanRates } from '../domain/positions/commission.ts'
import { type Charging, chargedRates } from '../domain/positions/tables/commission-plans.ts'
import type { Instant } from '../domain/time.ts'
import type { Database } from '../storage/database/database.ts'
import type { Fragment, Sql } from '../storage/database/sql.ts'
import type { Lease } from '../storage/work/leases.ts'
import type { MarketBar, MarketQuote } from './market/feed.ts'
import type { Tally } from './tally.ts'

export interface Log {
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
}

export interface WorkContext {
  db: Database
  /** Business time in epoch milliseconds; the test door moves it. */
  clock: { now(): Instant }
  log: Log
  /** Names this process among the workers. */
  workerId: string
  settings: WorkSettings
  tally: Tally
  /** Aborts when the worker is to end: long work then breaks off between two transactions. */
  ending?: AbortSignal
}

export interface WorkSettings {
  /** 'none' books every fill without commission. */
  commissionPlan: Charging
  /** Code of this installation in its client order ids. */
  environment: string
  /** Others who trade on the market's batches, for example a paper broker. Called after the strategies' fills. */
  quoteSinks: readonly MarketSink<MarketQuote>[]
  barSinks: readonly MarketSink<MarketBar>[]
  /** Moments at which time alone makes work. */
  dueSources: readonly DueSource[]
}

/** The rates by which fills are charged here; null: without commission. */
export const ratesOf = ({ settings }: WorkContext): PlanRates | null => chargedRates(settings.commissionPlan)

/** Takes a batch under the publisher's lease, if it has one; answers how many rows it moved. */
export type MarketSink<Item> = (ctx: WorkContext, batch: readonly Item[], lease?: Lease) => Promise<number>

/** The earliest moment at which time makes work of one kind; undefined when none is planned. */
export type DueSource = (sql: Sql) => Promise<Instant | undefined>

export interface Step {
  name: string
  /**
   * Whether the step has work at the business time `now`: what this process knows by itself, or a condition in SQL.
   * All conditions are asked in one statement, so an idle round costs one round trip: each must be answered by an
   * index.
   */
  due(now: Instant): Fragment | boolean
  /** When time alone next makes work for it. */
  moments?: readonly DueSource[]
  /** Does what is due; answers how many rows it moved. */
  run(ctx: WorkContext): Promise<number>
}

/** The moments of these steps; each is asked once, also where steps share it. */
export const momentsOf = (steps: readonly Step[]): DueSource[] => [
  ...new Set(steps.flatMap(({ moments = [] }) => moments)),
]
