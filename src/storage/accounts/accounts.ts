/** Brokerage accounts and the brokers behind them. */
import { syncGroups } from '../../domain/mirror/sync-groups.ts'
import { asked } from '../database/asked.ts'
import { fragment, identifier, join, type Sql } from '../database/sql.ts'

export interface BrokerRow {
  id: number
  name: string
  connectionName: string
  isEnabled: boolean
}

/** Brokers in the order of their ids. */
export const listBrokers = (sql: Sql, includeDisabled: boolean): Promise<BrokerRow[]> =>
  sql.rows<BrokerRow>`
    select id, name, connection_name as "connectionName", is_enabled as "isEnabled" from broker
    where is_enabled or ${includeDisabled}::boolean order by id`

export interface AccountRow {
  id: number
  personId: number
  brokerId: number
  isBrokerEnabled: boolean
  /** 0 live, 1 paper, 2 simulated. */
  kind: 0 | 1 | 2
  currency: string
  isAutotradeDisabled: boolean
  /** Feeds a strategy with its own trades. */
  isTradeLeader: boolean
}

/** Whether an account (as `a`) is approved for broker transmit: its holder's, not a number that others had approved. */
export const isTradeLeader = fragment`exists (
  select from approved_account approved where approved.connection_type = 1 and approved.deleted_at is null
    and approved.broker_id = a.broker_id and approved.account = a.account and approved.person_id = a.person_id)`

const syncedAt = join(
  syncGroups.map((group) => fragment`setup.${identifier(`last_sync_${group}`)}`),
  ', ',
)

/**
 * When what is shown of a setup with its account (as `a`) changed last, with its passes, what it leaves alone and its
 * broker.
 */
export const settingsChangedAt = fragment`greatest(a.settings_changed_at, setup.changed_at, ${syncedAt}, (
  select broker.changed_at from broker where broker.id = a.broker_id), (
  select max(greatest(left_alone.excluded_at, left_alone.ended_at)) from setup_exclusion left_alone
  where left_alone.setup_id = setup.id))`

const accountRows = fragment`
  select a.id, a.person_id as "personId", a.broker_id as "brokerId", b.is_enabled as "isBrokerEnabled", a.kind,
    a.currency, a.is_autotrade_disabled as "isAutotradeDisabled", ${isTradeLeader} as "isTradeLeader"
  from account a join broker b on b.id = a.broker_id`

/** Accounts with this number; a person, a broker narrow the choice. Brokers may give the same number twice. */
export const listAccounts = (
  sql: Sql,
  wanted: {
    account?: string | undefined
    personId?: number | bigint | undefined
    brokerId?: number | undefined
  },
): Promise<AccountRow[]> =>
  sql.rows<AccountRow>`
    ${accountRows}
    where ${asked`a.account = ${wanted.account}::text`}
      and ${asked`a.person_id = ${wanted.personId}::bigint`}
      and ${asked`a.broker_id = ${wanted.brokerId}::int`}
    order by a.id`

/** Lifts a disabling of Autotrade: somebody with the right to has started it again. */
export async function enableAutotrade(sql: Sql, accountId: number, changedAt: string): Promise<void> {
  await sql.run`
    update account set is_autotrade_disabled = false, autotrade_disabled_reason = null,
      settings_changed_at = ${changedAt}::timestamptz
    where id = ${accountId}::bigint`
}

/** Locks an account's row; every writer that also locks the strategy has done that before. */
export async function lockAccount(sql: Sql, accountId: number): Promise<void> {
  await sql.run`select from account where id = ${accountId}::bigint for no key update`
}

/** What an account's holder switches; an absent member stays as it is. */
export interface AccountSwitches {
  readonly isAutotradeEnabled: boolean | undefined
  readonly isSyncEnabled: boolean | undefined
}

/** Switches accounts; switching off notes `reason`, switching on forgets why it was off. */
export async function switchAccounts(
  sql: Sql,
  accountIds: readonly number[],
  { isAutotradeEnabled: trades, isSyncEnabled: syncs }: AccountSwitches,
  change: { readonly reason: string; readonly changedAt: string },
): Promise<void> {
  await sql.run`
    update account set
      is_autotrade_disabled = coalesce(not ${trades}::boolean, is_autotrade_disabled),
      autotrade_disabled_reason = case ${trades}::boolean when true then null
        when false then coalesce(autotrade_disabled_reason, ${change.reason}) else autotrade_disabled_reason end,
      is_sync_enabled = coalesce(${syncs}::boolean, is_sync_enabled),
      sync_disabled_reason = case ${syncs}::boolean when true then null
        when false then coalesce(sync_disabled_reason, ${change.reason}) else sync_disabled_reason end,
      settings_changed_at = ${change.changedAt}::timestamptz
    where id = any(${accountIds}::bigint[])`
}

/** Locks accounts in the order of their ids. */
export async function lockAccounts(sql: Sql, accountIds: readonly number[]): Promise<void> {
  await sql.run`select from account where id = any(${accountIds}::bigint[]) order by id for no key update`
}

/**
 * Locks accounts and reads them in a statement of its own: what they are approved for may have changed while the locks
 * were waited for.
 */
export async function lockAndReadAccounts(sql: Sql, accountIds: readonly number[]): Promise<AccountRow[]> {
  await lockAccounts(sql, accountIds)
  return sql.rows<AccountRow>`${accountRows} where a.id = any(${accountIds}::bigint[]) order by a.id`
}
