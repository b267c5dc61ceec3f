/** The check of the books beside everything else: it lets a worker end, and other workers go first. */
import { describe, expect, test, vi } from 'vitest'
import { bookCheckStep } from '../../src/execution/book-check.ts'
import { newTally } from '../../src/execution/tally.ts'
import { createWorker } from '../../src/execution/worker.ts'
import { testDatabase } from '../support/database.ts'
import { makeWorld } from './world.ts'

const { db } = await testDatabase()
const { ctx } = makeWorld(db)
const aMinute = 60_000

/** While somebody else keeps a table to himself, a check that reads it does not end. */
async function whileItLasts(work: () => Promise<void>): Promise<void> {
  await db.transaction(async (tx) => {
    await tx.run`lock table position in access exclusive mode`
    await work()
  })
}

const waiting = () => db.read.rows`
  select from pg_locks l join pg_database d on d.oid = l.database
  where not l.granted and d.datname = current_database() and l.relation = 'position'::regclass`

describe('the check of the books', () => {
  test('does not hold up a worker that ends, and counts as not made', async () => {
    const now = vi.spyOn(performance, 'now')
    const errors: object[] = []
    const tally = newTally()
    const log = { ...ctx.log, error: (fields: object) => errors.push(fields) }
    const worker = createWorker({ ctx: { ...ctx, log, tally }, steps: [bookCheckStep()] })
    await whileItLasts(async () => {
      now.mockReturnValue(performance.now() + aMinute)
      await worker.start()
      await vi.waitFor(async () => expect(await waiting()).toHaveLength(1), 10_000)
      now.mockRestore()
      await worker.stop()
    })
    expect([errors, tally.books]).toEqual([[], undefined])
  })

  test('is made by one worker at a time', async () => {
    const first = { ...ctx, tally: newTally() }
    const second = { ...ctx, tally: newTally() }
    let running: Promise<number> | undefined
    await whileItLasts(async () => {
      running = bookCheckStep().run(first)
      await vi.waitFor(async () => expect(await waiting()).toHaveLength(1), 10_000)
      await bookCheckStep().run(second)
    })
    await running
    expect([first.tally.books?.violations, second.tally.books]).toEqual([0, undefined])
  })

  test('begins with a rest', async () => {
    const tally = newTally()
    await createWorker({ ctx: { ...ctx, tally }, steps: [bookCheckStep()] }).drain()
    expect(tally.books).toBeUndefined()
  })
})
