/** Brokerage accounts and the brokers behind them. */
import type { Sql } from './sql.ts'

export interface BrokerRow {
  id: number
  name: string
  connectionName: string
  isEnabled: boolean
}

export const listBrokers = (sql: Sql, includeDisabled: boolean): Promise<BrokerRow[]> =>
  sql.rows<BrokerRow>`
    select id, name, connection_name as "connectionName", is_enabled as "isEnabled" from broker
    where is_enabled or ${includeDisabled}::boolean order by id`

export interface AccountRow {
  id: number
  personId: number
  brokerId: number
  /** 0 live, 1 paper, 2 simulated. */
  kind: 0 | 1 | 2
  isBrokerEnabled: boolean
}

/** Accounts with this number; a person, a broker narrow the choice. Brokers may give the same number twice. */
export const listAccounts = (
  sql: Sql,
  wanted: { account: string; personId?: number | bigint | undefined; brokerId?: number | undefined },
): Promise<AccountRow[]> =>
  sql.rows<AccountRow>`
    select a.id, a.person_id as "personId", a.broker_id as "brokerId", a.kind, b.is_enabled as "isBrokerEnabled"
    from account a join broker b on b.id = a.broker_id
    where a.account = ${wanted.account}
      and (${wanted.personId}::bigint is null or a.person_id = ${wanted.personId}::bigint)
      and (${wanted.brokerId}::int is null or a.broker_id = ${wanted.brokerId}::int)
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
