/** What signals name stays: a trigger holds it, in place of foreign keys. */
import { expect, test } from 'vitest'
import { identifier } from '../../src/storage/database/sql.ts'
import { addInstrument, addStrategy, makeWorld, place } from '../execution/world.ts'
import { testDatabase } from '../support/database.ts'

const { db } = await testDatabase()
const sql = db.write
/** The trigger's own: other tables name strategies, too. */
const isNamed = (kind: string) => ({
  code: '23503',
  message: expect.stringContaining(`signals name ${kind}`),
})

const existing = { strategy: await addStrategy(db), instrument: (await addInstrument(db)).id }
await place(makeWorld(db), { strategyId: existing.strategy, instrumentId: existing.instrument, side: '1' })

test.each(['strategy', 'instrument'] as const)('a %s that a signal names stays', async (kind) => {
  const removal = sql.run`delete from ${identifier(kind)} where id = ${existing[kind]}`
  await expect(removal).rejects.toMatchObject(isNamed(kind))
})

test('an instrument that no signal names may go', async () => {
  await sql.run`delete from signal`
  await sql.run`delete from instrument where id = ${existing.instrument}`
  expect(await sql.rows`select from instrument where id = ${existing.instrument}`).toEqual([])
})
