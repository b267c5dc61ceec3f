/** Copies of a platform at work: whole, of one moment, without loss, and startable; or none at all, and why. */
import { execFileSync, spawn } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { readConfig } from '../../src/bin/config.ts'
import { openMigrated, provideServer, type Server } from '../../src/bin/database.ts'
import { openLog } from '../../src/bin/log.ts'
import { beginCopy } from '../../src/bin/platform-copies.ts'
import { checkContents, noteContents } from '../../src/postgres/contents.ts'
import { type Database, openDatabase } from '../../src/storage/database/database.ts'
import { silentLog } from '../support/database-server.ts'

const scratch = mkdtempSync('/tmp/lockstep-backup-')
chmodSync(scratch, 0o755)
const dataDir = join(scratch, 'platform')
const place = (name: string): string => join(scratch, name)

const serve = (folder: string): Promise<Server> => {
  const config = readConfig({ DATA_DIR: folder, LOG_LEVEL: 'silent' })
  return provideServer(config, openLog(config, 'test'))
}
const open = ({ url }: Server): Promise<Database> =>
  openDatabase({ url, applicationName: 'test', log: silentLog })

const logOf = (folder: string) => openLog(readConfig({ DATA_DIR: folder, LOG_LEVEL: 'silent' }), 'test')

/** `backup` as an operator runs it. */
const backUp = (folder: string, env: NodeJS.ProcessEnv = {}, node = [process.execPath]) =>
  run(['backup', folder], env, node)

function run(command: readonly string[], env: NodeJS.ProcessEnv = {}, node = [process.execPath]) {
  const [file = '', ...words] = [...node, 'scripts/lockstep.mjs', ...command]
  const own = { ...process.env, DATA_DIR: dataDir, ...env }
  const child = spawn(file, words, { env: own, stdio: ['ignore', 'pipe', 'pipe'] })
  const says = Promise.all([text(child.stdout), text(child.stderr)])
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve))
  const told = async () => ({ status: await ended, says: (await says).join('').trim() })
  return { child, ended: told() }
}

/** The files of the database's tables and indexes. */
const tables = (folder: string): string[] => {
  const base = join(folder, 'postgres', 'cluster', 'base')
  return readdirSync(base, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\/\d+$/.test(name))
    .sort()
}

let server: Server
let db: Database
beforeAll(async () => {
  server = await serve(dataDir)
  db = await open(server)
  writeFileSync(join(dataDir, 'secret'), 'a secret of the platform', { mode: 0o600 })
  mkdirSync(join(dataDir, 'mail'))
  writeFileSync(join(dataDir, 'mail', '1.eml'), 'a message')
  await db.write.run`create table written (n bigint primary key, changes int not null, filler text not null)`
  await db.write.run`insert into written select n, 0, repeat('x', 500) from generate_series(-4000, 0) n`
}, 120_000)
afterAll(async () => {
  await db.close()
  await server.stop()
  rmSync(scratch, { recursive: true, force: true })
})

/** Adds one row after the other, and changes every other one, until told to stop; `acknowledged` is the last that is on disk. */
function write() {
  const state = { acknowledged: 0, isEnded: false }
  const writing = (async () => {
    for (let n = 1; !state.isEnded; n++) {
      await db.transaction(async (tx) => {
        await tx.run`insert into written values (${n}::bigint, 0, repeat('y', 500))`
        await tx.run`update written set changes = ${n}::int where n % 50 = -(${n}::int % 50)`
      })
      state.acknowledged = n
      // What is on disk by itself from here on, a copy that was begun before has to get from the log.
      if (n % 10 === 0) await db.write.run`checkpoint`
    }
  })()
  const end = () => {
    state.isEnded = true
    return writing
  }
  return { state, end }
}

describe('a copy of a platform at work', () => {
  test('is of one moment after it was asked for, and can be started beside the first', {
    timeout: 120_000,
  }, async () => {
    const { state, end } = write()
    await vi.waitUntil(() => state.acknowledged > 20)
    const before = state.acknowledged
    expect(await backUp(place('copy')).ended).toEqual({
      status: 0,
      says: `${place('copy')} is a copy of ${dataDir}. DATA_DIR=${place('copy')} starts it.`,
    })
    await end()
    const copy = await serve(place('copy'))
    const copied = await open(copy)
    try {
      const { count, last, changed } = await copied.read.one<{
        count: number
        last: number
        changed: number
      }>`
        select count(*) filter (where n > 0) as count, max(n) as last, max(changes) as changed from written`
      // Nothing between is missing, and no transaction is there by half.
      expect(last).toBeGreaterThan(before)
      expect([count, changed]).toEqual([last, last])
      await copied.write.run`create extension amcheck`
      const { sound } = await copied.write.one<{ sound: number }>`
        select count(bt_index_check(i.indexrelid, true)) as sound
        from pg_index i join pg_class c on c.oid = i.indexrelid join pg_am a on a.oid = c.relam
        where a.amname = 'btree' and c.relpersistence = 'p'`
      expect(Number(sound)).toBeGreaterThan(100)
      // The first goes on as before.
      expect((await db.read.one<{ last: number }>`select max(n) as last from written`).last).toBe(
        state.acknowledged,
      )
    } finally {
      await copied.close()
      await copy.stop()
    }
    expect(readFileSync(join(place('copy'), 'secret'), 'utf8')).toBe('a secret of the platform')
    expect(readFileSync(join(place('copy'), 'mail', '1.eml'), 'utf8')).toBe('a message')
  })

  test('lets go of the log when it is made', async () => {
    expect(await db.read.rows`select slot_name from pg_replication_slots`).toEqual([])
  })
})

