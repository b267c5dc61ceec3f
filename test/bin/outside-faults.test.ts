/** What only somebody outside can mend: told in a line, without a trace of our insides. */
import { spawnSync } from 'node:child_process'
import * as fs from 'node:fs'
import { chmodSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { describe, expect, test, vi } from 'vitest'
import { auditHeads } from '../../src/bin/audit-heads.ts'
import { ConfigError, readConfig } from '../../src/bin/config.ts'
import { faultOf } from '../../src/bin/faults.ts'
import { baseUrlOf, pagesOf } from '../../src/bin/pages.ts'
import { type Port, portFault } from '../../src/bin/port.ts'
import { loadSecrets } from '../../src/bin/secrets.ts'
import { dec } from '../../src/domain/decimal.ts'
import { DatabaseUnavailable } from '../../src/storage/database/failure.ts'
import { commandLine } from '../support/command-line.ts'
import { testDatabase } from '../support/database.ts'

vi.mock('node:fs', async (original) => {
  const real = await original<typeof fs>()
  return { ...real, mkdirSync: vi.fn(real.mkdirSync), accessSync: vi.fn(real.accessSync) }
})

const { url } = await testDatabase()
const { folder, run: runProcess, runHere: run } = commandLine(url)
const patience = 120_000

const refusedAt = (port: number) => new Error(`connect ECONNREFUSED 127.0.0.1:${port}`)
const forbidden = (code: string) => Object.assign(new pg.DatabaseError('no', 0, 'error'), { code })

test.each<[string, Error, string]>([
  ['a wrong environment', new ConfigError('PORT must be 0 to 65535'), 'PORT must be 0 to 65535'],
  ['a sentence of ours', new Error('another process runs the database'), 'another process runs the database'],
  [
    'a database that is away',
    new DatabaseUnavailable('Error: …', { cause: refusedAt(5432) }),
    'the database cannot be used: connect ECONNREFUSED 127.0.0.1:5432',
  ],
  [
    'one that is away at every address of its name',
    new DatabaseUnavailable('AggregateError', { cause: new AggregateError([refusedAt(1), refusedAt(2)]) }),
    'the database cannot be used: connect ECONNREFUSED 127.0.0.1:1, connect ECONNREFUSED 127.0.0.1:2',
  ],
  [
    'one that wants a password',
    new Error('SASL: SCRAM-SERVER-FIRST-MESSAGE: client password must be a string'),
    'the database turns us away: SASL: SCRAM-SERVER-FIRST-MESSAGE: client password must be a string',
  ],
  ['one that lacks rights', forbidden('42501'), 'the database does not let us: no'],
  ['one without a schema', forbidden('3F000'), 'the database does not let us: no'],
  ['one that takes no writes', forbidden('25006'), 'the database does not let us: no'],
  [
    'a file of the data folder that is none',
    Object.assign(new Error('EISDIR: illegal operation on a directory, read'), {
      code: 'EISDIR',
      syscall: 'read',
    }),
    'EISDIR: illegal operation on a directory, read',
  ],
  [
    'one for which the disk has no room',
    Object.assign(new Error("ENOSPC: no space left on device, open 'x'"), {
      code: 'ENOSPC',
      syscall: 'open',
    }),
    "ENOSPC: no space left on device, open 'x'",
  ],
  ['one that says nothing', new DatabaseUnavailable('no answer'), 'the database cannot be used: no answer'],
])('%s', (_, error, says) => expect(faultOf(error)).toBe(`lockstep: ${says}`))

test('proxies that cannot be read are not passed over', () => {
  expect(() => readConfig({ TRUSTED_PROXIES: '10.0.0.0/8, proxy.example' })).toThrow(
    'TRUSTED_PROXIES must be addresses or networks such as 10.0.0.0/8, not 10.0.0.0/8, proxy.example',
  )
})

test('what one address may ask for is as the environment says', () => {
  expect(readConfig({ ADDRESS_LIMITS: '10:1000, 3600:60000' }).addressWindows).toEqual([
    { seconds: 10, limit: 1000 },
    { seconds: 3600, limit: 60_000 },
  ])
  expect(readConfig({ ADDRESS_LIMITS: '' }).addressWindows).toBeUndefined()
  const wrong = (given: string) => () => readConfig({ ADDRESS_LIMITS: given })
  expect(wrong('1000')).toThrow('ADDRESS_LIMITS: 1000 is no limit such as 10:100')
  expect(wrong('10:1,10:2')).toThrow('ADDRESS_LIMITS: a length is named once')
})

test.each([
  ['PAPER_LATENCY_MS', '10001', 'a whole number from 0 to 10000'],
  ['PAPER_LATENCY_MS', '0.5', 'a whole number from 0 to 10000'],
  ['PAPER_SLIPPAGE_TICKS', '-1', 'a number from 0 to 1000 with at most 2 decimals'],
  ['PAPER_SLIPPAGE_BPS', 'NaN', 'a number from 0 to 1000 with at most 2 decimals'],
  ['PAPER_SLIPPAGE_BPS', '0.125', 'a number from 0 to 1000 with at most 2 decimals'],
])('a paper broker that cannot be: %s %s', (name, text, amount) =>
  expect(() => readConfig({ [name]: text })).toThrow(`${name} must be ${amount}, not ${text}`),
)

test('the paper broker is as the environment says, and as the market without', () => {
  const said = { PAPER_LATENCY_MS: '250', PAPER_SLIPPAGE_TICKS: '1.5', PAPER_SLIPPAGE_BPS: '1000' }
  expect(readConfig(said).paper).toEqual({
    latencyMs: 250,
    slippageTicks: dec('1.5'),
    slippageBps: dec(1000),
  })
  expect(readConfig({}).paper).toEqual({ latencyMs: 0, slippageTicks: dec(0), slippageBps: dec(0) })
})

test.each(['https://x.example/?a=1', 'https://x.example/#a', 'https://u:p@x.example'])(
  'an address that no link can begin with ends the start: %s',
  (address) => {
    expect(() => readConfig({ PUBLIC_URL: address })).toThrow(
      'PUBLIC_URL must be an address without a user, a query and a fragment',
    )
  },
)

test.each(['STRIPE_WEBHOOK_SECRET', 'STRIPE_API_BASE'])(
  '%s without a key of Stripe ends the start',
  (name) => {
    expect(() => readConfig({ [name]: 'https://stripe.example' })).toThrow(
      `${name} is set without STRIPE_SECRET_KEY: nothing would go through Stripe`,
    )
    expect(readConfig({ [name]: '' }).stripe).toBeUndefined()
    expect(readConfig({ [name]: 'https://stripe.example', STRIPE_SECRET_KEY: 'sk' }).stripe).toBeDefined()
  },
)

test('Stripe is asked over http alone', () => {
  expect(() => readConfig({ STRIPE_SECRET_KEY: 'sk', STRIPE_API_BASE: 'stripe:443' })).toThrow(
    'STRIPE_API_BASE must be an address that begins with http:// or https://',
  )
})

test.each<[NodeJS.ProcessEnv, string]>([
  [{}, 'http://127.0.0.1:8460/gen'],
  [{ GEN_HOST: 'gen.localhost' }, 'http://gen.localhost:8460'],
  [{ PUBLIC_URL: 'https://x.example/' }, 'https://x.example/gen'],
  [{ PUBLIC_URL: 'https://x.example/', GEN_HOST: 'gen.x.example' }, 'https://gen.x.example'],
  [{ PUBLIC_URL: 'https://x.example:444', GEN_HOST: 'gen.x.example' }, 'https://gen.x.example:444'],
])('where people reach a host with %j', (environment, says) => {
  const config = readConfig({ PORT: '8460', ...environment })
  expect(baseUrlOf(config, 'Gen')).toBe(says)
  expect(pagesOf(config)['/reference/gen']?.(8460)).toContain(`Base: <code>${says}</code>`)
})

test.each(['nobody', 'Lockstep <nobody>', 'a@b, c@d', 'A <a@b> c', 'A\n<a@b>'])(
  'a sender that no server takes ends the start: %j',
  (sender) => {
    expect(() => readConfig({ MAIL_FROM: sender })).toThrow('MAIL_FROM must be an address such as')
  },
)

test.each(['a@b.org', 'Lockstep <a@b>', '"A, B" <a@b.org>', '<a@b>'])('a sender: %s', (sender) => {
  expect(readConfig({ MAIL_FROM: sender }).mailFrom).toBe(sender)
})

test('hosts without dots, and by address, are names too', () => {
  const { hosts } = readConfig({ GEN_HOST: 'gen', GEO_HOST: '10.0.0.1', WL_HOST: '[::1]' })
  expect(Object.values(hosts).map(({ name }) => name)).toEqual(['gen', '10.0.0.1', '[::1]'])
})

test('a fault of ours keeps its trace', () => {
  const fault = new TypeError('x is not a function')
  expect(faultOf(fault)).toBe(fault)
})

describe('a file of an export', () => {
  const exported = (out: string, ...more: string[]) =>
    run('export', 'GetSubscriptionRevenue', '--out', out, ...more)
  const kept = join(folder, 'kept.csv')

  test.each([
    ['in a folder that is not there', join(folder, 'missing', 'x.csv'), 'there is no such file or folder'],
    ['that is a folder', folder, 'it is a folder'],
  ])('%s', async (_, out, why) => {
    expect(await exported(out, 'StrategyId=1')).toEqual({
      status: 1,
      output: '',
      errors: `lockstep: ${out} cannot be written: ${why}`,
    })
  })

  test.skipIf(!fs.existsSync('/dev/full'))(
    'that a shell writes to a full disk',
    () => {
      const full = fs.openSync('/dev/full', 'w')
      const words = ['scripts/lockstep.mjs', 'export', 'GetBrokers']
      const { status, stderr } = spawnSync(process.execPath, words, { stdio: ['ignore', full, 'pipe'] })
      fs.closeSync(full)
      const says = 'lockstep: standard output cannot be written: its disk is full\n'
      expect([status, String(stderr)]).toEqual([1, says])
    },
    patience,
  )

  test('stays where the export is refused, and belongs to its owner alone where it is not', async () => {
    writeFileSync(kept, 'precious')
    chmodSync(kept, 0o644)
    expect((await exported(kept)).errors).toMatch(/was refused: StrategyId At least one of StrategyId, /)
    expect(readFileSync(kept, 'utf8')).toBe('precious')
    expect((await exported(kept, 'StrategyId=1')).status).toBe(0)
    expect(readFileSync(kept, 'utf8')).toMatch(/^Id,StrategyId,/)
    expect(statSync(kept).mode & 0o777).toBe(0o600)
  })
})

test.each([
  ['secret', 'short', 'must have at least 32 characters'],
  ['key-ring', 'no key', 'must hold name:key, each key 32 bytes in base64'],
])('a file %s of the data folder that was spoiled', async (name, text, says) => {
  const file = join(folder, name)
  const kept = readFileSync(file)
  writeFileSync(file, text)
  expect((await run('credentials', 'rotate')).errors).toBe(`lockstep: ${file} ${says}`)
  writeFileSync(file, kept)
})

test('nobody else may change what is in a data folder, whatever the mask of the process', () => {
  const mask = process.umask(0)
  const dataDir = join(folder, 'deep', 'data')
  loadSecrets(readConfig({ DATA_DIR: dataDir }))
  process.umask(mask)
  const modes = [dataDir, join(dataDir, 'secret')].map((path) => statSync(path).mode & 0o777)
  expect(modes).toEqual([0o755, 0o600])
})

test.each([
  ['foo', 'DATABASE_URL must be an address that begins with postgres:// or postgresql://'],
  ['mysql://127.0.0.1/x', 'DATABASE_URL must be an address that begins with postgres:// or postgresql://'],
  ['postgres://user:password@127.0.0.1:port/x', 'DATABASE_URL cannot be read: its port is at most 65535'],
  [url.replace('@/', '@/no_such_'), 'the database turns us away: database "no_such_'],
])('DATABASE_URL=%s', async (address, says) => {
  vi.stubEnv('DATABASE_URL', address)
  const { errors } = await run('doctor').catch((error: unknown) => ({ errors: String(faultOf(error)) }))
  expect(errors).toContain(`lockstep: ${says}`)
  vi.stubEnv('DATABASE_URL', url)
})

test(
  'as a process of its own',
  async () => {
    const out = 'package.json/x.csv'
    const errors = `lockstep: ${out} cannot be written: a part of its path is a file\n`
    expect(await runProcess('export', 'GetBrokers', '--out', out)).toEqual({ status: 1, output: '', errors })
  },
  patience,
)

test('the ends of the audit log are kept also where nothing else made the data folder', () => {
  const keyRing = `k1:${'A'.repeat(43)}=`
  const given = { DATABASE_URL: url, LOCKSTEP_SECRET: 'x'.repeat(32), LOCKSTEP_KEY_RING: keyRing }
  const heads = auditHeads(readConfig({ ...given, DATA_DIR: join(folder, 'not', 'made') }))
  const kept = [{ chain: 1, seq: 1, hash: 'aa' }]
  heads.save(kept)
  expect(heads.load()).toEqual(kept)
})

test.each<[string, Partial<Port>, string]>([
  ['EADDRINUSE', {}, 'port 80 of h is in use; choose another by PORT'],
  ['EACCES', {}, 'port 80 of h cannot be had: this user may not have it; choose another by PORT or HOST'],
  [
    'ENOTFOUND',
    { chosenBy: 'METRICS_PORT' },
    'port 80 of h cannot be had: nobody knows this name; choose another by METRICS_PORT or METRICS_HOST',
  ],
  ['EIO', {}, 'port 80 of h cannot be had: EIO; choose another by PORT or HOST'],
])('a port that answers %s', (code, more, says) => {
  const port: Port = { port: 80, host: 'h', chosenBy: 'PORT', ...more }
  expect(faultOf(portFault(port, Object.assign(new Error('no'), { code })))).toBe(`lockstep: ${says}`)
})

describe('a data folder', () => {
  const file = join(folder, 'no-folder')
  writeFileSync(file, '')
  const link = join(folder, 'a-link')
  symlinkSync(join(folder, 'not-mounted', 'data'), link)
  const leadsNowhere = 'it is a link that leads nowhere, or in a place that takes no folders'

  test.each([
    ['in the place of which there is a file', file, 'it is a file'],
    ['that is a link to a disk that is not mounted', link, leadsNowhere],
    ['below a file', join(file, 'deeper'), 'a part of its path is a file'],
    ['among what is no files', '/proc/no/folder', leadsNowhere],
  ])('%s', (_, dataDir, why) => {
    expect(() => loadSecrets(readConfig({ DATA_DIR: dataDir }))).toThrow(
      new ConfigError(`the data folder ${dataDir} cannot be used: ${why}; choose another by DATA_DIR`),
    )
  })

  test.each([
    [fs.accessSync, 'EROFS', 'its disk takes no writes'],
    [fs.accessSync, 'EACCES', 'this user may not write there'],
    [fs.mkdirSync, 'EXDEV', 'EXDEV'],
  ] as const)('where a call of the system answers otherwise: %#', (call, code, why) => {
    const dataDir = join(folder, 'fresh')
    vi.mocked<(path: fs.PathLike) => unknown>(call).mockImplementationOnce(() => {
      throw Object.assign(new Error(), { code })
    })
    expect(() => loadSecrets(readConfig({ DATA_DIR: dataDir }))).toThrow(
      `the data folder ${dataDir} cannot be used: ${why}; choose another by DATA_DIR`,
    )
  })
})
