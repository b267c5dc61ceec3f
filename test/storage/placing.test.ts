/** What is read before orders are placed: their ids say who came first, whatever way the database takes to them. */
import { expect, test } from 'vitest'
import { completeInstrument } from '../../src/domain/market/derive-instrument.ts'
import { instant } from '../../src/storage/database/wire.ts'
import { insertInstruments } from '../../src/storage/market/instruments.ts'
import { insertPersons } from '../../src/storage/operating/provision.ts'
import { loadPlacing } from '../../src/storage/orders/placing.ts'
import { insertStrategy } from '../../src/storage/strategies/strategies.ts'
import { testDatabase } from '../support/database.ts'

const { db } = await testDatabase()
const symbols = ['ZZ', 'MM', 'AA', 'QQ']
const calendar = 'CONTINUOUS'
const strategyId = await db.transaction(async (tx) => {
  await insertInstruments(
    tx,
    symbols.map((symbol) => completeInstrument({ symbol, securityType: 'CS', calendar }, 20_000)),
  )
  const owner = { role: 'user', firstName: 'A', lastName: 'B', email: 'a@b.test', createdAt: 0 } as const
  const [ownerPersonId = 0] = await insertPersons(tx, [{ siteId: 1, ...owner }])
  const money = { startedAt: instant(0), startingCash: '1000' }
  return insertStrategy(tx, { siteId: 1, ownerPersonId, name: 'S', ...money })
})
const asked = [...symbols, ...symbols].map((symbol) => ({
  strategyId,
  spellings: [symbol],
  securityType: 'CS' as const,
  moreIds: 2,
}))

test.each(['nestloop, mergejoin', 'hashjoin, nestloop', 'hashjoin, mergejoin'])(
  'without %s',
  async (ways) => {
    const { rows } = await db.transaction(async (tx) => {
      for (const way of ways.split(', ')) await tx.script(`set local enable_${way} = off`)
      return loadPlacing(tx, asked)
    })
    const ids = asked.flatMap((_, place) => {
      const { signalId = 0, moreIds = [] } = rows.get(place) ?? {}
      return [signalId, ...moreIds]
    })
    expect(ids).toHaveLength(24)
    expect(ids).toEqual(ids.toSorted((one, other) => one - other))
  },
)
