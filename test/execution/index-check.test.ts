/** Indexes that do not lead to all of their rows, as the operator's command and a worker find them. */
import { randomUUID } from 'node:crypto'
import { expect, test, vi } from 'vitest'
import { dayLength, hour } from '../../src/domain/time.ts'
import { indexCheckStep } from '../../src/execution/index-check.ts'
import { openDatabase } from '../../src/storage/database/database.ts'
import { checkIndexes } from '../../src/storage/operating/damage.ts'
import { listIncidents } from '../../src/storage/work/incidents.ts'
import { testDatabase } from '../support/database.ts'
import { silentLog } from '../support/database-server.ts'
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

test('whoever may neither install what checks them nor use it is told nothing', async () => {
  expect(await asGuest('', checkIndexes)).toBeUndefined()
})

test('all of a sound database lead to their rows, also for a role that was let check them', async () => {
  await addInstrument(db, { securityType: 'CS' })
  const report = await checkIndexes(db)
  expect(report).toEqual({ checked: expect.any(Number), damaged: [] })
  expect(report?.checked).toBeGreaterThan(200)
  expect(await asGuest('', checkIndexes)).toBeUndefined()
  const rights = 'grant execute on function bt_index_check(regclass, boolean) to ROLE'
  expect(await asGuest(rights, checkIndexes)).toEqual(report)
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
  expect(await checkIndexes(db)).toMatchObject({ damaged })

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
  expect(await checkIndexes(db)).toMatchObject({ damaged: [] })
})
