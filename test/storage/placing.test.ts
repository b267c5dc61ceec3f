/** What is read before orders are placed: their ids say who came first, whatever way the database takes to them. */
import { expect, test } from 'vitest'
import { completeInstrument } from '../../src/domain/market/derive-instrument.ts'
import { insertInstruments } from '../../src/storage/market/instruments.ts'
import { loadPlacing } from '../../src/storage/orders/signals.ts'
import { testDatabase } from '../support/database.ts'

const { db } = await testDatabase()
const symbols = ['ZZ', 'MM', 'AA', 'QQ']
const calendar = 'CONTINUOUS'
await db.transaction((tx) =>
  insertInstruments(
    tx,
    symbols.map((symbol) => completeInstrument({ symbol, securityType: 'CS', calendar }, 20_000)),
  ),
)

test.each(['nestloop, mergejoin', 'hashjoin, nestloop', 'hashjoin, mergejoin'])(
  'without %s',
  async (ways) => {
    const rows = await db.transaction(async (tx) => {
      for (const way of ways.split(', ')) await tx.script(`set local enable_${way} = off`)
      const asked = [...symbols, ...symbols].map((symbol) => ({
        ...{ strategyId: 1, spellings: [symbol], securityType: 'CS' as const, moreIds: 2 },
      }))
      return loadPlacing(tx, asked)
    })
    const ids = [...rows.values()].map(({ place, signalId }) => ({ place, signalId }))
    expect(ids).toHaveLength(8)
    const byPlace = ids.toSorted((one, other) => one.place - other.place)
    expect(byPlace.map(({ signalId }) => signalId)).toEqual(
      ids.map(({ signalId }) => signalId).toSorted((one, other) => one - other),
    )
  },
)
