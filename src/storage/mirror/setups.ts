/**
 * Setups: one strategy autotraded in one account, from its start to its stop. Starting and stopping lock the
 * strategy before the account, as every writer does, and count up the strategy's membership version: a signal
 * notes the version it began under, and that fixes who follows it.
 */

import { type Fragment, fragment, idsOf, type Sql } from '../database/sql.ts'
import { instant } from '../database/wire.ts'
import { cancelOrders } from './account-orders.ts'

/**
 * Says of an order that its setup was stopped: it was ended for that, or it closes what is held. A refused cancel takes
 * that away.
 */
export const stoppedInfo = 'autotrade stopped'

/** Per class: may it trade, which way, and how much. Absent caps are null. */
export interface SetupChoices {
  scalingPercentage: number
  stocksEnabled: boolean
  maxStocksDollars: number | null
  optionsEnabled: boolean
  optionsShort: boolean
  maxOptions: number | null
  futuresEnabled: boolean
  maxFutures: number | null
  forexEnabled: boolean
  maxForex: number | null
  /** Dollars that a symbol may lose at most; 0 for no stop. */
  autoStopLossDollars: number | bigint
}

/** The id of the live setup of a strategy in an account, locked; not against rows that name it, such as fees that are settled. */
export const lockLiveSetup = async (
  sql: Sql,
  accountId: number,
  strategyId: number | bigint,
): Promise<number | undefined> =>
  (
    await sql.maybe<{ id: number }>`
      select id from setup
      where account_id = ${accountId}::bigint and strategy_id = ${strategyId}::bigint and stopped_at is null
      for no key update`
  )?.id

/** The ids of stopped setups of a strategy in an account that hold what is still to be closed, locked. */
export const lockUnclosedSetups = (
  sql: Sql,
  accountId: number,
  strategyId: number | bigint,
): Promise<number[]> =>
  idsOf(sql.rows`
    select id from setup
    where account_id = ${accountId}::bigint and strategy_id = ${strategyId}::bigint
      and stopped_at is not null and not positions_left_open and closed_at is null
      and exists (select from account_position p where p.setup_id = setup.id and p.quantity <> 0)
    order by id for no key update`)

/** The live setups of an account, by id. */
export const listLiveSetups = (sql: Sql, accountId: number): Promise<{ id: number; strategyId: number }[]> =>
  sql.rows`
    select id, strategy_id as "strategyId" from setup
    where account_id = ${accountId}::bigint and stopped_at is null order by id`

/** Counts a join or leave of the strategy and answers the new version; its row is locked from here on. */
export const raiseMembership = async (sql: Sql, strategyId: number | bigint): Promise<number> =>
  (
    await sql.one<{ version: number }>`
      update strategy set membership_version = membership_version + 1 where id = ${strategyId}::bigint
      returning membership_version as version`
  ).version

const choiceColumns = fragment`
  scaling_percentage, stocks_enabled, stocks_long, stocks_short, max_stocks_dollars, options_enabled, options_long,
  options_short, max_options, futures_enabled, futures_long, futures_short, max_futures, forex_enabled, forex_long,
  forex_short, max_forex, will_sync_stocks_usa, will_sync_stocks_europe, will_sync_options_usa,
  will_sync_options_europe, will_sync_futures_usa, will_sync_futures_europe, will_sync_futures_asia,
  will_sync_forex, auto_stop_loss_dollars, retries_after`

/** The last order that was made: what brokers refused up to it is forgiven. */
const lastOrder = fragment`
  coalesce(pg_sequence_last_value('account_order_id_seq'::regclass), 0)`

