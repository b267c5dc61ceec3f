/** What stays of a first start that found no room on the disk, which a limit on the size of files stands for. */
import { spawnSync } from 'node:child_process'
import { linkSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { startPostgres } from '../../src/postgres/supervisor.ts'
import { writeWhole } from '../../src/postgres/whole-file.ts'
import { silentLog } from '../support/database-server.ts'
import { newDataDir, removeDataDir } from '../support/product.ts'

const dataDir = newDataDir()
afterAll(() => removeDataDir(dataDir))

test('a start after one that had no room begins anew', async () => {
  const command = [process.execPath, 'scripts/lockstep.mjs', 'migrate']
  const env = { ...process.env, DATA_DIR: dataDir, DATABASE_URL: '' }
  const full = spawnSync('sh', ['-c', 'ulimit -f 0; exec "$@"', 'sh', ...command], { env, encoding: 'utf8' })
  expect([full.status, full.stderr]).toEqual([1, expect.stringContaining('EFBIG')])
  const postgres = await startPostgres({ dataDir: join(dataDir, 'postgres'), log: silentLog })
  await postgres.stop()
}, 60_000)

test('whoever was first keeps the name, and no draft stays', () => {
  const path = join(dataDir, 'first')
  writeFileSync(path, 'theirs')
  expect(() => writeWhole(path, 'ours', linkSync)).toThrow('EEXIST')
  expect(readFileSync(path, 'utf8')).toBe('theirs')
  writeWhole(path, 'ours')
  expect(readFileSync(path, 'utf8')).toBe('ours')
  expect(readdirSync(dataDir).filter((name) => name.startsWith('first'))).toEqual(['first'])
})
