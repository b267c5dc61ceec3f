/** Tools that tell of a platform, or hold it back, where there is none: they make none to answer about. */
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
])('%s', async (words) => {
  const told = await run(...words.split(' '))
  expect(told).toMatchObject({ status: 1, errors: `lockstep: there is no platform in ${nowhere}` })
  expect(existsSync(nowhere)).toBe(false)
})
