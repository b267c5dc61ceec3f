/** The ends of the audit log's chains that cannot be kept outside the database for a while. */
import { expect, test } from 'vitest'
import { type HeadKeeper, sealingStep } from '../../src/execution/audit-log.ts'
import type { WorkContext } from '../../src/execution/context.ts'
import { newTally } from '../../src/execution/tally.ts'
import type { Database } from '../../src/storage/database/database.ts'
import { CommitUnknown } from '../../src/storage/database/failure.ts'
import { type ChainHead, listChainHeads } from '../../src/storage/operating/audit-chain.ts'
import { setSwitch } from '../../src/storage/work/switches.ts'
import { testDatabase } from '../support/database.ts'

const { db } = await testDatabase()
const log = { info: () => undefined, warn: () => undefined, error: () => undefined }
const contextOn = (database: Database) =>
  ({ db: database, log, tally: newTally() }) as Partial<WorkContext> as WorkContext

test('ends that a killed worker chained and did not keep are kept by the next', async () => {
  await setSwitch(db.write, 'noOpeningOrders', true, 0)
  await sealingStep().run(contextOn(db))
  let kept: readonly ChainHead[] = []
  const next = sealingStep({
    load: () => kept,
    save: (heads) => {
      kept = heads
    },
  })
  expect(next.due(0)).toBe(true)
  await next.run(contextOn(db))
  expect(kept).not.toEqual([])
  expect(kept).toEqual(await listChainHeads(db.read))
  expect(next.due(0)).not.toBe(true)
})

test('ends that met a full disk are kept when there is room again, and not with the next entry', async () => {
  let isFull = true
  let kept: readonly ChainHead[] = []
  const keeper: HeadKeeper = {
    load: () => kept,
    save: (heads) => {
      if (isFull) throw new Error('ENOSPC: no space left on device, write')
      kept = heads
    },
  }
  const ctx = contextOn(db)
  const step = sealingStep(keeper)
  await setSwitch(db.write, 'noOpeningOrders', true, 0)
  await expect(step.run(ctx)).rejects.toThrow('ENOSPC')
  expect(step.due(0)).toBe(true)
  await expect(step.run(ctx)).rejects.toThrow('ENOSPC')
  isFull = false
  await step.run(ctx)
  expect(kept).not.toEqual([])
  expect(kept).toEqual(await listChainHeads(db.read))
  expect(step.due(0)).not.toBe(true)
})

test('ends of a commit whose answer was lost are kept with the next run', async () => {
  let kept: readonly ChainHead[] = []
  const step = sealingStep({
    load: () => kept,
    save: (heads) => {
      kept = heads
    },
  })
  const answerless: Database = {
    ...db,
    transaction: async (work, options) => {
      await db.transaction(work, options)
      throw new CommitUnknown('the connection was cut')
    },
  }
  await setSwitch(db.write, 'noOpeningOrders', false, 0)
  await expect(step.run(contextOn(answerless))).rejects.toThrow(CommitUnknown)
  expect(step.due(0)).toBe(true)
  await step.run(contextOn(db))
  expect(kept).toEqual(await listChainHeads(db.read))
  expect(kept).not.toEqual([])
})
