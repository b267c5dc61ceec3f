/** Statements that only a test platform needs: the product itself never changes these facts from outside. */

import type { Side } from '../domain/codes.ts'
import { paperBroker } from '../operations/bootstrap.ts'
import { idsOf, type Sql } from '../storage/database/sql.ts'
import type { NewBroker } from '../storage/operating/provision.ts'

/** The scripted broker of live accounts, and the paper broker that every platform has. */
export const builtInBrokers: Readonly<Record<'live' | 'paper', NewBroker>> = {
  live: { name: 'Scripted', connectionName: 'Scripted', environment: 'live', adapter: 'scripted' },
  paper: paperBroker,
}

/** Sites by what a caller may call them: id as text, name, code or domain. */
export const listSites = (sql: Sql): Promise<{ id: number; kind: string; names: (string | null)[] }[]> =>
  sql.rows`select id, kind, array[id::text, name, code, domain] as names from site order by id`

/** The environments of brokers by id. */
export async function brokerEnvironments(sql: Sql): Promise<Map<number, 'live' | 'paper'>> {
  const rows = await sql.rows<{
    id: number
    environment: 'live' | 'paper'
  }>`select id, environment from broker`
  return new Map(rows.map(({ id, environment }) => [id, environment]))
}

/** A broker with an id of the caller's choosing. */
export async function insertBroker(sql: Sql, broker: NewBroker & { id: number }): Promise<void> {
  await sql.run`
    insert into broker (id, name, connection_name, environment, adapter) overriding system value
    values (${broker.id}, ${broker.name}, ${broker.connectionName}, ${broker.environment}, ${broker.adapter})`
}

/** Instruments under any of the spellings, with what the door needs of them. */
export const listInstruments = (
  sql: Sql,
  spellings: readonly string[],
): Promise<{ symbol: string; calendar: string }[]> =>
  sql.rows`select symbol, calendar from instrument where symbol = any(${spellings}::text[])`

/** People by id. */
export const knownPersons = async (sql: Sql, ids: readonly number[]): Promise<Set<number>> =>
  new Set(await idsOf(sql.rows`select id from person where id = any(${ids}::bigint[])`))

/** Accounts of this number, the oldest first: brokers may give the same number twice. */
export const listNumberedAccounts = (
  sql: Sql,
  account: string,
): Promise<{ accountId: number; brokerId: number }[]> =>
  sql.rows`
    select id as "accountId", broker_id as "brokerId" from account where account = ${account} order by id`

/** An order as a broker knows it. */
export interface NamedOrder {
  readonly accountId: number
  readonly clientOrderId: string | null
  readonly symbol: string
  readonly side: Side
}

/** Whether the built-in broker has received this order. */
export const hasPaperOrder = (
  sql: Sql,
  { accountId, clientOrderId, symbol, side }: NamedOrder,
): Promise<boolean> =>
  sql.rows`
      select from paper_order o join instrument i on i.id = o.instrument_id
      where o.account_id = ${accountId}::bigint and o.client_order_id = ${clientOrderId}::text and o.side = ${side}
        and i.symbol = ${symbol}`.then(({ length }) => length > 0)

/**
 * Ends every claim on an order whose sending failed. Claims keep others away by the database's clock while a
 * request may be under way; here nothing is under way when nobody works, and nobody waits for a clock.
 */
export const releaseClaims = (sql: Sql): Promise<number> => sql.run`
  update account_order set claimed_until = null where claimed_until is not null and pending_action is not null`
