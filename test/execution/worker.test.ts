/** The loop: it wakes, it repeats, it survives, it ends. */
import { describe, expect, test } from 'vitest'
import type { Step } from '../../src/execution/context.ts'
import { createWorker } from '../../src/execution/worker.ts'
import { fragment, makeSql } from '../../src/storage/database/sql.ts'
import { wakeWorkers } from '../../src/storage/orders/signals.ts'
import { testDatabase } from '../support/database.ts'
import { makeWorld } from './world.ts'

const { db } = await testDatabase()
const { ctx } = makeWorld(db)

/** A step that is due while its queue holds work, and takes one piece at a time. */
function queueStep(name: string, left: number, work: (name: string) => unknown = () => undefined): Step {
  const state = { left }
  return {
    name,
    due: () => state.left > 0,
    async run() {
      await work(name)
      state.left -= 1
      return 1
    },
  }
}

const gate = (): { open: () => void; opened: Promise<void> } => {
  let open = (): void => undefined
  const opened = new Promise<void>((resolve) => (open = resolve))
  return { open, opened }
}

describe('drained', () => {
  test('works round after round until nothing is left', async () => {
    const log: string[] = []
    const steps = [queueStep('a', 2, (name) => log.push(name)), queueStep('b', 3, (name) => log.push(name))]
    expect(await createWorker({ ctx, steps }).drain()).toBe(5)
    expect(log).toEqual(['a', 'b', 'a', 'b', 'b'])
  })

  test('ends when what is due cannot be moved', async () => {
    const stuck: Step = { name: 'stuck', due: () => true, run: async () => 0 }
    expect(await createWorker({ ctx, steps: [stuck] }).drain()).toBe(0)
  })

  test('tells of a step that fails', async () => {
    const failing = queueStep('f', 1, () => Promise.reject(new Error('broken')))
    await expect(createWorker({ ctx, steps: [failing] }).drain()).rejects.toThrow('broken')
  })

  test('asks about time in business time', async () => {
    const asked: number[] = []
    const step: Step = {
      name: 'time',
      due: (now) => {
        asked.push(now)
        return fragment`false`
      },
      run: async () => 1,
    }
    await createWorker({ ctx, steps: [step] }).drain()
    expect(asked).toEqual([ctx.clock.now()])
  })
})

describe('started', () => {
  test('a failing step is tried again and does not hold up the others', async () => {
    const finished = gate()
    const errors: unknown[] = []
    let tries = 0
    const failing = queueStep('failing', 1, () => {
      tries += 1
      if (tries === 1) throw new Error('first try')
      finished.open()
    })
    const other = gate()
    const log = { ...ctx.log, error: (fields: object) => errors.push(fields) }
    const worker = createWorker({
      ctx: { ...ctx, log },
      steps: [failing, queueStep('other', 1, () => other.open())],
    })
    await worker.start()
    await Promise.all([finished.opened, other.opened])
    await worker.stop()
    expect(tries).toBe(2)
    expect(errors).toMatchObject([{ step: 'failing' }])
    expect(ctx.tally.stepFailures).toEqual(new Map([['failing', 1]]))
  })

  test('a notification wakes it, and a slow step lets the others run', async () => {
    const slow = gate()
    let ran = gate()
    let isDue = false
    const awaited: Step = {
      name: 'awaited',
      due: () => isDue,
      async run() {
        isDue = false
        ran.open()
        return 0
      },
    }
    const steps = [queueStep('slow', 1, () => slow.opened), awaited]
    const worker = createWorker({ ctx, steps, pollInterval: 3_600_000 })
    await worker.start()
    // The first time a new connection may ring the bell too; the second time only the notification can.
    for (let time = 0; time < 2; time++) {
      isDue = true
      await wakeWorkers(db.write)
      await ran.opened
      ran = gate()
    }
    slow.open()
    await worker.stop()
  })

  test('it asks by the same statement, whichever steps run', async () => {
    const texts = new Set<string>()
    const read = makeSql(async ({ text }) => {
      texts.add(text)
      return { rows: [{ due: [true, true] }], rowCount: 1, command: 'SELECT' }
    })
    const slow = gate()
    const ran = gate()
    let runs = 0
    const again: Step = {
      name: 'again',
      due: () => runs % 2 === 0,
      async run() {
        runs += 1
        if (runs === 4) ran.open()
        return 1
      },
    }
    const steps = [queueStep('slow', 1, () => slow.opened), again]
    const worker = createWorker({ ctx: { ...ctx, db: { ...db, read } }, steps })
    await worker.start()
    await ran.opened
    slow.open()
    await worker.stop()
    expect(texts.size).toBe(1)
  })

  test('a database that is away is waited for', async () => {
    let asked = 0
    const ran = gate()
    const read = {
      ...db.read,
      one: ((...statement: Parameters<typeof db.read.one>) => {
        asked += 1
        return asked < 3 ? Promise.reject(new Error('away')) : db.read.one(...statement)
      }) as typeof db.read.one,
    }
    const worker = createWorker({
      ctx: { ...ctx, db: { ...db, read } },
      steps: [queueStep('s', 1, ran.open)],
    })
    await worker.start()
    await ran.opened
    await worker.stop()
    expect(asked).toBeGreaterThanOrEqual(3)
  })

  test('a step with much to do hears of the stop', async () => {
    const began = gate()
    const endless = queueStep('endless', 1)
    const run: Step['run'] = async ({ ending }) => {
      began.open()
      while (!ending?.aborted) await new Promise((resolve) => setTimeout(resolve, 5))
      return 1
    }
    const worker = createWorker({ ctx, steps: [{ ...endless, run }] })
    await worker.start()
    await began.opened
    await worker.stop()
  })

  test('a stop waits for the step that runs', async () => {
    const began = gate()
    const release = gate()
    let isDone = false
    const worker = createWorker({
      ctx,
      steps: [
        queueStep('slow', 1, async () => {
          began.open()
          await release.opened
          isDone = true
        }),
      ],
    })
    await worker.start()
    await began.opened
    const stopped = worker.stop()
    release.open()
    await stopped
    expect(isDone).toBe(true)
  })
})
