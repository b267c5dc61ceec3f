/** `lockstep import` as an operator runs it: a program, a file, an exit status. */
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { testDatabase } from '../support/database.ts'

const { db, url } = await testDatabase()
const folder = mkdtempSync(join(tmpdir(), 'lockstep-import-'))
afterAll(() => rmSync(folder, { recursive: true }))
await db.write.run`
  insert into instrument (symbol, security_type, description, root, currency, point_value, tick, calendar)
  values ('AAPL', 'CS', 'A', 'AAPL', 'USD', 1, 0.01, 'US_EQUITY')`

interface Ran {
  status: number
  output: string
  errors: string
}

/** Imports a file with this text. */
function importing(word: string, text: string | null, ...more: string[]): Promise<Ran> {
  const file = join(folder, `${word}.csv`)
  if (text === null) rmSync(file, { force: true })
  else writeFileSync(file, text)
  return run('import', word, file, ...more)
}

/** Runs the program. */
function run(...words: string[]): Promise<Ran> {
  const env = { ...process.env, DATABASE_URL: url, DATA_DIR: folder }
  return new Promise((resolve) => {
    execFile(process.execPath, ['scripts/lockstep.mjs', ...words], { env }, (error, output, errors) =>
      resolve({ status: error ? Number(error.code) : 0, output: output.trim(), errors }),
    )
  })
}

const readActions = () =>
  db.read.rows`
    select kind, ex_date as day, trim_scale(amount)::text as amount, trim_scale(new_units)::text as "new",
      trim_scale(old_units)::text as "old" from corporate_action order by id`

test('files are entered once, whole or not at all', async () => {
  const dividends = 'symbol,date,amount\nAAPL,2024-03-13,0.24\nAAPL,2024-06-13,0.25\n'
  expect(await importing('dividends', dividends)).toMatchObject({
    status: 0,
    output: '2 dividends are new, 0 were known.',
  })
  expect(await importing('dividends', `${dividends}AAPL,2024-09-13,0.25\n`, '--json')).toMatchObject({
    status: 0,
    output: '{"added":1,"known":2}',
  })
  const wrong = await importing('splits', 'symbol,date,new,old\n\nAAPL,2024-03-14,2,1\nNONE,2024-03-14,2,1\n')
  expect([wrong.status, wrong.output]).toEqual([1, ''])
  expect(wrong.errors).toMatch(/^lockstep: .*splits\.csv, line 4: there is no instrument NONE\n$/)
  expect(await importing('splits', 'symbol,date,new,old\nAAPL,2024-03-14,2,1\n')).toMatchObject({ status: 0 })
  expect(await readActions()).toEqual([
    { kind: 'dividend', day: '2024-03-13', amount: '0.24', new: null, old: null },
    { kind: 'dividend', day: '2024-06-13', amount: '0.25', new: null, old: null },
    { kind: 'dividend', day: '2024-09-13', amount: '0.25', new: null, old: null },
    { kind: 'split', day: '2024-03-14', amount: null, new: '2', old: '1' },
  ])
}, 120_000)

test('the last days of stocks are entered like announcements, and what is paid for them with them', async () => {
  const entered = await importing('delistings', 'symbol,date\nAAPL,2099-03-13\n')
  expect(entered).toMatchObject({ status: 0, output: '1 delistings are new, 0 were known.' })
  const later = 'symbol,date\nAAPL,2099-03-16\n'
  expect(await importing('delistings', later, '--json')).toMatchObject({ output: '{"added":1,"known":0}' })
  expect(await importing('delistings', later, '--json')).toMatchObject({ output: '{"added":0,"known":1}' })
  expect(await importing('settlements', 'symbol,date,amount\nAAPL,2099-03-16,0\n')).toMatchObject({
    status: 0,
    output: '1 settlements are new, 0 were known.',
  })
  await db.write.run`
    insert into instrument (symbol, security_type, description, root, currency, point_value, tick, calendar,
      last_trading_day, ended_at)
    values ('GONE', 'CS', 'G', 'GONE', 'USD', 1, 0.01, 'US_EQUITY', '2024-03-12', now()),
      ('EURUSD', 'FOR', 'E', 'EURUSD', 'USD', 1, 0.0001, 'FX', null, null)`
  const lines =
    'NONE,2024-03-12\nAAPL,2024-02-30\nEURUSD,2024-03-12\nGONE,2024-03-13\nAAPL,2099-03-16\nGONE,2024-03-12\n'
  const wrong = await importing('delistings', `symbol,date\n${lines}`)
  expect(wrong.status).toBe(1)
  expect(wrong.errors.match(/line .*/g)).toEqual([
    'line 2: there is no instrument NONE',
    'line 3: another line has 2099-03-16 for AAPL',
    'line 4: EURUSD is neither a stock nor a future',
    'line 5: another line has 2024-03-12 for GONE',
  ])
  const ended = await importing('delistings', 'symbol,date\nAAPL,2024-02-30\nGONE,2024-03-13\n')
  expect(ended.errors.match(/line .*/g)).toEqual([
    'line 2: 2024-02-30 is no date',
    'line 3: trading of GONE has ended on 2024-03-12 already',
  ])
}, 120_000)

test('a future ends on another day than its rule says when that is entered, and on none that is over', async () => {
  await importing('instruments', 'symbol\n@ESH34\n')
  const moved = await importing('delistings', 'symbol,date\n@ESH34,2034-03-16\n')
  expect(moved).toMatchObject({ status: 0, output: '1 delistings are new, 0 were known.' })
  const over = await importing('delistings', 'symbol,date\n@ESH34,2024-03-15\n')
  expect(over.errors.match(/line .*/g)).toEqual(['line 2: 2024-03-15 is over, and @ESH34 still trades'])
  expect(
    await db.read.one`
      select last_trading_day as "lastDay", due_at as "dueAt" from instrument where symbol = '@ESH34'`,
  ).toEqual({ lastDay: '2034-03-16', dueAt: Date.parse('2034-03-14T21:00Z') })
}, 120_000)

test('what cannot be read is said without a trace of the program', async () => {
  const missing = await importing('settlements', null)
  expect([missing.status, missing.errors]).toEqual([
    1,
    expect.stringMatching(/^lockstep: .* cannot be read: there is no such file or folder\n$/),
  ])
  const columns = await importing('settlements', 'symbol,amount\n')
  expect(columns.status).toBe(1)
  expect(columns.errors).toMatch(
    /^lockstep: .*settlements\.csv, line 1: the columns must be symbol, date, [^\n]*\n$/,
  )
}, 120_000)

test('what a file holds begins no line of its own and gives a terminal no orders', async () => {
  const named = '"X\u001b[2J\nready http://elsewhere"'
  const refused = await Promise.all([
    importing('dividends', `symbol,date,amount\n${named},2024-03-13,1\n`),
    importing('splits', `symbol,date,new,old\nAAPL,2024-03-14,${named},1\n`),
    importing('instruments', `symbol,tick\nX,${named}\n`),
  ])
  for (const { status, errors } of refused) {
    expect(status).toBe(1)
    expect(errors).toMatch(/^lockstep: .*X\ufffd\[2J\ufffdready [^\p{Cc}]*\n$/u)
  }
  const file = join(folder, 'quotes.csv')
  writeFileSync(file, `symbol,t,bid,ask\n${named},2024-03-12T14:00:00Z,1,2\n`)
  const played = await run('replay', file, '--speed', '0')
  expect(played.status).toBe(0)
  expect(played.output).toMatch(/X\ufffd\[2J\ufffdready [^\p{Cc}]*$/u)
}, 120_000)
