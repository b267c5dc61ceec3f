import { describe, expect, test } from 'vitest'
import { type BatchLimits, batched, newLoad, Overloaded } from './batch.ts'

const limits: BatchLimits = { sizeMax: 4, shareMin: 8, runningMax: 1, patienceMs: 0, waitingMax: 10 }
const never = (): boolean => false

describe('batches', () => {
  test('gather one turn, keep the order, respect the size', async () => {
    const seen: number[][] = []
    const double = batched<number, number>(
      async (inputs) => {
        seen.push([...inputs])
        return inputs.map((input) => input * 2)
      },
      never,
      limits,
    )
    expect(await Promise.all([1, 2, 3, 4, 5, 6].map(double))).toEqual([2, 4, 6, 8, 10, 12])
    expect(seen).toEqual([
      [1, 2, 3, 4],
      [5, 6],
    ])
  })

  test.each([1, 2])(
    'what comes while a batch runs makes the next one at its end (%i at most)',
    async (runningMax) => {
      const seen: number[][] = []
      let release = (): void => undefined
      const gate = new Promise<void>((resolve) => {
        release = resolve
      })
      const run = batched<number, number>(
        async (inputs) => {
          seen.push([...inputs])
          if (seen.length === 1) await gate
          return inputs
        },
        never,
        { ...limits, runningMax, patienceMs: 3_600_000 },
      )
      const first = run(1)
      await new Promise((resolve) => setImmediate(() => setImmediate(resolve)))
      const others = [run(2), run(3)]
      release()
      await Promise.all([first, ...others])
      expect(seen).toEqual([[1], [2, 3]])
    },
  )

  test.each([
    [true, ['1 begins', '2 begins', '1 is answered', '2 is answered']],
    [false, ['1 begins', '1 is answered', '2 begins', '2 is answered']],
  ])('hasty (%s) or not, the next batch begins when the one before has ended', async (isHasty, expected) => {
    const told: string[] = []
    const run = batched<number, number>(
      async (inputs) => {
        told.push(`${inputs} begins`)
        return inputs
      },
      never,
      { ...limits, sizeMax: 1, isHasty },
    )
    await Promise.all([1, 2].map(async (call) => told.push(`${await run(call)} is answered`)))
    expect(told).toEqual(expected)
  })

  test('a stuck batch does not stop the others for longer than its patience', async () => {
    const run = batched<number, number>(
      (inputs) => (inputs.includes(1) ? new Promise(() => undefined) : Promise.resolve(inputs)),
      never,
      { ...limits, runningMax: 2, patienceMs: 5 },
    )
    void run(1)
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)))
    expect(await run(2)).toBe(2)
  })

  test('no patience starts more batches than may run beside each other', async () => {
    const seen: number[][] = []
    const run = batched<number, number>(
      (inputs) => {
        seen.push([...inputs])
        return new Promise(() => undefined)
      },
      never,
      { ...limits, runningMax: 1, patienceMs: 1 },
    )
    void run(1)
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)))
    void run(2)
    await new Promise((resolve) => setTimeout(resolve, 20))
    expect(seen).toEqual([[1]])
  })

  test('many waiting calls are shared out over the batches that may run beside each other', async () => {
    const sizes: number[] = []
    let release = (): void => undefined
    const allStarted = new Promise<void>((resolve) => {
      release = resolve
    })
    const run = batched<number, number>(
      async (inputs) => {
        if (sizes.push(inputs.length) === 3) release()
        await allStarted
        return inputs
      },
      never,
      { ...limits, sizeMax: 8, shareMin: 2, runningMax: 3, patienceMs: 3_600_000 },
    )
    const inputs = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]
    expect(await Promise.all(inputs.map(run))).toEqual(inputs)
    expect(sizes).toEqual([4, 3, 3])
  })

  test('a bad call is found by halving, the others are answered', async () => {
    const sizes: number[] = []
    const run = batched<number, number>(
      async (inputs) => {
        sizes.push(inputs.length)
        if (inputs.includes(3)) throw new Error('three')
        return inputs
      },
      never,
      { ...limits, sizeMax: 8 },
    )
    const answers = await Promise.allSettled([0, 1, 2, 3, 4, 5, 6, 7].map(run))
    expect(answers.map(({ status }) => status === 'fulfilled')).toEqual([
      true,
      true,
      true,
      false,
      true,
      true,
      true,
      true,
    ])
    expect(sizes).toEqual([8, 4, 2, 2, 1, 1, 4])
  })

  test('a shared fault is given to all at once', async () => {
    let runs = 0
    const run = batched<number, number>(
      async () => {
        runs++
        throw new Error('away')
      },
      () => true,
      limits,
    )
    const answers = await Promise.allSettled([1, 2, 3].map(run))
    expect(answers.every(({ status }) => status === 'rejected')).toBe(true)
    expect(runs).toBe(1)
  })

  test('too many answers or too few are a bug, not a mix-up', async () => {
    const run = batched<number, number>(async () => [1], never, limits)
    await expect(Promise.all([run(1), run(2)])).resolves.toEqual([1, 1])
    const short = batched<number, number>(async () => [], never, limits)
    await expect(short(1)).rejects.toThrow('1 calls got 0 answers')
  })

  test('a call that would wait behind too many is turned away', async () => {
    const load = newLoad()
    const run = batched<number, number>(async (inputs) => inputs, never, limits, load)
    const asked = Array.from({ length: 12 }, (_, at) => run(at))
    expect(load).toEqual({ waiting: 10, turnedAway: 2 })
    const answers = await Promise.allSettled(asked)
    expect(answers.filter(({ status }) => status === 'rejected')).toHaveLength(2)
    expect((answers[11] as PromiseRejectedResult).reason).toBeInstanceOf(Overloaded)
    expect(load).toEqual({ waiting: 0, turnedAway: 2 })
  })
})
