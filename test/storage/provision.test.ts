/** Sites, people, brokers and accounts as a platform is furnished with them. */
import { beforeAll, describe, expect, test } from 'vitest'
import { bootstrap } from '../../src/operations/bootstrap.ts'
import { auditViolations } from '../../src/storage/operating/audit.ts'
import {
  emptyPlatform,
  ensureBroker,
  findPlatformSite,
  insertAccounts,
  insertPersons,
  insertSite,
  lockProvisioning,
  type NewPerson,
} from '../../src/storage/operating/provision.ts'
import { testDatabase } from '../support/database.ts'

const { db } = await testDatabase()
const createdAt = Date.parse('2024-03-12T14:00:00Z')

const person = (siteId: number, name: string): NewPerson => ({
  siteId,
  role: 'user',
  firstName: name,
  lastName: 'Smith',
  email: `${name}@example.com`,
  createdAt,
})

const counts = () =>
  db.read.one`select (select count(*)::int from site) as sites, (select count(*)::int from person) as persons,
    (select count(*)::int from broker) as brokers, (select count(*)::int from account) as accounts,
    (select count(*)::int from instrument) as instruments`

test('many people and accounts are made at once, ids in the order asked for', async () => {
  const siteId = await insertSite(db.write, {
    kind: 'geo',
    code: 'mx',
    name: 'Mexico',
    domain: 'mx.example.com',
    createdAt,
  })
  const names = Array.from({ length: 50 }, (_, index) => `p${(index * 37) % 50}`)
  const ids = await insertPersons(
    db.write,
    names.map((name) => person(siteId, name)),
  )
  const rows = await db.read.rows<{ id: number; email: string }>`select id, email from person`
  expect(ids.map((id) => rows.find((row) => row.id === id)?.email)).toEqual(
    names.map((name) => `${name}@example.com`),
  )
  const brokerId = await ensureBroker(db.write, {
    name: 'Test Paper',
    connectionName: 'Test',
    environment: 'paper',
    adapter: 'paper',
  })
  const made = await insertAccounts(
    db.write,
    ids.map((personId, index) => ({
      personId,
      brokerId,
      kind: 1,
      account: `A${index}`,
      startingCash: '1000.5',
      createdAt,
    })),
  )
  const accounts = await db.read.rows<{ id: number; personId: number; siteId: number; cash: string }>`
    select id, person_id as "personId", site_id as "siteId", cash from account order by id`
  expect(accounts.map(({ id }) => id).sort()).toEqual([...made].sort())
  expect(made.map((id) => accounts.find((account) => account.id === id)?.personId)).toEqual(ids)
  expect(new Set(accounts.map((account) => `${account.siteId} ${account.cash}`))).toEqual(
    new Set([`${siteId} 1000.500000000000`]),
  )
})

test('an email address belongs to one person, in any letter case', async () => {
  const siteId = await findPlatformSite(db.read)
  await insertPersons(db.write, [person(siteId, 'once')])
  await expect(insertPersons(db.write, [person(siteId, 'ONCE')])).rejects.toThrow('person_email')
})

test('a paper account at a live broker is impossible', async () => {
  const siteId = await findPlatformSite(db.read)
  const [personId = 0] = await insertPersons(db.write, [person(siteId, 'careful')])
  const brokerId = await ensureBroker(db.write, {
    name: 'Live',
    connectionName: 'Live',
    environment: 'live',
    adapter: 'none',
  })
  const account = { personId, brokerId, kind: 1 as const, account: 'P', startingCash: '1', createdAt }
  await expect(insertAccounts(db.write, [account])).rejects.toThrow()
})

test('the first furniture of a platform is put up once', async () => {
  const first = await bootstrap(db.write, createdAt)
  const before = await counts()
  expect(await bootstrap(db.write, createdAt)).toEqual(first)
  expect(await counts()).toEqual(before)
  const euro = await db.read.one`
    select calendar, tick::float8, point_value::float8 as "pointValue", currency, root from instrument where symbol = 'EURUSD'`
  expect(euro).toEqual({
    calendar: 'FOREX',
    tick: 0.00001,
    pointValue: 1000,
    currency: 'USD',
    root: 'EUR/USD',
  })
})

test('an emptied platform is as after its migrations', async () => {
  await bootstrap(db.write, createdAt)
  await db.transaction(emptyPlatform)
  expect(await counts()).toEqual({ sites: 1, persons: 0, brokers: 0, accounts: 0, instruments: 0 })
  expect(await findPlatformSite(db.read)).toBe(1)
  expect((await bootstrap(db.write, createdAt)).paperBrokerId).toBe(1)
})

describe('tables of others in the same database', () => {
  beforeAll(() =>
    db.transaction((tx) =>
      tx.script(
        `create table invoice (amount float8, site_id bigint); insert into invoice values ('NaN', 1)`,
      ),
    ),
  )

  test('are not emptied with the platform', async () => {
    await db.transaction(emptyPlatform)
    expect(await db.read.rows`select site_id from invoice`).toEqual([{ site_id: 1 }])
  })

  test('are not audited with its books', async () => {
    expect(await db.transaction(auditViolations)).toEqual([])
  })

  test('that refer to ours are not emptied either: the platform is not', async () => {
    await db.write.run`alter table invoice add foreign key (site_id) references site`
    await expect(db.transaction(emptyPlatform)).rejects.toThrow('referenced in a foreign key constraint')
    expect(await db.read.rows`select site_id from invoice`).toEqual([{ site_id: 1 }])
  })
})

test('whoever furnishes locks others out, for as long as it takes, and keeps no dead rows alive', async () => {
  const order: string[] = []
  let second: Promise<void> = Promise.resolve()
  await db.transaction(async (tx) => {
    await lockProvisioning(tx)
    const [holder] = await db.read.rows<{ xmin: string | null; xid: string | null }>`
      select a.backend_xmin::text as xmin, a.backend_xid::text as xid
      from pg_locks l join pg_stat_activity a using (pid)
      where l.locktype = 'advisory' and l.granted and a.datname = current_database()`
    expect(holder).toEqual({ xmin: null, xid: null })
    second = db.transaction(async (other) => {
      await lockProvisioning(other)
      order.push('second')
    })
    expect(await tx.one`select current_setting('idle_in_transaction_session_timeout') as timeout`).toEqual({
      timeout: '0',
    })
    order.push('first')
  })
  await second
  expect(order).toEqual(['first', 'second'])
})
