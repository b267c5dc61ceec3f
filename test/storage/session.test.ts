/** Databases and roles of an operator's own: what they are set to, and who lets us in. */
import { randomBytes } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { type Database, openDatabase } from '../../src/storage/database/database.ts'
import { isForeignSession, isTurnedAway } from '../../src/storage/database/failure.ts'
import { checkSessions } from '../../src/storage/database/session.ts'
import { fragment, identifier, type Sql } from '../../src/storage/database/sql.ts'
import { testDatabase } from '../support/database.ts'
import { databaseUrl, silentLog } from '../support/database-server.ts'

const { db, url } = await testDatabase({ migrated: false })

describe('settings that a role has for other programs', () => {
  const roleName = `odd_${randomBytes(6).toString('hex')}`
  const role = identifier(roleName)
  const odd: readonly [string, string][] = [
    ['timezone', "'Asia/Tokyo'"],
    ['datestyle', "'German'"],
    ['default_transaction_isolation', "'serializable'"],
    ['default_transaction_read_only', 'on'],
    ['default_transaction_deferrable', 'on'],
    ['idle_session_timeout', "'1s'"],
    ['statement_timeout', '1'],
    ['lock_timeout', '1'],
    ['array_nulls', 'off'],
    ['standard_conforming_strings', 'off'],
    ['bytea_output', "'escape'"],
    ['extra_float_digits', '-15'],
    ['search_path', 'other, public'],
  ]
  let odds: Database

  beforeAll(async () => {
    const settings = odd.map(([name, value]) => `alter role "${roleName}" set ${name} = ${value}`)
    await db.transaction((tx) =>
      tx.script(
        [
          `create role "${roleName}" login password 'odd' superuser`,
          ...settings,
          'create schema other',
          'create table schema_migration (number integer)',
          'create table account (id bigint)',
          'insert into account values (1)',
          'create table other.account (id bigint, cash text)',
        ].join(';'),
      ),
    )
    const own = url.replace(/\/\/[^@]*@/, `//${roleName}:odd@`)
    odds = await openDatabase({ url: own, applicationName: 'odd', log: silentLog })
  })
  afterAll(async () => {
    await odds.close()
    await db.write.run`drop role ${role}`
  })

  /** Connections that have not said who they are. */
  const strangers = async () =>
    (
      await db.read.one<{ count: number }>`
        select count(*)::int as count from pg_stat_activity where backend_type = 'client backend' and datname is null`
    ).count

  const wanted = {
    timezone: 'UTC',
    dates: 'ISO, DMY',
    isolation: 'read committed',
    session: '0',
    lock: '0',
    path: 'public',
    third: 1 / 3,
    list: [1, null],
    backslash: '\\',
    bytes: Buffer.from([0, 92, 255]),
  }
  const facts = (sql: Sql) => sql.one`
    select current_setting('timezone') as timezone, current_setting('datestyle') as dates,
      current_setting('transaction_isolation') as isolation, current_setting('idle_session_timeout') as session,
      current_setting('lock_timeout') as lock, current_setting('search_path') as path,
      1 / 3::float8 as third, '{1,NULL}'::text::int[] as list, '\\' as backslash,
      ${Buffer.from([0, 92, 255])}::bytea as bytes`

  test.each<[string, () => Promise<unknown>]>([
    ['reads', () => facts(odds.read)],
    ['writes', () => facts(odds.write)],
    ['transactions', () => odds.transaction(facts)],
  ])('do not reach %s', async (_, ask) => expect(await ask()).toEqual(wanted))

  test('nor a single write, nor whose tables are meant', async () => {
    expect(await odds.write.run`update account set id = id`).toBe(1)
  })

  test('let nobody in who names no password, and keep no connection for him', async () => {
    const silent = url.replace(/\/\/[^@]*@/, `//${roleName}@`)
    await expect(openDatabase({ url: silent, applicationName: 'silent', log: silentLog })).rejects.toSatisfy(
      isTurnedAway,
    )
    await vi.waitUntil(async () => (await strangers()) === 0)
  })

  test('nor a listener, who may be silent for long', async () => {
    const heard: (string | undefined)[] = []
    const subscription = await odds.listen('silence', (payload) => heard.push(payload))
    await vi.waitUntil(() => heard.length > 0)
    await pause(1_500)
    expect(heard).toEqual([undefined])
    await subscription.stop()
  })
})

