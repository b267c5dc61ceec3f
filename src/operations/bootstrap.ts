/**
 * What every platform has from its first start: the built-in paper broker and the currency pairs of the
 * tables, which also give the rates between currencies. Safe to run at every start of every process.
 */
import { completeInstrument, knownForexPairs } from '../domain/market/derive-instrument.ts'
import { dayIn, newYork } from '../domain/time.ts'
import type { Sql } from '../storage/database/sql.ts'
import { insertInstruments } from '../storage/market/instruments.ts'
import { loadQuotedInstruments } from '../storage/market/quotes.ts'
import { ensureBroker, type NewBroker } from '../storage/operating/provision.ts'

export const paperBroker: NewBroker = {
  name: 'Lockstep Paper',
  connectionName: 'Paper',
  environment: 'paper',
  adapter: 'paper',
}

/** Adds what is missing at the business time `now`; answers the id of the paper broker. */
export async function bootstrap(sql: Sql, now: number): Promise<{ paperBrokerId: number }> {
  const pairs = knownForexPairs()
  const known = new Set((await loadQuotedInstruments(sql, pairs, [])).map(({ symbol }) => symbol))
  const missing = pairs.filter((symbol) => !known.has(symbol))
  const today = dayIn(now, newYork)
  const instruments = missing.map((symbol) => completeInstrument({ symbol, securityType: 'FOR' }, today))
  if (instruments.length > 0) await insertInstruments(sql, instruments)
  return { paperBrokerId: await ensureBroker(sql, paperBroker) }
}