test('a copy that is cut short is none, and the next one is made all the same', {
  timeout: 120_000,
}, async () => {
  const { child, ended } = backUp(place('cut'))
  await vi.waitUntil(() => existsSync(join(place('cut.unfinished'), 'postgres', 'cluster')), {
    timeout: 60_000,
  })
  child.kill('SIGKILL')
  await ended
  expect(existsSync(place('cut'))).toBe(false)
  expect((await backUp(place('cut')).ended).status).toBe(0)
  expect(readdirSync(scratch).filter((name) => name.includes('unfinished'))).toEqual([])
  expect(existsSync(join(place('cut'), 'postgres', 'cluster', 'backup_label'))).toBe(true)
})

describe('a copy that comes to its place by half is refused', { timeout: 120_000 }, () => {
  const copy = place('carried')
  const server = join(copy, 'postgres')
  const table = (): string => join('cluster', 'base', tables(copy)[0] ?? '')
  const left = () => readFileSync(join(server, 'contents'), 'utf8').trim().split('\n')
  beforeAll(async () => {
    expect((await backUp(copy).ended).status).toBe(0)
  })
  test.each([
    [
      'with a file that is cut off',
      table,
      () => truncateSync(join(server, table()), 100),
      'cut off or of another copy',
    ],
    [
      'without a file',
      () => 'cluster/PG_VERSION',
      () => rmSync(join(server, 'cluster/PG_VERSION')),
      'missing',
    ],
    [
      'without an empty folder',
      () => 'cluster/pg_notify',
      () => rmdirSync(join(server, 'cluster/pg_notify')),
      'missing',
    ],
    [
      'with a list that is cut off',
      () => 'contents',
      () => writeFileSync(join(server, 'contents'), `${left().slice(0, -1).join('\n')}\n`),
      'cut off',
    ],
    ['without its list', () => 'contents', () => rmSync(join(server, 'contents')), 'missing'],
    [
      'without the mark of a copy, so that it would give numbers again',
      () => '../copied',
      () => rmSync(join(copy, 'copied')),
      'missing',
    ],
  ])('%s', async (_, what, spoil, how) => {
    const whole = place('carried.whole')
    // Some versions of Node copy a folder without its mode, and the server refuses one that others may enter.
    execFileSync('cp', ['-a', copy, whole])
    const named = what()
    spoil()
    await expect(serve(copy)).rejects.toThrow(
      `the copy in ${server} did not come here whole: ${named} is ${how}`,
    )
    // Nothing ran on it: what was missing can still be brought.
    rmSync(copy, { recursive: true })
    renameSync(whole, copy)
  })
  test('but not one that was compared before its server came up', async () => {
    const begun = place('carried.begun')
    cpSync(copy, begun, { recursive: true, preserveTimestamps: true })
    // The crash came between the label and the list, then behind both.
    const list = readFileSync(join(begun, 'postgres', 'contents'))
    await checkContents(join(begun, 'postgres'))
    writeFileSync(join(begun, 'postgres', 'contents'), list)
    await checkContents(join(begun, 'postgres'))
    await checkContents(join(begun, 'postgres'))
    expect(existsSync(join(begun, 'postgres', 'contents'))).toBe(false)
  })
  test.runIf(process.getuid?.() === 0)(
    'by whoever owns the platform, though root has copied it',
    async () => {
      const owned = place('carried.owned')
      mkdirSync(owned)
      chownSync(owned, 65_534, 65_534)
      await noteContents(owned, [])
      const { uid, gid } = lstatSync(join(owned, 'contents'))
      expect([uid, gid]).toEqual([65_534, 65_534])
    },
  )
  test('and none that its own server has changed since', async () => {
    const before = tables(copy)
    for (const _ of ['the first start', 'the next']) await (await serve(copy)).stop()
    expect(existsSync(join(server, 'contents'))).toBe(false)
    expect(tables(copy).length).toBeGreaterThanOrEqual(before.length)
  })
})

test('one copy at a time, and whole whoever else asks for it', { timeout: 120_000 }, async () => {
  const first = backUp(place('twice'))
  await vi.waitUntil(() => existsSync(join(place('twice.unfinished'), 'postgres', 'cluster', 'base')), {
    timeout: 60_000,
    interval: 2,
  })
  first.child.kill('SIGSTOP')
  const second = await backUp(place('twice')).ended
  first.child.kill('SIGCONT')
  expect(second).toEqual({
    status: 1,
    says: 'lockstep: another copy of this platform is being made: wait for it',
  })
  expect((await first.ended).status).toBe(0)
  expect(tables(place('twice'))).toEqual(tables(dataDir))
})

