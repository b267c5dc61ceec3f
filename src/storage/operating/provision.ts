/**
 * What a platform needs before anybody can trade on it: sites, people, brokers, accounts. Rows are written many
 * at once and their ids come back in the order of what was asked for. Times are business times.
 */
import { setTimeout as pause } from 'node:timers/promises'
import type { CalendarName } from '../../domain/market/calendar.ts'
import type { PartnerKind, Role } from '../../domain/people/access.ts'
import type { Instant } from '../../domain/time.ts'
import { ownTables } from '../database/own-tables.ts'
import { identifier, join, type Sql, type Transaction } from '../database/sql.ts'
import { instant } from '../database/wire.ts'

/** The site that owns everything which belongs to no partner. */
export const findPlatformSite = async (sql: Sql): Promise<number> =>
  (await sql.one<{ id: number }>`select id from site where kind = 'platform'`).id

export interface NewSite {
  kind: PartnerKind
  /** What a GeoSite parameter names. */
  code: string
  name: string
  domain?: string
  /** The region above a white-label site. */
  parentSiteId?: number
  createdAt: number
}

/** A new partner site; answers its id. Throws when code or domain are taken. */
export const insertSite = async (sql: Sql, site: NewSite): Promise<number> =>
  (
    await sql.one<{ id: number }>`
      insert into site (kind, code, name, domain, parent_site_id, created_at)
      values (${site.kind}, ${site.code}, ${site.name}, ${site.domain}, ${site.parentSiteId}::bigint,
        ${instant(site.createdAt)}::timestamptz)
      returning id`
  ).id

export interface NewPerson {
  siteId: number
  role: Role
  firstName: string
  lastName: string
  /** Unique on the platform, in any letter case. */
  email: string
  /** The name that others see; the first name where it is absent. */
  alias?: string
  createdAt: number
}

/** New people; answers their ids in order. Throws when an email address is taken. */
export async function insertPersons(sql: Sql, persons: readonly NewPerson[]): Promise<number[]> {
  const column = <K extends keyof NewPerson>(name: K): NewPerson[K][] => persons.map((person) => person[name])
  const rows = await sql.rows<{ id: number; email: string }>`
    insert into person (site_id, role, alias, first_name, last_name, email, created_at)
    select site_id, role, alias, first_name, last_name, email, created_at
    from unnest(${column('siteId')}::bigint[], ${column('role')}::text[],
      ${persons.map(({ alias, firstName }) => alias ?? firstName)}::text[], ${column('firstName')}::text[],
      ${column('lastName')}::text[], ${column('email')}::text[],
      ${column('createdAt').map((at) => instant(at))}::timestamptz[])
      with ordinality new (site_id, role, alias, first_name, last_name, email, created_at, place)
    order by place
    returning id, email`
  return inOrder(rows, ({ email }) => email, column('email'))
}

export interface NewBroker {
  name: string
  connectionName: string
  environment: 'live' | 'paper'
  /** Which program speaks to it. */
  adapter: string
}

/** The broker of this name, made when it is missing; answers its id. One that exists stays as it is. */
export async function ensureBroker(sql: Sql, broker: NewBroker): Promise<number> {
  await sql.run`
    insert into broker (name, connection_name, environment, adapter)
    values (${broker.name}, ${broker.connectionName}, ${broker.environment}, ${broker.adapter})
    on conflict (name) do nothing`
  return (await sql.one<{ id: number }>`select id from broker where name = ${broker.name}`).id
}

/** A live broker under a name of its own; undefined when the name is taken. */
export async function insertLiveBroker(
  sql: Sql,
  broker: Omit<NewBroker, 'environment'> & { readonly needsCredentials: boolean },
): Promise<number | undefined> {
  const made = await sql.maybe<{ id: number }>`
    insert into broker (name, connection_name, environment, adapter, needs_credentials)
    values (${broker.name}, ${broker.connectionName}, 'live', ${broker.adapter}, ${broker.needsCredentials})
    on conflict (name) do nothing returning id`
  return made?.id
}

export interface NewAccount {
  personId: number
  brokerId: number
  /** 0 live, 1 paper, 2 simulated. */
  kind: 0 | 1 | 2
  /** The broker's number of the account, unique there. */
  account: string
  currency?: string
  startingCash: string
  createdAt: number
}

/**
 * New accounts in the sites of their people; answers their ids in order. Throws when a number is taken and
 * when a paper or simulated account would be at a live broker.
 */
