import { setImmediate as turn } from 'node:timers/promises'
import { expect, test, vi } from 'vitest'
import { makeLooks } from './looks.ts'

/** Looks that end when they are told to. */
function scene() {
  const ends: ((error?: Error) => void)[] = []
  const look = () =>
    new Promise<void>((resolve, reject) => {
      ends.push((error) => (error ? reject(error) : resolve()))
    })
  const failed = vi.fn()
  return { ends, failed, looks: makeLooks(look, failed, 1) }
}

test('who asks during a look is answered by one that begins after it, however many ask', async () => {
  const { ends, looks } = scene()
  looks.ask()
  looks.ask()
  looks.ask()
  expect(ends).toHaveLength(1)
  ends[0]?.()
  await vi.waitUntil(() => ends.length === 2)
  ends[1]?.()
  await turn()
  expect(ends).toHaveLength(2)
  looks.ask()
  expect(ends).toHaveLength(3)
})

test('a look that fails is told of and made again, though nobody asks', async () => {
  const { ends, failed, looks } = scene()
  looks.ask()
  ends[0]?.(new Error('away'))
  await vi.waitUntil(() => ends.length === 2)
  ends[1]?.()
  await turn()
  expect(ends).toHaveLength(2)
  expect(failed.mock.calls).toEqual([[new Error('away')]])
})

test('after the end nothing is looked at, and no failure told', async () => {
  const { ends, failed, looks } = scene()
  looks.ask()
  looks.ask()
  looks.stop()
  ends[0]?.(new Error('closed'))
  await turn()
  looks.ask()
  await turn()
  expect(ends).toHaveLength(1)
  expect(failed).not.toHaveBeenCalled()
})
