/** Whoever tells of missing rates waits for whoever tells the same: everybody tells in one order. */
import { expect, test } from 'vitest'
import { type CurrencyPair, tellUnrated } from '../../src/storage/market/missing-rates.ts'
import { testDatabase } from '../support/database.ts'
import { countingTries, holdLocks, untilWaiting } from '../support/locks.ts'

const { db } = await testDatabase()
const { count, counting } = countingTries(db)
const at = Date.parse('2024-03-12T14:00:00Z')
const pair = (currency: string): CurrencyPair => ({ account: 'EUR', currency })
const quotes = () =>
  db.read.rows<{ quote: string }>`select detail->>'missingQuote' as quote from incident order by id`

/** Tells of one after another, in one transaction. */
const tells = (...currencies: string[]) =>
  counting.transaction(async (tx) => {
    for (const currency of currencies) await tellUnrated(tx, [pair(currency)], at)
  })

test('two that tell of the same in another order do not block each other', async () => {
  const release = await holdLocks(db, async (tx) => {
    await tx.run`
      insert into incident (incident_key, kind, detail, occurred_at)
      values ('NoExchangeRate:GBPEUR:2024-03-12', 'NoExchangeRate', '{"missingQuote": "GBPEUR"}', now())`
  })
  const one = tells('JPY', 'GBP', 'CHF')
  await untilWaiting(db.read)
  const other = tells('CHF', 'GBP', 'JPY')
  await untilWaiting(db.read, 2)
  await release()
  await Promise.all([one, other])
  expect(count).toEqual({ begun: 2, tried: 2 })
  const told = (await quotes()).map(({ quote }) => quote)
  expect(told).toEqual(['GBPEUR', 'CHFEUR', 'JPYEUR'])
})