/** Long and short follow Enabled, except short options; every enabled group may be synced to open once. */
const choiceValues = (choices: SetupChoices): Fragment => {
  const stocks = fragment`${choices.stocksEnabled}::boolean`
  const options = fragment`${choices.optionsEnabled}::boolean`
  const futures = fragment`${choices.futuresEnabled}::boolean`
  const forex = fragment`${choices.forexEnabled}::boolean`
  return fragment`
    ${choices.scalingPercentage}::int, ${stocks}, ${stocks}, ${stocks}, ${choices.maxStocksDollars}::int,
    ${options}, ${options}, ${choices.optionsShort}::boolean, ${choices.maxOptions}::int,
    ${futures}, ${futures}, ${futures}, ${choices.maxFutures}::int, ${forex}, ${forex}, ${forex},
    ${choices.maxForex}::int, ${stocks}, ${stocks}, ${options}, ${options}, ${futures}, ${futures}, ${futures}, ${forex},
    ${choices.autoStopLossDollars}::bigint, ${lastOrder}`
}

export interface NewSetup {
  accountId: number
  strategyId: number | bigint
  joinedVersion: number
  joinsPositions: boolean
  startedAt: string
}

/** Starts a setup; answers its id. */
export const insertSetup = async (sql: Sql, setup: NewSetup, choices: SetupChoices): Promise<number> =>
  (
    await sql.one<{ id: number }>`
      insert into setup (account_id, strategy_id, joined_version, joins_positions, started_at, changed_at, ${choiceColumns})
      values (${setup.accountId}::bigint, ${setup.strategyId}::bigint, ${setup.joinedVersion}::bigint,
        ${setup.joinsPositions}::boolean, ${setup.startedAt}::timestamptz, ${setup.startedAt}::timestamptz,
        ${choiceValues(choices)})
      returning id`
  ).id

/** Replaces every choice of a setup. */
export async function updateSetup(
  sql: Sql,
  setupId: number,
  choices: SetupChoices,
  changedAt: string,
): Promise<void> {
  await sql.run`
    update setup set (${choiceColumns}) = row(${choiceValues(choices)}), changed_at = ${changedAt}::timestamptz
    where id = ${setupId}::bigint`
}

/** Sets every enabled group's permission to open, and forgives what brokers refused. Answers how many setups. */
export const allowOpening = (sql: Sql, setupIds: readonly number[], now: number): Promise<number> => sql.run`
  update setup set changed_at = ${instant(now)}::timestamptz,
    retries_after = ${lastOrder},
    will_sync_stocks_usa = stocks_enabled, will_sync_stocks_europe = stocks_enabled,
    will_sync_options_usa = options_enabled, will_sync_options_europe = options_enabled,
    will_sync_futures_usa = futures_enabled, will_sync_futures_europe = futures_enabled,
    will_sync_futures_asia = futures_enabled, will_sync_forex = forex_enabled
  where id = any(${setupIds}::bigint[]) and stopped_at is null`

/**
 * Stops a setup. Copies that no broker has seen end at once; the others wait for their cancel. What is held is
 * closed by the worker unless it is to be left open.
 */
export async function stopSetup(
  sql: Sql,
  setupId: number,
  stop: { leftVersion: number; stoppedAt: number; positionsLeftOpen: boolean },
): Promise<void> {
  const stoppedAt = instant(stop.stoppedAt)
  await sql.run`
    update setup set stopped_at = ${stoppedAt}::timestamptz, changed_at = ${stoppedAt}::timestamptz,
      left_version = ${stop.leftVersion}::bigint, positions_left_open = ${stop.positionsLeftOpen}::boolean,
      fence = fence + 1
    where id = ${setupId}::bigint`
  await cancelOrders(sql, fragment`o.setup_id = ${setupId}::bigint`, {
    at: stop.stoppedAt,
    info: stoppedInfo,
  })
}

/** Says once more of stopped setups what is to become of what they hold: refused closes are tried again, or it stays. */
export async function stopAgain(
  sql: Sql,
  setupIds: readonly number[],
  stop: { stoppedAt: number; positionsLeftOpen: boolean },
): Promise<void> {
  await sql.run`
    update setup set positions_left_open = ${stop.positionsLeftOpen}::boolean, retries_after = ${lastOrder}
    where id = any(${setupIds}::bigint[])`
  if (stop.positionsLeftOpen)
    await cancelOrders(sql, fragment`o.setup_id = any(${setupIds}::bigint[])`, {
      at: stop.stoppedAt,
      info: stoppedInfo,
    })
}
