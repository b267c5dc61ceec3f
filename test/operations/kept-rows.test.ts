/** Rows that were shown before are shown from memory, and as they are now when anything in them has changed. */
import { expect, test } from 'vitest'
import { keptRows } from '../../src/operations/kept-rows.ts'
import type { Sql } from '../../src/storage/database/sql.ts'
import { resultsOf } from '../support/http.ts'
import { buildTown } from './support/town.ts'

const { platform, people, strategyId, signals, ask } = await buildTown()
const { write } = platform.db
const history = async () => {
  const answer = await ask(
    'GetStrategyHistoricalOrders',
    { StrategyId: strategyId },
    { key: people.owner.key },
  )
  return resultsOf<Record<string, unknown>>(answer)
}

test('a change of the order, its instrument or its strategy is shown at once', async () => {
  const before = await history()
  expect(before.map(({ Id }) => Id)).toEqual([signals.filled, signals.canceled])
  expect(await history()).toEqual(before)
  await write.run`update signal set info = 'late' where id = ${signals.canceled}`
  const [filled, canceled] = before
  expect(await history()).toEqual([filled, { ...canceled, Info: 'late' }])
  await write.run`update instrument set description = 'Apple' where symbol = 'AAPL'`
  const described = (await history()).map(({ PlatformSymbol }) => PlatformSymbol)
  expect(described).toEqual([1, 2].map(() => expect.objectContaining({ Description: 'Apple' })))
  await write.run`update strategy set name = 'Renamed' where id = ${strategyId}`
  expect((await history()).map(({ StrategyName }) => StrategyName)).toEqual(['Renamed', 'Renamed'])
})

test('only what is new or changed is loaded, for each database by itself, in the order asked for', async () => {
  const loads: (readonly number[])[] = []
  const rows = keptRows(
    async (_: Sql, ids: readonly number[]) => {
      loads.push(ids)
      return ids.filter((id) => id < 9).map((id) => ({ id, text: `${id}` }))
    },
    ({ text }) => ({ text }),
  )
  const [one, other] = [{} as Sql, {} as Sql]
  const asked = (...wanted: [number, string][]) => wanted.map(([id, version]) => ({ id, version }))
  const first = await rows(one, asked([2, 'a'], [1, 'a']))
  expect(first).toEqual([{ text: '2' }, { text: '1' }])
  expect(first.every(Object.isFrozen)).toBe(true)
  const [kept, changed] = await rows(one, asked([1, 'a'], [2, 'b'], [9, 'a']))
  expect(kept).toBe(first[1])
  expect(changed).not.toBe(first[0])
  await rows(other, asked([1, 'a']))
  expect(loads).toEqual([[2, 1], [2, 9], [1]])
})
