/** Tools that are about a platform, where there is none: they make none to answer about. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, test, vi } from 'vitest'
import { commandLine } from '../support/command-line.ts'

const { folder, runHere: run } = commandLine('')
const nowhere = join(folder, 'nowhere')
beforeAll(() => {
  vi.stubEnv('DATA_DIR', nowhere)
  vi.stubEnv('DATABASE_URL', undefined)
})

test.each([
  'doctor',
  'audit',
  'audit verify',
  'audit log',
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
  expect(existsSync(nowhere)).toBe(false)
})
