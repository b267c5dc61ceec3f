/** Live brokers as an operator sets them up: the file of connections, and the rows that they lead to. */
import { execFile } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { connectBrokers } from '../../src/bin/brokers.ts'
import { readConfig } from '../../src/bin/config.ts'
import { bootstrap } from '../../src/operations/bootstrap.ts'
import { addStrategy } from '../execution/world.ts'
import { testDatabase } from '../support/database.ts'
import { addBroker, addFollowers } from '../support/followers.ts'

const { db, url } = await testDatabase()
const folder = mkdtempSync(join(tmpdir(), 'lockstep-brokers-'))
afterAll(() => rmSync(folder, { recursive: true }))
const path = join(folder, 'brokers.json')
const config = readConfig({ DATA_DIR: folder, LOCKSTEP_BROKERS: path })

/** What connecting says about a file with this text. */
async function saying(text: string | null, mode = 0o600): Promise<string> {
  rmSync(path, { force: true })
  if (text !== null) {
    writeFileSync(path, text)
    chmodSync(path, mode)
  }
  return connectBrokers(config).then(
    (live) => live.close().then(() => Object.keys(live.brokers).join(' ')),
    (error: Error) => error.message,
  )
}

describe('the file of live brokers', () => {
  test.each([
    ['is missing', null, /a file of JSON that can be read$/],
    ['is no JSON', '{"a": s3cret', /a file of JSON that can be read$/],
    ['is a list', '[]', /^LOCKSTEP_BROKERS must be an object$/],
    ['holds a connection that is no object', '{"a": "s3cret"}', /the connection a must be an object$/],
    ['names an unknown kind', '{"a": {"kind": "toString", "password": "s3cret"}}', /the kind of a must be /],
    ['takes the name of the paper broker', '{"paper": {"kind": "x"}}', /cannot be named paper$/],
    ['uses a name that cannot be typed', '{"A b": {"kind": "x"}}', /cannot be named A b$/],
  ])('%s', async (_, text, expected) => {
    const said = await saying(text)
    expect(said).toMatch(expected)
    expect(said).not.toContain('s3cret')
  })

  test('nobody else may read it', async () => {
    expect(await saying('{}', 0o640)).toMatch(/readable by its owner alone/)
    expect(await saying('{}')).toBe('')
  })

  test.each([
    ['another environment', { environment: 'moon' }, 'its environment must be paper or live'],
    ['an address that is none', { url: 'alpaca' }, 'its url is no address'],
    [
      'a limit that is none',
      { requestsPerMinute: 0.5 },
      'its requestsPerMinute must be a whole number above 0',
    ],
  ])('Alpaca refuses %s', async (_, settings, reason) => {
    const said = await saying(JSON.stringify({ a: { kind: 'alpaca', ...settings } }))
    expect(said).toBe(`LOCKSTEP_BROKERS: the connection a cannot be used: ${reason}`)
  })

  test('Alpaca needs nothing but its kind', async () => {
    expect(
      await saying(
        '{"alpaca": {"kind": "alpaca"}, "alpaca-live": {"kind": "alpaca", "environment": "live"}}',
      ),
    ).toBe('alpaca alpaca-live')
  })

  test('no file, no live broker', async () => {
    expect((await connectBrokers(readConfig({ DATA_DIR: folder }))).brokers).toEqual({})
  })
})

/** Runs the program; answers its exit status and what it said. */
function running(...words: string[]): Promise<{ status: number; output: string; errors: string }> {
  const env = { ...process.env, DATABASE_URL: url, DATA_DIR: folder, LOCKSTEP_BROKERS: path }
  return new Promise((resolve) => {
    execFile(process.execPath, ['scripts/lockstep.mjs', ...words], { env }, (error, output, errors) =>
      resolve({ status: error ? Number(error.code) : 0, output: output.trim(), errors }),
    )
  })
}

test('an operator adds a broker and the account that somebody has there', async () => {
  await saying('{"alpaca": {"kind": "alpaca"}}')
  const made = await running('brokers', 'create', 'Alpaca', '--connection', 'alpaca', '--json')
  expect(made).toMatchObject({ status: 0, output: expect.stringMatching(/^\{"brokerId":\d+\}$/) })
  expect(await running('brokers', 'create', ' ', '--connection', 'alpaca')).toMatchObject({
    status: 1,
    errors: 'lockstep: the name says nothing\n',
  })
  const { brokerId } = JSON.parse(made.output) as { brokerId: number }
  const name = ['--first', 'A', '--last', 'B', '--email', 'a@example.com', '--json']
  const { personId } = JSON.parse((await running('people', 'add', ...name)).output) as { personId: number }
  const account = ['people', 'account', String(personId), 'PA123', '--broker', String(brokerId)]
  expect(await running(...account, '--cash', '1000')).toMatchObject({ status: 0 })
  expect(await running(...account)).toMatchObject({
    status: 1,
    errors: 'lockstep: the broker has an account of this number already\n',
  })
  const rows = await db.read.rows`
    select b.adapter, b.environment, b.needs_credentials as "needsCredentials", a.account, a.kind, a.cash::float8
    from account a join broker b on b.id = a.broker_id`
  expect(rows).toEqual([
    { adapter: 'alpaca', environment: 'live', needsCredentials: true, account: 'PA123', kind: 0, cash: 1000 },
  ])
}, 120_000)

test('an operator opens an account at the paper broker', async () => {
  await bootstrap(db.write, Date.now())
  const name = ['--first', 'P', '--last', 'B', '--email', 'paper@example.com', '--json']
  const { personId } = JSON.parse((await running('people', 'add', ...name)).output) as { personId: number }
  const { id } = await db.read.one<{ id: number }>`select id from broker where environment = 'paper'`
  const words = ['people', 'account', String(personId), 'P1', '--broker', String(id), '--cash', '50000']
  expect(await running(...words)).toMatchObject({ status: 0 })
  expect(
    await db.read.rows`select kind, cash::float8, starting_cash::float8 as "startingCash" from account
      where account = 'P1'`,
  ).toEqual([{ kind: 1, cash: 50_000, startingCash: 50_000 }])
}, 60_000)

test('what could not be opened meanwhile is looked at as soon as it may be again', async () => {
  const [strategyId, theirs, others] = [await addStrategy(db), await addBroker(db), await addBroker(db)]
  const setups = await addFollowers(db, { strategyId, brokerId: theirs, count: 2 })
  const elsewhere = await addFollowers(db, { strategyId, brokerId: others, count: 1 })
  const marked = async (...words: string[]): Promise<number[]> => {
    await db.write.run`delete from sync_due`
    expect(await running(...words)).toMatchObject({ status: 0 })
    const rows = await db.read.rows<{ id: number }>`
      select setup_id as id from sync_due where due_at <= clock_timestamp() order by 1`
    return rows.map(({ id }) => id)
  }
  const set = (enabled: string) => marked('brokers', 'set', String(theirs), '--enabled', enabled)
  expect([await marked('openings', 'off'), await set('off')]).toEqual([[], []])
  expect(await marked('openings', 'on')).toEqual([...setups, ...elsewhere])
  expect(await set('on')).toEqual(setups)
}, 120_000)