test('links lead to what is copied, and few files are open at a time', { timeout: 120_000 }, async () => {
  const link = place('link')
  symlinkSync(dataDir, link)
  renameSync(join(dataDir, 'secret'), place('secret elsewhere'))
  symlinkSync(place('secret elsewhere'), join(dataDir, 'secret'))
  const inside = join(dataDir, 'copies', 'today')
  expect((await backUp(inside, { DATA_DIR: link }).ended).says).toBe(
    `lockstep: ${inside} is inside of what is copied`,
  )
  const limited = ['-c', 'ulimit -n 200; exec "$0" "$@"', process.execPath]
  expect(
    (await backUp(place('through a link'), { DATA_DIR: link }, ['/bin/sh', ...limited]).ended).status,
  ).toBe(0)
  expect(readFileSync(join(place('through a link'), 'secret'), 'utf8')).toBe('a secret of the platform')
  expect(lstatSync(join(place('through a link'), 'secret')).isFile()).toBe(true)
})

test('a copy of a platform that is not running', { timeout: 120_000 }, async () => {
  const first = await serve(place('still'))
  await first.stop()
  expect((await backUp(place('still copy'), { DATA_DIR: place('still') }).ended).status).toBe(0)
  const copy = await serve(place('still copy'))
  await copy.stop()
})

test('a copy gives no number again that the first platform has given since', {
  timeout: 120_000,
}, async () => {
  const first = place('numbers')
  const copy = place('numbers copied')
  const within = async <T>(folder: string, work: (db: Database) => Promise<T>): Promise<T> => {
    const running = await serve(folder)
    const opened = await openMigrated(running.url, 'test', logOf(folder))
    try {
      return await work(opened)
    } finally {
      await opened.close()
      await running.stop()
    }
  }
  const next = async ({ write }: Database) =>
    (await write.one<{ id: number }>`select nextval('signal_id_seq') as id`).id
  await within(first, next)
  expect((await backUp(copy, { DATA_DIR: first }).ended).status).toBe(0)
  const given = await within(first, next)
  await within(copy, async (opened) => {
    const config = readConfig({ DATA_DIR: copy })
    await beginCopy(config, opened, logOf(copy))
    const number = await next(opened)
    expect(number).toBeGreaterThan(given + 1_000_000)
    // Once: it is the platform from now on.
    await beginCopy(config, opened, logOf(copy))
    expect(await next(opened)).toBe(number + 1)
    const log = await opened.read.rows<{
      object: string
    }>`select object from audit_entry where object = 'numbers'`
    expect(log).toHaveLength(1)
  })
  expect(existsSync(join(first, 'copied'))).toBe(false)
  // A command that is first goes on from it as well.
  const other = place('commanded')
  expect((await backUp(other, { DATA_DIR: first }).ended).status).toBe(0)
  const add = ['people', 'add', '--first', 'Ann', '--last', 'L', '--email', 'ann@x.org', '--json']
  const { status, says } = await run(add, { DATA_DIR: other }).ended
  expect([status, says]).toEqual([0, expect.stringMatching(/"personId":\d{12}\b/)])
})

describe('what cannot be copied, or not to there', { timeout: 60_000 }, () => {
  const refused = async (folder: string, env?: NodeJS.ProcessEnv) => {
    const { status, says } = await backUp(folder, env).ended
    expect(status).toBe(1)
    return says
  }
  test('a folder with something in it', async () => {
    mkdirSync(place('full'))
    writeFileSync(join(place('full'), 'letter'), '')
    expect(await refused(place('full'))).toBe(
      `lockstep: ${place('full')} is not empty: each copy has a folder of its own`,
    )
    expect(readdirSync(place('full'))).toEqual(['letter'])
  })
  test('a folder within the data folder', async () => {
    const inside = join(dataDir, 'copies')
    expect(await refused(inside)).toBe(`lockstep: ${inside} is inside of what is copied`)
  })
  test('a database of somebody else', async () => {
    const env = { DATABASE_URL: 'postgres://db.example/lockstep' }
    expect(await refused(place('theirs'), env)).toBe(
      'lockstep: the database behind DATABASE_URL is backed up by the tools of its server',
    )
  })
  test('a server that has no room for what a copy needs', async () => {
    await db.write.run`select pg_create_physical_replication_slot('kept_' || n)
      from generate_series(1, current_setting('max_replication_slots')::int) n`
    try {
      expect(await refused(place('without room'))).toMatch(/^lockstep: the database cannot be used: .*$/)
    } finally {
      await db.write.run`select pg_drop_replication_slot(slot_name) from pg_replication_slots`
    }
  })
  test('nothing', async () => {
    expect(await refused(place('of nothing'), { DATA_DIR: place('nothing') })).toBe(
      `lockstep: there is no platform in ${place('nothing')}`,
    )
  })
})
