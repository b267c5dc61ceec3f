/**
 * A server that is alive and lets nobody in. It came to that when the disk was full while it went over what a crash had
 * left; here it follows a primary that there is not.
 */
import {
  appendFileSync,
  chownSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { isShut } from '../../src/postgres/admission.ts'
import { startPostgres } from '../../src/postgres/supervisor.ts'
import { openDatabase } from '../../src/storage/database/database.ts'
import { silentLog } from '../support/database-server.ts'

const folder = mkdtempSync('/tmp/lockstep-shut-')
const cluster = join(folder, 'postgres', 'cluster')
const dataDir = join(folder, 'postgres')
afterAll(() => rmSync(folder, { recursive: true, force: true }))

test('is started again after as long as a start may take', async () => {
  if (process.getuid?.() === 0) chownSync(folder, 0, 0)
  await (await startPostgres({ dataDir, log: silentLog })).stop()
  appendFileSync(join(cluster, 'postgresql.conf'), 'hot_standby = off\n')
  const said: string[] = []
  const log = { ...silentLog, error: (_: object, message: string) => said.push(message) }
  const server = await startPostgres({ dataDir, log, shutLimitMs: 1_000 })
  const before = server.pid()
  expect(await isShut(server.url)).toBe(false)
  const db = await openDatabase({ url: server.url, applicationName: 'shut', log: silentLog })

  const signal = join(cluster, 'standby.signal')
  writeFileSync(signal, '')
  const { uid, gid } = statSync(cluster)
  chownSync(signal, uid, gid)
  const { pid } = await db.write.one<{ pid: number }>`select pg_backend_pid() as pid`
  process.kill(pid, 'SIGKILL')
  const heard = () => readFileSync(join(dataDir, 'server.log'), 'utf8')
  await expect.poll(heard, { timeout: 20_000 }).toContain('entering standby mode')
  expect(await isShut(server.url)).toBe(true)
  expect([server.pid(), said]).toEqual([before, []])

  rmSync(signal)
  const answers = () => db.write.run`select 1`.then(Boolean, () => false)
  await expect.poll(answers, { timeout: 60_000 }).toBe(true)
  expect(said[0]).toBe('postgres lets nobody in: it is started again')
  expect(server.pid()).not.toBe(before)
  await db.close()
  await server.stop()
}, 120_000)

test('one that is not there is not shut', async () => {
  expect(await isShut('postgres://nobody@/nothing?host=/nowhere')).toBe(false)
})
