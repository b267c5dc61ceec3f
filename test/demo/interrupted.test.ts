/** A seeding that is cut short is played again from its start, to the same books; others' platforms are left alone. */
import { expect, test } from 'vitest'
import { renewDemoKeys, type SeedOptions, seedDemo } from '../../src/demo/seed.ts'
import { auditViolations } from '../../src/storage/operating/audit.ts'
import { findPlatformSite, insertPersons } from '../../src/storage/operating/provision.ts'
import { claimLease } from '../../src/storage/work/leases.ts'
import { testDatabase } from '../support/database.ts'
import { silentLog } from '../support/database-server.ts'
import { randomSecrets } from '../support/secrets.ts'
import { dump } from './books.ts'

const cut = await testDatabase()
const whole = await testDatabase()
const shared = await testDatabase()
const used = await testDatabase()

const now = Date.parse('2026-03-04T15:00:00Z')
const options = ({ db }: typeof cut, more: Partial<SeedOptions> = {}): SeedOptions => ({
  db,
  secrets: randomSecrets(),
  environments: { keys: 'demo', orders: 'D' },
  log: silentLog,
  now,
  lastDay: '2003-12-31',
  ...more,
})

test('begun again after an interruption it ends with the same books', async () => {
  for (const day of [1, 600, 1000]) {
    const ending = new AbortController()
    const onProgress = (done: number) => {
      if (done === day) ending.abort(new Error('interrupted'))
    }
    await expect(seedDemo(options(cut, { onProgress, signal: ending.signal }))).rejects.toThrow('interrupted')
    expect(await renewDemoKeys(options(cut))).toBeUndefined()
  }
  expect((await dump(cut.db)).fills?.length).toBeGreaterThan(10)
  // The one that died may still hold a lease; what it sends by that must not wait for its end.
  expect(await claimLease(cut.db.write, 'send:1', 'dead', 60_000)).toBeDefined()
  const facts = await seedDemo(options(cut))
  expect(facts?.strategies.map(({ name }) => name)).toEqual([
    ...['Buy and hold SPX', '200-day trend SPX', 'Breakout SPX', 'Golden cross SPX'],
    'Breakout SPX, new start',
  ])
  await seedDemo(options(whole))
  const books = await dump(whole.db)
  expect(books.executions?.length).toBeGreaterThan(20)
  expect(await dump(cut.db)).toEqual(books)
  expect(await auditViolations(cut.db.read)).toEqual([])
}, 600_000)

test('of two that start at once one seeds', async () => {
  const lastDay = '2000-01-07'
  const facts = await Promise.all([
    seedDemo(options(shared, { lastDay })),
    seedDemo(options(shared, { lastDay })),
  ])
  expect(facts.filter((one) => one !== undefined)).toHaveLength(1)
  const { signals, strategies } = await dump(shared.db)
  expect([signals?.length, strategies?.length]).toEqual([1, 2])
}, 120_000)

test('a platform with people in it is left alone', async () => {
  const { db } = used
  const siteId = await findPlatformSite(db.read)
  const somebody = {
    siteId,
    role: 'user' as const,
    firstName: 'S',
    lastName: 'B',
    email: 's@example.com',
    createdAt: now,
  }
  await insertPersons(db.write, [somebody])
  expect(await seedDemo(options(used))).toBeUndefined()
  expect(
    await db.read
      .one`select count(*)::int as people, (select count(*)::int from strategy) as strategies from person`,
  ).toEqual({
    people: 1,
    strategies: 0,
  })
})
