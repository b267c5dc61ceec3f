/** Rows in parts: all of them, in order, no more than two parts on their way, and the first failure is said. */
import { expect, test } from 'vitest'
import { writeInParts } from './parts.ts'

const rows = Array.from({ length: 9_001 }, (_, place) => place)
const turn = () => new Promise<void>((resolve) => setImmediate(resolve))

test('writes every row once, in order, and waits for all', async () => {
  const written: number[] = []
  let underWay = 0
  let mostUnderWay = 0
  await writeInParts(rows, async (part) => {
    mostUnderWay = Math.max(mostUnderWay, ++underWay)
    for (let wait = 0; wait < 5; wait++) await turn()
    written.push(...part)
    underWay -= 1
  })
  expect(written).toEqual(rows)
  expect([underWay, mostUnderWay]).toEqual([0, 2])
  await writeInParts([], () => Promise.reject(new Error('nothing was to be written')))
})

test.each([0, 1, 4])('a failure of part %i is thrown, and little is asked for behind it', async (bad) => {
  let parts = 0
  const work = writeInParts(rows, async () => {
    if (parts++ === bad) throw new RangeError('refused')
  })
  await expect(work).rejects.toThrow('refused')
  expect(parts).toBeLessThanOrEqual(bad + 2)
})
