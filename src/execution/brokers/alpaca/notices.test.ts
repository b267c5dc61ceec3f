import { expect, test } from 'vitest'
import type { WorkContext } from '../../context.ts'
import { createNotices } from './notices.ts'

const named = { brokerId: 1, accountId: 7 }
const active = { status: 'ACTIVE', isBlocked: false, number: 'A1', currency: 'USD', cash: '0' }

/** Notices of a worker whose clock is told, and how much they have told so far. */
function given() {
  const told: unknown[] = []
  let now = 0
  const run = async (...statement: unknown[]): Promise<number> => told.push(statement)
  const ctx = { db: { write: { run } }, clock: { now: () => now } } as unknown as WorkContext
  const notices = createNotices()
  const refuse = (at: number): Promise<void> => {
    now = at
    return notices.ofKey(ctx, named)
  }
  return { told, refuse, accept: () => notices.ofAccount(ctx, named, active) }
}

test('a key that is refused to several who ask at once is refused once', async () => {
  const { told, refuse } = given()
  for (const at of [0, 0, 1, 29_999]) await refuse(at)
  expect(told).toHaveLength(0)
  await refuse(60_000)
  expect(told).toHaveLength(1)
})

test('a key that was known in between is not refused twice', async () => {
  const { told, refuse, accept } = given()
  await refuse(0)
  await accept()
  await refuse(60_000)
  expect(told).toHaveLength(0)
})
