/** Day orders end with their session, good-till-canceled ones do not, and the clock knows where to stop. */
import { afterEach, expect, test } from 'vitest'
import { expireSignals, nextDue } from '../../src/execution/orders/expiries.ts'
import { createWorker } from '../../src/execution/worker.ts'
import { auditViolations } from '../../src/storage/operating/audit.ts'
import { testDatabase } from '../support/database.ts'
import {
  addInstrument,
  addStrategy,
  close,
  makeWorld,
  opening,
  place,
  readEvents,
  readSignal,
  steps,
} from './world.ts'

const { db } = await testDatabase()
const dayLength = 86_400_000

afterEach(async () => {
  expect(await auditViolations(db.read)).toEqual([])
  await db.write.run`truncate signal cascade`
})

async function setting() {
  const world = makeWorld(db)
  const strategyId = await addStrategy(db)
  const { id: instrumentId } = await addInstrument(db)
  const limit = { strategyId, instrumentId, side: '1', limit: '10' } as const
  return { world, ctx: world.ctx, limit, drain: () => createWorker({ ctx: world.ctx, steps }).drain() }
}

test('a day order ends with the session, at its moment, and not before', async () => {
  const { world, limit, drain } = await setting()
  const id = await place(world, limit)
  world.clock.time = close - 1
  await drain()
  expect((await readSignal(world, id)).status).toBe('0')
  world.clock.time = close + 5 * 60_000
  expect(await drain()).toBe(1)
  expect(await readSignal(world, id)).toMatchObject({
    status: 'C',
    endedAt: close,
    mirrorDue: true,
    needsMatch: false,
  })
  expect((await readEvents(world, id)).at(-1)).toMatchObject({
    event: 'EXPIRE',
    status: 'C',
    occurredAt: close,
  })
  expect(await drain()).toBe(0)
})

test('one placed after the close lives to the end of the next session', async () => {
  const { world, limit, drain } = await setting()
  world.clock.time = close
  const id = await place(world, limit)
  await drain()
  expect((await readSignal(world, id)).status).toBe('0')
  expect(await nextDue(world.ctx)).toBe(close + dayLength)
})

test('good till canceled does not end by time', async () => {
  const { world, limit, drain } = await setting()
  const id = await place(world, { ...limit, goodTillCanceled: true })
  expect(await nextDue(world.ctx)).toBeUndefined()
  world.clock.time += 400 * dayLength
  await drain()
  expect((await readSignal(world, id)).status).toBe('0')
})

test('two workers expire each order once', async () => {
  const { world, ctx, limit } = await setting()
  for (let count = 0; count < 20; count++) await place(world, { ...limit, strategyId: await addStrategy(db) })
  world.clock.time = close
  const counts = await Promise.all([expireSignals(ctx), expireSignals(ctx), expireSignals(ctx)])
  const rest = await expireSignals(ctx)
  expect(counts.reduce((sum, count) => sum + count, rest)).toBe(20)
})

test('the next moment is the earliest of all sources', async () => {
  const { world, limit } = await setting()
  await place(world, limit)
  const later = {
    ...world.ctx,
    settings: {
      ...world.ctx.settings,
      dueSources: [...world.ctx.settings.dueSources, async () => opening + 1],
    },
  }
  expect(await nextDue(world.ctx)).toBe(close)
  expect(await nextDue(later)).toBe(opening + 1)
})
