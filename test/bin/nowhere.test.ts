/** Tools that are about a platform, where there is none: they make none to answer about. */
import * as fs from 'node:fs'
import { join } from 'node:path'
import { beforeEach, expect, test, vi } from 'vitest'
import { commandLine } from '../support/command-line.ts'
import { testDatabase } from '../support/database.ts'

vi.mock('node:fs', async (original) => {
  const real = await original<typeof fs>()
  return { ...real, statSync: vi.fn(real.statSync) }
})

const { folder, runHere: run } = commandLine('')
const nowhere = join(folder, 'nowhere')
const empty = await testDatabase({ migrated: false })
beforeEach(() => {
  vi.stubEnv('DATA_DIR', nowhere)
  vi.stubEnv('DATABASE_URL', undefined)
})

test.each([
  'doctor',
  'audit',
  'audit verify',
  'audit log',
  'audit head',
  'export GetBrokers',
  'incidents list',
  'orders waiting',
  'orders differing',
  'approvals list',
  'webhooks list',
  'mux list',
  'maintenance on',
  'openings off',
  'restored',
  'secrets accept',
  'credentials rotate',
  'payments use simulated',
  'payments retry 1',
  'payments unpaid',
  'payments settle 1 --note cash',
  'payments waive 1 --note goodwill',
  'keys list --person 1',
  'keys issue --person 1',
  'keys revoke abc',
  'people delete 1',
  'people account 1 X --broker 1',
  'sites support X --company A',
  'strategy disable 1',
  'catalog list X',
  'plans withdraw 1',
  'fees X --payer none',
  'accounts withdraw X',
  'webhooks rotate 1',
  'brokers set 1 --enabled off',
  'orders confirm 1',
  'incidents end 1',
  'call GetBrokers',
])('%s', async (words) => {
  const told = await run(...words.split(' '))
  expect(told).toMatchObject({ status: 1, errors: `lockstep: there is no platform in ${nowhere}` })
  expect(fs.existsSync(nowhere)).toBe(false)
})

test.each(['doctor', 'restored', 'keys list --person 1'])('%s in a database that is empty', async (words) => {
  vi.stubEnv('DATABASE_URL', empty.url)
  const told = await run(...words.split(' '))
  const errors = 'lockstep: there is no platform in the database of DATABASE_URL'
  expect(told).toMatchObject({ status: 1, errors })
  expect(await empty.db.read.one`select to_regclass('schema_migration') as made`).toEqual({ made: null })
})

test('the key of a secret that is not there is not shown: it would be a new one', async () => {
  vi.stubEnv('DATABASE_URL', empty.url)
  const errors = `lockstep: there is no secret in ${nowhere}: name the folder or the secret of the worker by DATA_DIR or LOCKSTEP_SECRET`
  expect(await run('audit', 'head')).toMatchObject({ status: 1, output: '', errors })
  expect(fs.existsSync(nowhere)).toBe(false)
})

test('a data folder that is closed to the user is not said to hold none', async () => {
  vi.mocked<(path: fs.PathLike) => unknown>(fs.statSync).mockImplementationOnce(() => {
    throw Object.assign(new Error(), { code: 'EACCES' })
  })
  const errors = `lockstep: the data folder ${nowhere} cannot be used: this user may not write there; choose another by DATA_DIR`
  expect(await run('doctor')).toMatchObject({ status: 1, errors })
})
