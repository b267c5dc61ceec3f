/** How a process ends that others started. */
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, existsSync, openSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test, vi } from 'vitest'
import manifest from '../../package.json' with { type: 'json' }
import { workingFlags } from '../../src/bin/children.ts'
import { testDatabase } from '../support/database.ts'
import { newDataDir, removeDataDir } from '../support/product.ts'

/** A process that ends as those of the product do. */
const program = fileURLToPath(new URL('../support/ending-child.ts', import.meta.url))

/** A command of the program, with a data folder of its own. */
function runAside(words: readonly string[], env: NodeJS.ProcessEnv) {
  const dataDir = newDataDir()
  onTestFinished(() => removeDataDir(dataDir))
  const child = spawn(process.execPath, ['scripts/lockstep.mjs', ...words], {
    env: { ...process.env, DATA_DIR: dataDir, PORT: '0', LOG_LEVEL: 'info', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  return { dataDir, child, ended: once(child, 'exit') }
}

/** Runs the child in a shell, as npm runs a script; the second command keeps the shell from becoming the child. */
function inShell(env: NodeJS.ProcessEnv): ChildProcess {
  const script = `"${process.execPath}" --import tsx "${program}"; true`
  return spawn('sh', ['-c', script], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
}

test('a process that does the work has no way to what all objects inherit', () => {
  const words = [...workingFlags, '-p', "'__proto__' in {}"]
  expect(execFileSync(process.execPath, words, { encoding: 'utf8' })).toBe('false\n')
})

test('says which version it is, and makes no platform for it', async () => {
  const { child, ended, dataDir } = runAside(['--version'], {})
  let said = ''
  for await (const text of child.stdout ?? []) said += text
  expect([said, await ended]).toEqual([`${manifest.version}\n`, [0, null]])
  expect(readdirSync(dataDir)).toEqual([])
})

test('whoever stops npm stops the process that its shell runs', async () => {
  const shell = inShell({ npm_lifecycle_event: 'start' })
  let said = ''
  for await (const text of shell.stdout ?? []) {
    if (said === '') shell.kill('SIGTERM')
    said += text
  }
  expect(said).toBe('ready\nclosed\n')
}, 30_000)

test.each([
  ['a child of start that is told twice to end', 'SIGTERM', { LOCKSTEP_HELD: '1' }],
  ['a process that hears twice that its terminal is closed', 'SIGHUP', { WAITS_FOR: 'SIGHUP' }],
] as const)(
  '%s ends in order',
  async (_who, signal, env) => {
    const child = spawn(process.execPath, ['--import', 'tsx', program], {
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    const ended = once(child, 'exit')
    let said = ''
    for await (const text of child.stdout) {
      said += text
      child.kill(signal)
    }
    expect(said).toBe('ready\nclosing\nclosed\n')
    expect(await ended).toEqual([0, null])
  },
  30_000,
)

// The shell is told, tells the process, and writes down how it ended: 137 is without a crash.
test.skipIf(spawnSync('script', ['--version']).status !== 0)(
  'a process whose terminal is closed ends, and does not crash over it',
  async () => {
    const folder = newDataDir()
    onTestFinished(() => removeDataDir(folder))
    const status = join(folder, 'status')
    const line = `"${process.execPath}" --import tsx "${program}" & child=$!
      trap 'kill -HUP $child' HUP; wait $child; wait $child; echo $? > "${status}"`
    const terminal = spawn('script', ['-qfc', line, '/dev/null'], { stdio: ['ignore', 'pipe', 'ignore'] })
    for await (const text of terminal.stdout) if (String(text).includes('ready')) terminal.kill('SIGKILL')
    await vi.waitFor(() => expect(readFileSync(status, 'utf8')).toBe('137\n'), 20_000)
  },
  30_000,
)

test('a process that breaks dies of it: it would break again and again for ever', async () => {
  for (const signal of ['SIGILL', 'SIGTRAP', 'SIGABRT', 'SIGBUS', 'SIGFPE', 'SIGSEGV'] as const) {
    const child = spawn(process.execPath, ['--import', 'tsx', program], {
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    const ended = once(child, 'exit')
    for await (const _ready of child.stdout) child.kill(signal)
    expect(await ended).toEqual([null, signal])
  }
}, 60_000)

test.each([
  ['SIGTERM', 143],
  ['SIGINT', 130],
] as const)(
  'a process that gets %s while it starts leaves no database behind',
  async (signal, status) => {
    const { dataDir, child, ended } = runAside(['serve'], { DATABASE_URL: '' })
    for await (const text of child.stderr) if (String(text).includes('postgres is ready')) child.kill(signal)
    expect(await ended).toEqual([status, null])
    const file = join(dataDir, 'postgres', 'cluster', 'postmaster.pid')
    await vi.waitFor(() => expect(existsSync(file) ? readFileSync(file, 'utf8') : '').toBe(''), 20_000)
  },
  120_000,
)

test('a command whose reader has seen enough ends as it would have', async () => {
  const { url } = await testDatabase()
  const { child, ended } = runAside(['incidents', 'list'], { DATABASE_URL: url })
  child.stdout.destroy()
  let said = ''
  for await (const text of child.stderr) said += text
  expect(said).toBe('')
  expect(await ended).toEqual([0, null])
}, 60_000)

test.each(['stdout', 'stderr'] as const)(
  'a process outlives the reader of its %s',
  async (name) => {
    const program = fileURLToPath(new URL('../support/speaking-child.ts', import.meta.url))
    const child = spawn(process.execPath, ['--import', 'tsx', program], { stdio: ['ignore', 'pipe', 'pipe'] })
    const ended = once(child, 'exit')
    const other = name === 'stdout' ? child.stderr : child.stdout
    child[name].once('data', () => child[name].destroy())
    other.resume()
    expect(await ended).toEqual([0, null])
  },
  30_000,
)

test.skipIf(!existsSync('/dev/full'))(
  'a process that runs on and has no room for its words says so in a line',
  async () => {
    const { url } = await testDatabase()
    const dataDir = newDataDir()
    const full = openSync('/dev/full', 'w')
    onTestFinished(() => {
      closeSync(full)
      removeDataDir(dataDir)
    })
    const { status, stderr } = spawnSync(process.execPath, ['scripts/lockstep.mjs', 'worker'], {
      env: { ...process.env, DATA_DIR: dataDir, DATABASE_URL: url, LOG_LEVEL: 'error' },
      stdio: ['ignore', full, 'pipe'],
      encoding: 'utf8',
    })
    expect([status, stderr]).toEqual([1, 'lockstep: standard output cannot be written: its disk is full\n'])
  },
  60_000,
)

test('a process says as JSON that it is ready', async () => {
  const { url } = await testDatabase()
  const { child, ended } = runAside(['worker', '--json'], { DATABASE_URL: url })
  let said = ''
  for await (const text of child.stdout) {
    said += text
    child.kill('SIGTERM')
  }
  expect(JSON.parse(said)).toEqual({ ready: 'worker' })
  await ended
}, 60_000)

test.each(['serve', 'worker'])(
  '%s ends in order, with a word why, when a newer program brings the schema forward',
  async (command) => {
    const { db, url } = await testDatabase()
    const { child, ended } = runAside([command], { DATABASE_URL: url })
    let said = ''
    child.stderr.on('data', (text) => {
      said += text
    })
    for await (const text of child.stdout) {
      if (!String(text).startsWith('ready')) continue
      // One by one, as migrations are applied: the second is heard of while the process ends because of the first.
      for (const number of [9998, 9999])
        await db.transaction(async (tx) => {
          await tx.run`insert into schema_migration (number, name, checksum) values (${number}, 'newer.sql', '')`
          await tx.run`select pg_notify('schema', '')`
        })
    }
    expect(await ended).toEqual([1, null])
    expect(said).toContain('the database has migration newer.sql, this program is older: update it')
    expect(said).not.toContain('second error')
  },
  60_000,
)

test('the test door says that it does not open in production, and makes nothing', async () => {
  const env = { NODE_ENV: 'production', DATABASE_URL: '', LOCKSTEP_SECRET: '', LOCKSTEP_KEY_RING: '' }
  const { dataDir, child, ended } = runAside(['serve', '--test-door'], env)
  let said = ''
  for await (const text of child.stderr) said += text
  expect(said).toBe('lockstep: the test door does not open in production\n')
  expect(await ended).toEqual([1, null])
  expect(readdirSync(dataDir)).toEqual([])
}, 60_000)