test('a role that is serializable by itself is told as other roles are, since a standby would refuse it', async () => {
  const name = `serializable_${randomBytes(6).toString('hex')}`
  // In the place of the server's own, and as a standby answers.
  const asStandby = `create function "${name}".set_config(text, text, boolean) returns text language plpgsql as $$ begin
    if current_setting('transaction_isolation') = 'serializable' then raise 'a standby refuses this'; end if;
    return pg_catalog.set_config($1, $2, $3);
  end $$`
  await db.transaction((tx) =>
    tx.script(
      [
        `create role "${name}" login password 'odd' superuser`,
        `create schema "${name}"`,
        asStandby,
        `alter role "${name}" set default_transaction_isolation = 'serializable'`,
        `alter role "${name}" set search_path = "${name}", pg_catalog, public`,
      ].join(';'),
    ),
  )
  const own = url.replace(/\/\/[^@]*@/, `//${name}:odd@`)
  const opened = await openDatabase({ url: own, applicationName: 'serializable', log: silentLog })
  await opened.close()
  await db.transaction((tx) => tx.script(`drop schema "${name}" cascade; drop role "${name}"`))
})

test.each([
  ['the encoding LATIN1', fragment`encoding latin1 locale 'C'`, 'create it with the encoding UTF8'],
  ['the encoding SQL_ASCII', fragment`encoding sql_ascii locale 'C'`, 'create it with the encoding UTF8'],
  [
    'Turkish letters',
    fragment`locale_provider icu icu_locale 'tr-TR' locale 'C'`,
    'the small letter of I is ı in the locale of the database: create it with one that is not Turkish',
  ],
])('a database with %s is refused', async (_, options, says) => {
  const name = `test_${randomBytes(8).toString('hex')}`
  await db.write.run`create database ${identifier(name)} ${options} template template0`
  const opened = openDatabase({ url: databaseUrl(url, name), applicationName: 'tests', log: silentLog })
  await expect(opened).rejects.toThrow(says)
  await db.write.run`drop database ${identifier(name)}`
})

test('a database that lets nobody in turns us away', async () => {
  const name = `test_${randomBytes(8).toString('hex')}`
  await db.write.run`create database ${identifier(name)} allow_connections false`
  const opened = openDatabase({ url: databaseUrl(url, name), applicationName: 'tests', log: silentLog })
  await expect(opened).rejects.toSatisfy(isTurnedAway)
  await db.write.run`drop database ${identifier(name)}`
})

describe('a connection that cannot be told', () => {
  const name = `untold_${randomBytes(6).toString('hex')}`
  const own = url.replace(/\/\/[^@]*@/, `//${name}:odd@`)
  const open = (log = silentLog) => openDatabase({ url: own, applicationName: name, log })
  const refuse = `alter role "${name}" set search_path = "${name}", pg_catalog`
  const allow = `alter role "${name}" reset search_path`

  beforeAll(() =>
    db.transaction((tx) =>
      tx.script(
        [
          `create role "${name}" login password 'odd'`,
          `create schema "${name}"`,
          `grant usage on schema "${name}" to "${name}"`,
          `create function "${name}".set_config(text, text, boolean) returns text language plpgsql as $$ begin raise 'no'; end $$`,
        ].join(';'),
      ),
    ),
  )
  afterAll(() => db.transaction((tx) => tx.script(`drop schema "${name}" cascade; drop role "${name}"`)))

  const left = async () =>
    (
      await db.read.one<{ count: number }>`
        select count(*)::int as count from pg_stat_activity where application_name = ${name}`
    ).count

  test('is not kept', async () => {
    await db.transaction((tx) => tx.script(refuse))
    await expect(open()).rejects.toThrow('no')
    await vi.waitUntil(async () => (await left()) === 0)
  })

  test('hears nothing, and the next one does', async () => {
    await db.transaction((tx) => tx.script(allow))
    const warn = vi.fn()
    const opened = await open({ ...silentLog, warn })
    await db.transaction((tx) => tx.script(refuse))
    const heard: (string | undefined)[] = []
    const subscription = await opened.listen('untold', (payload) => heard.push(payload))
    await vi.waitUntil(() => warn.mock.calls.length > 0)
    expect(heard).toEqual([])
    await db.transaction((tx) => tx.script(allow))
    await vi.waitUntil(() => heard.length > 0, 5_000)
    await subscription.stop()
    await opened.close()
  })
})

describe('a pooler in front of the database', () => {
  test('that gives the session of one connection to another is named', async () => {
    // What such a pooler does: reads and transactions of different connections meet in one session.
    const shared = db.transaction((tx) => checkSessions({ read: tx, transaction: (work) => work(tx) }))
    await expect(shared).rejects.toThrow('shares its sessions among connections: let it pool by session')
    await expect(checkSessions(db)).resolves.toBeUndefined()
  })

  test.each(['prepare p as select 1', 'execute q'])('is known by what others prepared: %s', async (text) => {
    const error = await db
      .transaction((tx) => tx.script(`prepare p as select 1; ${text}`))
      .catch((thrown: unknown) => thrown)
    expect(isForeignSession(error)).toBe(true)
  })
})
