/** The lock of a data folder, after somebody meddled with it. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { takeLock } from '../../src/postgres/lock.ts'

const scratch = mkdtempSync('/tmp/lockstep-lock-')
afterAll(() => rmSync(scratch, { recursive: true, force: true }))

test('one that was taken away is given up without a word, and without harm to who has it now', async () => {
  const run = join(scratch, 'run')
  mkdirSync(run)
  const lost = await takeLock(run)
  rmSync(run, { recursive: true })
  expect(await lost.held()).toBe(false)
  mkdirSync(run)
  const next = await takeLock(run)
  lost.release()
  lost.release()
  expect(await next.held()).toBe(true)
  next.release()
  await expect(takeLock(run).then(({ release }) => release())).resolves.toBeUndefined()
})

test('one that was taken away with its folder is given up', async () => {
  const run = join(scratch, 'gone')
  mkdirSync(run)
  const lost = await takeLock(run)
  rmSync(run, { recursive: true })
  expect(() => lost.release()).not.toThrow()
})
