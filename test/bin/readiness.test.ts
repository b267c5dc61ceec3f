/** What is broken alone is said alone. */
import { mkdtempSync, rmSync } from 'node:fs'
import * as fs from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, expect, test, vi } from 'vitest'
import { readConfig } from '../../src/bin/config.ts'
import { conditionsOf, signsOf } from '../../src/bin/readiness.ts'
import { openSecrets } from '../../src/bin/secrets.ts'
import { DatabaseUnavailable } from '../../src/storage/database/failure.ts'
import { claimLease, releaseLease } from '../../src/storage/work/leases.ts'
import { testDatabase } from '../support/database.ts'

vi.mock('node:fs/promises', async (original) => {
  const real = await original<typeof fs>()
  return { ...real, statfs: vi.fn(real.statfs) }
})
const disk = vi.mocked(fs.statfs)
const { db } = await testDatabase()
const folder = mkdtempSync(join(tmpdir(), 'lockstep-ready-'))
afterAll(() => rmSync(folder, { recursive: true }))
const config = readConfig({ DATA_DIR: folder })
await openSecrets(config, db)
const look = conditionsOf(config, db)
const left = (bavail: number) => ({ bavail, blocks: 100 }) as never
const whole = { schema: true, keys: true, disk: true }
afterEach(() => disk.mockReset())

test.each<[string, object, () => unknown]>([
  ['nothing', {}, () => disk.mockResolvedValueOnce(left(6))],
  ['a full disk', { disk: false }, () => disk.mockResolvedValueOnce(left(5))],
  ['no data folder', {}, () => disk.mockRejectedValueOnce(Object.assign(new Error(), { code: 'ENOENT' }))],
  [
    'a disk that fails',
    { disk: false },
    () => disk.mockRejectedValueOnce(Object.assign(new Error(), { code: 'EIO' })),
  ],
  [
    'other secrets',
    { keys: false },
    () => db.write.run`update secret_mark set mark = '' where name = 'secret'`,
  ],
])('%s', async (_, differs, breaks) => {
  disk.mockResolvedValue(left(50))
  await breaks()
  expect(await look()).toEqual({ ...whole, ...differs })
  await db.write.run`delete from secret_mark`
  await openSecrets(config, db)
  expect(await look()).toEqual(whole)
})

test.each<[string, object, Error]>([
  ['a database that is away leaves them as they were', whole, new DatabaseUnavailable('gone')],
  ['one without our tables', { ...whole, schema: false }, new Error('relation does not exist')],
])('%s', async (_, says, error) => {
  disk.mockResolvedValue(left(50))
  const rows = vi.spyOn(db.read, 'rows').mockRejectedValue(error)
  expect(await look()).toEqual(says)
  rows.mockRestore()
})

test('a migration that is missing', async () => {
  disk.mockResolvedValue(left(50))
  await db.write.run`update schema_migration set number = -1 where number = 1`
  expect(await look()).toEqual({ ...whole, schema: false })
  await db.write.run`update schema_migration set number = 1 where number = -1`
  expect(await look()).toEqual(whole)
})

test('whether a worker is at work', async () => {
  const signs = signsOf(db)
  expect(await signs()).toEqual({ worker: false })
  const lease = (await claimLease(db.write, 'feed:simulated', 'w1', 10_000))!
  expect(await signs()).toEqual({ worker: true })
  const rows = vi.spyOn(db.read, 'one').mockRejectedValue(new DatabaseUnavailable('gone'))
  expect(await signs()).toEqual({ worker: true })
  rows.mockRestore()
  await releaseLease(db.write, lease)
  expect(await signs()).toEqual({ worker: false })
  await db.write.run`update lease set expires_at = clock_timestamp() + interval '1 hour'`
  expect(await signs()).toEqual({ worker: false })
})
