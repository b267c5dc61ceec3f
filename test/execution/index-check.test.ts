/** Indexes that do not lead to all of their rows, as the operator's command and a worker find them. */
import { randomUUID } from 'node:crypto'
import { expect, test, vi } from 'vitest'
import { dayLength, hour } from '../../src/domain/time.ts'
import { indexCheckStep } from '../../src/execution/index-check.ts'
import { createWorker } from '../../src/execution/worker.ts'
import { openDatabase } from '../../src/storage/database/database.ts'
import { checkIndexes } from '../../src/storage/operating/damage.ts'
import { listIncidents } from '../../src/storage/work/incidents.ts'
import { testDatabase } from '../support/database.ts'
import { silentLog } from '../support/database-server.ts'
import { untilWaiting } from '../support/locks.ts'
import { misleadIndex } from '../support/misled-index.ts'
import { addInstrument, makeWorld } from './world.ts'

const { db, url } = await testDatabase()
const { ctx, clock } = makeWorld(db)

/** Whoever has his own word for it, and no rights but to come in. */
async function asGuest<T>(rights: string, work: (guest: typeof db) => Promise<T>): Promise<T> {
  const role = `r${randomUUID().replaceAll('-', '')}`
  await db.transaction((tx) =>
    tx.script(`create role ${role} login password 'x'; ${rights.replace('ROLE', role)}`),
  )
  const guest = await openDatabase({
    url: url.replace(/\/\/[^@]*@/, `//${role}:x@`),
    applicationName: role,
    log: silentLog,
  })
  try {
    return await work(guest)
  } finally {
    await guest.close()
    await db.transaction((tx) => tx.script(`drop owned by ${role}; drop role ${role}`))
  }
}

const limitMs = 60_000
const check = (of: typeof db) => checkIndexes(of, { limitMs })

test('whoever may neither install what checks them nor use it is told nothing', async () => {
  expect(await asGuest('', check)).toBeUndefined()
})

test('all of a sound database lead to their rows, also for a role that was let check them', async () => {
  await addInstrument(db, { securityType: 'CS' })
  // Two workers install what checks them at once.
  const [report, other] = await Promise.all([check(db), check(db)])
  expect(report).toEqual({ checked: expect.any(Number), unread: [], damaged: [] })
  expect(other).toEqual(report)
  expect(report?.checked).toBeGreaterThan(200)
  expect(await asGuest('', check)).toBeUndefined()
  const rights = 'grant execute on function bt_index_check(regclass, boolean) to ROLE'
  expect(await asGuest(rights, check)).toEqual(report)
})

test('one that misses a row is named, and told of every day until it is mended', async () => {
  const now = vi.spyOn(performance, 'now').mockReturnValue(0)
  const step = indexCheckStep()
  const begins = (at: number): boolean => {
    now.mockReturnValue(at)
    return (step.due as (now: number) => boolean)(clock.time)
  }
  const index = await misleadIndex(db)
  const damaged = [{ index, says: expect.stringMatching(/lacks matching index tuple/) }]
  expect(await check(db)).toMatchObject({ damaged })

  expect(begins(hour - 1)).toBe(false)
  expect(begins(hour)).toBe(true)
  await step.run(ctx)
  expect(begins(dayLength)).toBe(false)
  clock.time += dayLength
  expect(begins(dayLength + hour)).toBe(true)
  await step.run(ctx)
  now.mockRestore()
  const kept = await listIncidents(db.read, { limit: 10, withEnded: false })
  expect(kept.map(({ kind, detail }) => [kind, detail])).toEqual([
    ['indexDamaged', damaged[0]],
    ['indexDamaged', damaged[0]],
  ])

  await db.transaction((tx) => tx.script(`reindex index ${index}`))
  expect(await check(db)).toMatchObject({ damaged: [] })
})

/** While somebody else keeps a table to himself, a check that reads it does not end. */
const whileItLasts = (work: () => Promise<void>): Promise<void> =>
  db.transaction(async (tx) => {
    await tx.run`lock table site in access exclusive mode`
    await work()
  })

test('one that takes too long keeps no other from being checked', async () => {
  const { checked } = (await check(db))!
  await whileItLasts(async () => {
    const report = await checkIndexes(db, { limitMs: 200 })
    expect(report).toMatchObject({ damaged: [], unread: expect.arrayContaining(['site_pkey']) })
    expect(report!.checked + report!.unread.length).toBe(checked)
    expect(report!.checked).toBeGreaterThan(report!.unread.length)
  })
})

test('one that is dropped meanwhile keeps no other from being checked', async () => {
  await db.transaction((tx) => tx.script('create table zone (id int primary key)'))
  let checking: ReturnType<typeof check> | undefined
  await whileItLasts(async () => {
    checking = check(db)
    await untilWaiting(db.read)
    await db.transaction((tx) => tx.script('drop table zone'))
  })
  expect(await checking).toMatchObject({ damaged: [], unread: [] })
})

test('a worker that ends does not wait for it', async () => {
  const now = vi.spyOn(performance, 'now')
  const errors: object[] = []
  const log = { ...ctx.log, error: (fields: object) => errors.push(fields) }
  const worker = createWorker({ ctx: { ...ctx, log }, steps: [indexCheckStep()] })
  await whileItLasts(async () => {
    now.mockReturnValue(performance.now() + hour)
    await worker.start()
    await untilWaiting(db.read)
    now.mockRestore()
    await worker.stop()
  })
  expect(errors).toEqual([])
})
