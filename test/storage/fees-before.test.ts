/**
 * What was taken back of a stopped setup before this was noted: what the next one counted as it was settled first is
 * found again in its row, and what was taken back later is still to be counted.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { type FeeSettlement, settleFee, shortfallOf } from '../../src/domain/billing/performance-fee.ts'
import { dec, max, zero } from '../../src/domain/decimal.ts'
import { auditViolations } from '../../src/storage/operating/audit.ts'
import { addStrategy } from '../execution/world.ts'
import { testDatabase } from '../support/database.ts'
import { addBroker, addFollowers, leaveStrategy } from '../support/followers.ts'

const { db } = await testDatabase()
let stopped = 0
let next = 0

beforeAll(async () => {
  const strategyId = await addStrategy(db)
  await addFollowers(db, { strategyId, brokerId: await addBroker(db, 'live'), count: 1 })
  await db.write.run`
    insert into subscription (site_id, person_id, strategy_id, kind, status, base_price, markup, started_at,
      term_started_at, term_ends_at)
    select site_id, owner_person_id, id, 'paid', 'active', 0, 0, to_timestamp(0), to_timestamp(0), now() from strategy`
  await db.write.run`
    insert into instrument (symbol, security_type, description, root, currency, point_value, tick, calendar)
    values ('A', 'CS', 'A', 'A', 'USD', 1, 0.01, 'US_EQUITY')`
  const { id } = await db.read.one<{ id: number }>`select id from setup`
  stopped = id
  await leaveStrategy(db, stopped)
  next = stopped + 1
  await db.write.run`
    insert into setup overriding system value
    select (jsonb_populate_record(s, jsonb_build_object('id', ${next}::bigint, 'stopped_at', null,
      'left_version', null, 'positions_left_open', null))).* from setup s`
})

const settled = (setupId: number, day: string, percent: number, one: FeeSettlement) => db.write.run`
  insert into fee_settlement (setup_id, settled_at, subscription_id, percent, capital, gain, fee, charged, units, price,
    mark, fees)
  select ${setupId}::bigint, ${day}::timestamptz, id, ${percent}::int, ${one.capital}::numeric, ${one.gain}::numeric,
    ${one.fee}::numeric, 0, ${one.holding.units}::numeric, ${one.holding.price}::numeric,
    ${one.holding.mark}::numeric, ${one.fees}::numeric from subscription`

async function noteWhatWasCounted(): Promise<void> {
  const file = join(import.meta.dirname, '../../src/storage/migrations/0066_fees_taken_back.sql')
  const script = readFileSync(file, 'utf8')
  await db.transaction((tx) => tx.script(script.slice(script.indexOf('insert into'))))
}

test.each([
  ['nothing, and nothing is taken back', { stood: 2000, since: 0, gain: 500, later: 0 }, null],
  ['nothing yet of what is taken back later', { stood: 2000, since: 0, gain: 0, later: -3000 }, null],
  ['nothing yet, at a gain of its own', { stood: 2000, since: 0, gain: 1234.57, later: -3000 }, null],
  ['nothing yet, after a loss', { stood: -800, since: 0, gain: 500, later: -3000 }, null],
  ['all, and is short of its mark', { stood: 2000, since: -3000, gain: 500, later: 0 }, -3000],
  ['all, and is above its mark', { stood: 2000, since: -3000, gain: 4321.98, later: 0 }, -3000],
  ['all, beside an earlier loss', { stood: -800, since: -3000, gain: 500, later: 0 }, -3000],
  ['a part, and not what is taken back later', { stood: 2000, since: -1000, gain: 500, later: -2000 }, -1000],
  ['what was given back', { stood: -800, since: 300, gain: 100, later: 0 }, 300],
  ['what was given back beyond its loss', { stood: -800, since: 1300, gain: 100, later: 0 }, 1300],
  [
    'nobody knows what, as it passed free',
    { stood: 2000, since: -1000, gain: 5000, later: 0, free: true },
    -1000,
  ],
  ['nothing of what is still held', { stood: 2000, since: 0, gain: 500, later: -9000, held: true }, null],
])('the next setup counted %s', async (_, { stood, since, gain, later, ...more }, counted) => {
  const rates = { first: 20, next: 'free' in more ? 0 : 3 }
  const facts = { startedEquity: dec(70_000) }
  const first = settleFee(null, { ...facts, gain: dec(stood) }, dec(rates.first).div(100))
  const shortfall = max(zero, shortfallOf(first.holding).minus(since))
  const second = settleFee(null, { ...facts, gain: dec(gain), shortfall }, dec(rates.next).div(100))
  await db.write.run`delete from fee_settlement`
  await db.write.run`delete from account_position`
  await db.write.run`delete from execution`
  await settled(stopped, '2024-04-11', rates.first, first)
  await settled(next, '2024-05-11', rates.next, second)
  await db.write.run`
    insert into execution (broker_id, account_id, exec_id, setup_id, instrument_id, side, quantity, px, cash_change,
      executed_at, fx)
    select a.broker_id, a.id, 'E', ${stopped}::bigint, i.id, '2', 100, 100,
      ${dec(stood).plus(since).plus(later)}::numeric, '2024-04-10', 1 from account a, instrument i`
  if ('held' in more)
    await db.write.run`
      insert into account_position (setup_id, instrument_id, account_id, strategy_id, quantity, avg_px, opened_at)
      select ${stopped}::bigint, i.id, a.id, s.id, 100, 90, now() from account a, instrument i, strategy s`
  await noteWhatWasCounted()
  const noted = await db.read.rows<{ gain: number; at: string }>`
    select round(gain, 2)::float8 as gain, settled_at::date::text as at from fee_settlement
    where setup_id = ${stopped}::bigint order by settled_at offset 1`
  expect(noted).toEqual(counted === null ? [] : [{ gain: stood + counted, at: '2024-05-11' }])
  const isOfFees = ({ rule }: { rule: string }) => rule === 'markNeverFalls'
  expect((await auditViolations(db.read)).filter(isOfFees)).toEqual([])
  await noteWhatWasCounted()
  expect(await db.read.rows`select from fee_settlement`).toHaveLength(2 + noted.length)
})
