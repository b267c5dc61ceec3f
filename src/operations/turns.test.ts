import { expect, test } from 'vitest'
import { besideOthers } from '../../test/support/beside-others.ts'
import { compileRow, rows, textOf } from '../contract/index.ts'
import { replyInTurns, replyWith } from './reply.ts'
import { inTurns, rowsAtOnce } from './turns.ts'

const numbers = (count: number): number[] => Array.from({ length: count }, (_, at) => at)

test('a long list is made in its order, and others have their turn between its parts', async () => {
  const given = numbers(3 * rowsAtOnce + 1)
  const { answer, turns } = await besideOthers(() => inTurns(given, (some) => some.map((one) => 2 * one)))
  expect(answer).toEqual(given.map((one) => 2 * one))
  expect(turns).toBeGreaterThanOrEqual(3)
})

test('others have their turn also between parts of which nothing is made', async () => {
  const { answer, turns } = await besideOthers(() => inTurns(numbers(3 * rowsAtOnce + 1), () => []))
  expect(answer).toEqual([])
  expect(turns).toBeGreaterThanOrEqual(3)
})

test('a long answer reads as one that is written at once, and is written beside others', async () => {
  const compiled = compileRow(rows.GetStrategyHistoricalOrders, 'Gen', 'native')
  const text = { ...compiled, writeItems: (some: readonly unknown[]) => some.map(String) }
  const outcome = { results: numbers(3 * rowsAtOnce), headers: { etag: '"1"' } }
  const { answer, turns } = await besideOthers(() => replyInTurns(outcome, text))
  expect(turns).toBeGreaterThanOrEqual(2)
  expect(answer).toMatchObject({ status: 200, headers: { etag: '"1"' } })
  expect(JSON.parse(textOf(answer.body))).toMatchObject({ Results: outcome.results })
})

test('a page is written at once', () => {
  const compiled = compileRow(rows.GetStrategyHistoricalOrders, 'Gen', 'native')
  const page = { results: [] }
  expect(replyInTurns(page, compiled)).toEqual(replyWith(page, compiled))
})

test('a long answer that nobody waits for any more may fail, and the process goes on', async () => {
  const compiled = compileRow(rows.GetStrategyHistoricalOrders, 'Gen', 'native')
  const text = {
    ...compiled,
    writeItems: (some: readonly unknown[]) => {
      if (some.includes(rowsAtOnce)) throw new Error('cannot be written')
      return some.map(String)
    },
  }
  const unheard: unknown[] = []
  const hear = (error: unknown): void => void unheard.push(error)
  process.on('unhandledRejection', hear)
  try {
    const reply = replyInTurns({ results: numbers(3 * rowsAtOnce) }, text)
    for (let turns = 0; turns < 5; turns++) await new Promise(setImmediate)
    await expect(reply).rejects.toThrow('cannot be written')
  } finally {
    process.off('unhandledRejection', hear)
  }
  expect(unheard).toEqual([])
})
