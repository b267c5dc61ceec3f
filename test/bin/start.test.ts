/** The platform as a whole: what its processes know of each other. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { linkSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { afterAll, expect, onTestFinished, test, vi } from 'vitest'
import { readConfig } from '../../src/bin/config.ts'
import { keepServer, provideServer } from '../../src/bin/database.ts'
import { openLog } from '../../src/bin/log.ts'
import { openDatabase } from '../../src/storage/database/database.ts'
import { insertMail } from '../../src/storage/people/mail.ts'
import { silentLog } from '../support/database-server.ts'
import { newDataDir, removeDataDir, startProduct } from '../support/product.ts'

const dataDir = newDataDir()
afterAll(() => removeDataDir(dataDir))

test('a port that the api chose is in its pages and in the links that the worker mails', async () => {
  const product = await startProduct({ dataDir, env: { PORT: '0' } })
  const page = await (await fetch(`${product.url}/reference/gen`)).text()
  expect(page).toContain(`${product.url}/gen`)
  expect(page).not.toContain('127.0.0.1:0')
  const url = readFileSync(join(dataDir, 'database-url'), 'utf8').trim()
  const db = await openDatabase({ url, applicationName: 'tests', log: silentLog })
  const facts = { firstName: 'Ada', siteName: 'Lockstep', seed: 'seed', token: 'token' }
  await insertMail(db.write, { kind: 'confirm-email', address: 'ada@example.com', facts }, Date.now())
  await db.close()
  const sent = (): string[] =>
    readdirSync(join(dataDir, 'mail')).map((name) => readFileSync(join(dataDir, 'mail', name), 'utf8'))
  await vi.waitFor(() => expect(sent().join()).toContain(`${product.url}/confirm-email/token`), 10_000)
  expect(await product.stop()).toBe(0)
}, 60_000)

test.each([0, 1])(
  'ports that are the same are said before a database is made (%i)',
  async (before) => {
    const folder = newDataDir()
    const env = { PORT: '8551', METRICS_PORT: String(8551 - before) }
    const failure = await startProduct({ dataDir: folder, env }).catch(String)
    expect(String(failure)).toContain('PORT, METRICS_PORT and the port after METRICS_PORT must be different')
    expect(readdirSync(folder)).not.toContain('postgres')
    removeDataDir(folder)
  },
  60_000,
)

test('a port that is in use is said once, before a database is made', async () => {
  const other = createServer().listen(0, '127.0.0.1')
  await once(other, 'listening')
  const { port } = other.address() as AddressInfo
  const folder = newDataDir()
  const failure = await startProduct({ dataDir: folder, env: { PORT: String(port) } }).catch(String)
  expect(String(failure).split('is in use')).toHaveLength(2)
  expect(readdirSync(folder)).not.toContain('postgres')
  removeDataDir(folder)
  other.close()
}, 60_000)

test.each([
  ['LOCKSTEP_BROKERS', '/nowhere/brokers.json', 'LOCKSTEP_BROKERS'],
  ['HOST', 'nowhere.invalid', 'of nowhere.invalid cannot be had: '],
])(
  '%s=%s ends the start before a database is made',
  async (name, value, says) => {
    const folder = newDataDir()
    const failure = await startProduct({ dataDir: folder, env: { [name]: value } }).catch(String)
    expect(String(failure).split(says)).toHaveLength(2)
    expect(readdirSync(folder)).not.toContain('postgres')
    removeDataDir(folder)
  },
  60_000,
)

test('what a killed process of another user left behind is replaced, not written into', async () => {
  const folder = newDataDir()
  onTestFinished(() => removeDataDir(folder))
  const [left, file] = ['left', 'database-url'].map((name) => join(folder, name)) as [string, string]
  writeFileSync(left, 'of another user')
  linkSync(left, file)
  const server = await provideServer(
    readConfig({ DATA_DIR: folder }),
    openLog({ logLevel: 'silent' }, 'tests'),
  )
  expect(readFileSync(file, 'utf8')).toBe(server.url)
  expect(readFileSync(left, 'utf8')).toBe('of another user')
  await server.stop()
}, 60_000)

test('a process that stays takes over the database of a command that ends', async () => {
  const folder = newDataDir()
  onTestFinished(() => removeDataDir(folder))
  const command = await provideServer(
    readConfig({ DATA_DIR: folder }),
    openLog({ logLevel: 'silent' }, 'tests'),
  )
  const env = { ...process.env, PORT: '0', DATABASE_URL: '', LOG_LEVEL: 'silent', DATA_DIR: folder }
  const child = spawn(process.execPath, ['scripts/lockstep.mjs', 'serve', '--json'], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = once(child, 'exit')
  const [said] = await once(child.stdout, 'data')
  const { ready } = JSON.parse(String(said))
  await command.stop()
  const status = async (): Promise<number> => (await fetch(`${ready}/readyz`)).status
  await vi.waitFor(async () => expect(await status()).toBe(200), { timeout: 40_000, interval: 250 })
  child.kill('SIGTERM')
  expect(await ended).toEqual([0, null])
  expect(readdirSync(folder)).not.toContain('database-url')
}, 120_000)

test('a platform starts beside a worker that has taken the database over, and keeps it when that ends', async () => {
  const folder = newDataDir()
  onTestFinished(() => removeDataDir(folder))
  const log = openLog({ logLevel: 'silent' }, 'tests')
  const worker = await keepServer(readConfig({ DATA_DIR: folder }), log)
  const product = await startProduct({ dataDir: folder, env: { PORT: '0' } })
  await worker.stop()
  const status = async (): Promise<number> => (await fetch(`${product.url}/readyz`)).status
  await vi.waitFor(async () => expect(await status()).toBe(200), { timeout: 40_000, interval: 250 })
  expect(await product.stop()).toBe(0)
}, 120_000)

test('of two that begin at the same moment one starts the database and both use it', async () => {
  const folder = newDataDir()
  onTestFinished(() => removeDataDir(folder))
  const log = openLog({ logLevel: 'silent' }, 'tests')
  const config = readConfig({ DATA_DIR: folder })
  const servers = await Promise.all([keepServer(config, log), keepServer(config, log)])
  expect(servers.map(({ isOurs }) => isOurs).sort()).toEqual([false, true])
  expect(new Set(servers.map(({ url }) => url)).size).toBe(1)
  await Promise.all(servers.map((server) => server.stop()))
}, 60_000)

test('as JSON it says that it is ready, and nothing else', async () => {
  const folder = newDataDir()
  onTestFinished(() => removeDataDir(folder))
  const env = { ...process.env, PORT: '0', DEMO: '0', DATABASE_URL: '', DATA_DIR: folder }
  const child = spawn(process.execPath, ['scripts/start.mjs', '--json'], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let said = ''
  for await (const text of child.stdout) {
    said += text
    child.kill('SIGTERM')
  }
  expect(JSON.parse(said)).toEqual({ ready: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/) })
}, 120_000)