export async function insertAccounts(sql: Sql, accounts: readonly NewAccount[]): Promise<number[]> {
  const column = <K extends keyof NewAccount>(name: K): NewAccount[K][] =>
    accounts.map((account) => account[name])
  const rows = await sql.rows<{ id: number; brokerId: number; account: string }>`
    insert into account (site_id, person_id, broker_id, broker_environment, kind, account, currency,
      starting_cash, cash, settings_changed_at, authenticated_at, created_at)
    select person.site_id, person.id, broker.id, broker.environment, new.kind, new.account, new.currency,
      new.cash, new.cash, new.at, new.at, new.at
    from unnest(${column('personId')}::bigint[], ${column('brokerId')}::int[], ${column('kind')}::smallint[],
      ${column('account')}::text[], ${accounts.map(({ currency }) => currency ?? 'USD')}::text[],
      ${column('startingCash')}::numeric[], ${column('createdAt').map((at) => instant(at))}::timestamptz[])
      with ordinality new (person_id, broker_id, kind, account, currency, cash, at, place)
    join person on person.id = new.person_id join broker on broker.id = new.broker_id
    order by new.place
    returning id, broker_id as "brokerId", account`
  const nameOf = (row: { brokerId: number; account: string }): string => `${row.brokerId} ${row.account}`
  return inOrder(rows, nameOf, accounts.map(nameOf))
}

/** Gives an instrument another calendar and description; what it means in money stays. */
export async function relistInstrument(
  sql: Sql,
  { symbol, calendar, description }: { symbol: string; calendar: CalendarName; description: string },
): Promise<void> {
  await sql.run`
    update instrument set calendar = ${calendar}, description = ${description} where symbol = ${symbol}`
}

const provisioningLock = 7_204_118_156

/**
 * Lets one transaction at a time furnish the platform; waits for its turn by asking again. The transaction may
 * then stay open and idle for as long as the work takes that is done elsewhere.
 */
export async function lockProvisioning(tx: Transaction): Promise<void> {
  for (;;) {
    const { taken } = await tx.one<{ taken: boolean }>`
      select pg_try_advisory_xact_lock(${provisioningLock}) as taken`
    // As a simple statement it also ends the snapshot of the answer above: kept, that would keep every row
    // alive that dies meanwhile.
    await tx.script('set local idle_in_transaction_session_timeout = 0')
    if (taken) return
    await pause(250)
  }
}

/** Whether nobody has ever used the platform: it knows no people. */
export const isEmptyPlatform = async (sql: Sql): Promise<boolean> =>
  (await sql.one<{ empty: boolean }>`select not exists (select from person) as empty`).empty

/** Ids of new rows by their natural keys. Throws when one was not made. */
function inOrder<Row extends { id: number }>(
  rows: readonly Row[],
  nameOf: (row: Row) => string,
  names: readonly string[],
): number[] {
  const ids = new Map(rows.map((row) => [nameOf(row), row.id]))
  return names.map((name) => {
    const id = ids.get(name)
    if (id === undefined) throw new Error(`no row was made for ${name}`)
    return id
  })
}

/** Kept by an emptied platform: what ran of the schema, whose job is whose, and what was ever done. */
export const keptTables = ['schema_migration', 'lease', 'audit_entry', 'audit_chain']

/**
 * Takes the platform back to the state after its migrations. Ids start at 1 again. Leases keep their fences and
 * end: whoever held one works for rows that are gone.
 */
export async function emptyPlatform(tx: Transaction): Promise<void> {
  const platform = await tx.one<{ code: string; name: string; createdAt: number }>`
    select code, name, created_at as "createdAt" from site where kind = 'platform'`
  const names = ownTables.filter((name) => !keptTables.includes(name)).map(identifier)
  // No cascade: it would empty what others of the same database keep beside ours.
  await tx.run`truncate ${join(names, ', ')} restart identity`
  await tx.run`update lease set expires_at = clock_timestamp()`
  await tx.run`
    insert into site (kind, code, name, created_at)
    values ('platform', ${platform.code}, ${platform.name}, ${instant(platform.createdAt)}::timestamptz)`
}

/** Whether accounts at a broker hold money; undefined where there is no broker of this id. */
export const findEnvironment = async (sql: Sql, brokerId: number): Promise<'live' | 'paper' | undefined> =>
  (
    await sql.maybe<{ environment: 'live' | 'paper' }>`
    select environment from broker where id = ${brokerId}::int`
  )?.environment

/** Changes what is given of a broker; answers how many brokers have the id. */
export const changeBroker = (
  sql: Sql,
  brokerId: number,
  wanted: {
    readonly needsAuthorization: boolean | undefined
    readonly needsCredentials: boolean | undefined
    readonly isEnabled: boolean | undefined
  },
  now: Instant,
): Promise<number> => sql.run`
  update broker set needs_authorization = coalesce(${wanted.needsAuthorization}::boolean, needs_authorization),
    needs_credentials = coalesce(${wanted.needsCredentials}::boolean, needs_credentials),
    is_enabled = coalesce(${wanted.isEnabled}::boolean, is_enabled), changed_at = ${instant(now)}::timestamptz
  where id = ${brokerId}::int`
