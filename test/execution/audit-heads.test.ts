/** The ends of the audit log's chains that cannot be kept outside the database for a while. */
import { expect, test } from 'vitest'
import { type HeadKeeper, sealingStep } from '../../src/execution/audit-log.ts'
import type { WorkContext } from '../../src/execution/context.ts'
import { newTally } from '../../src/execution/tally.ts'
import { type ChainHead, listChainHeads } from '../../src/storage/operating/audit-chain.ts'
import { setSwitch } from '../../src/storage/work/switches.ts'
import { testDatabase } from '../support/database.ts'

const { db } = await testDatabase()

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
  const log = { info: () => undefined, warn: () => undefined, error: () => undefined }
  const ctx = { db, log, tally: newTally() } as Partial<WorkContext> as WorkContext
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
