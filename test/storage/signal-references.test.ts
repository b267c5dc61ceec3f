/** What signals name stays: a trigger holds it, in place of foreign keys. */
import { expect, test } from 'vitest'
import { completeInstrument } from '../../src/domain/market/derive-instrument.ts'
import { identifier } from '../../src/storage/database/sql.ts'
import { instant } from '../../src/storage/database/wire.ts'
import { insertInstruments } from '../../src/storage/market/instruments.ts'
import { insertPersons } from '../../src/storage/operating/provision.ts'
import { insertStrategy } from '../../src/storage/strategies/strategies.ts'
import { testDatabase } from '../support/database.ts'

const { db } = await testDatabase()
const sql = db.write
const foreignKeyViolation = { code: '23503' }

const existing = await db.transaction(async (tx) => {
  const stock = { symbol: 'ZZ', securityType: 'CS', calendar: 'CONTINUOUS' } as const
  await insertInstruments(tx, [completeInstrument(stock, 20_000)])
  const { instrument } = await tx.one<{ instrument: number }>`
    select id as instrument from instrument where symbol = 'ZZ'`
  const owner = { role: 'user', firstName: 'A', lastName: 'B', email: 'a@b.test', createdAt: 0 } as const
  const [ownerPersonId = 0] = await insertPersons(tx, [{ siteId: 1, ...owner }])
  const money = { startedAt: instant(0), startingCash: '1000' }
  const strategy = await insertStrategy(tx, { siteId: 1, ownerPersonId, name: 'S', ...money })
  return { strategy, instrument }
})

await sql.run`
  insert into signal
    (strategy_id, instrument_id, side, ord_type, time_in_force, position_effect, order_qty, status, posted_at)
  values (${existing.strategy}, ${existing.instrument}, '1', '1', '0', 'O', 1, '0', now())`

test.each(['strategy', 'instrument'] as const)('a %s that a signal names stays', async (kind) => {
  const removal = sql.run`delete from ${identifier(kind)} where id = ${existing[kind]}`
  await expect(removal).rejects.toMatchObject(foreignKeyViolation)
})

test('an instrument that no signal names may go', async () => {
  await sql.run`delete from signal`
  await sql.run`delete from instrument where id = ${existing.instrument}`
  expect(await sql.rows`select from instrument where id = ${existing.instrument}`).toEqual([])
})
