/** What comes late is news of a strategy from its booking on, whatever time it is of. */
import { expect, test } from 'vitest'
import { dec } from '../../src/domain/decimal.ts'
import { assembleWork } from '../../src/execution/assembly.ts'
import { publishBars } from '../../src/execution/orders/matcher.ts'
import { silentLog } from '../support/database-server.ts'
import { resultsOf } from '../support/http.ts'
import { buildTown } from './support/town.ts'

type Row = Record<string, unknown>

const { ask, door, people, platform } = await buildTown()
const { key } = people.owner
const PlatformSymbol = { FullSymbol: 'LATE', SymbolType: 'stock' }
await door('/instruments', [{ symbol: 'LATE', securityType: 'CS' }])

/** A strategy that has one share since ten and sells it at 60, and what its owner was told twenty seconds past a minute. */
async function toldBefore(name: string, day: string) {
  await door('/clock', { now: `${day}T14:00:00Z` })
  const terms = { StrategyName: name, StartingCapital: 100_000 }
  const [{ StrategyId } = { StrategyId: 0 }] = resultsOf<{ StrategyId: number }>(
    await ask('AddStrategy', terms, { key }),
  )
  await door('/quotes', [{ symbol: 'LATE', bid: 50, ask: 50 }])
  const one = { StrategyId, OrderQuantity: 1, TIF: '1', PlatformSymbol }
  for (const Order of [
    { ...one, OrderType: '1', Side: '1' },
    { ...one, OrderType: '2', Limit: 60, Side: '2' },
  ])
    expect((await ask('NewStrategyOrder', { Order }, { key })).status).toBe(200)
  await door('/clock', { now: `${day}T15:30:20Z` })
  await door('/strategies', [{ strategyId: StrategyId, monthlyCost: 40 }])
  const details = (headers?: Record<string, string>) =>
    ask('GetStrategyDetails', { StrategyId }, { key, ...(headers && { headers }) })
  const before = await details()
  const since = { 'if-modified-since': before.headers['last-modified'] as string }
  expect((await details(since)).status).toBe(304)
  await door('/clock', { now: `${day}T15:30:30Z` })
  return (headers = since) => details(headers)
}

/** Books a bar, and nothing that follows from it: no figures are computed again meanwhile. */
async function bookBar(start: string, high: number, now: string): Promise<void> {
  const clock = { now: () => Date.parse(now) }
  const { ctx } = assembleWork({
    db: platform.db,
    clock,
    log: silentLog,
    workerId: 'w',
    environment: 'T',
    commissionPlan: 'none',
  })
  const prices = { open: dec(51), high: dec(high), low: dec(50), close: dec(52) }
  await publishBars(ctx, [{ symbol: 'LATE', at: Date.parse(start), ...prices }])
}

test.each([
  { name: 'a bar that fills nothing', day: '2024-05-07', high: 52, shown: { Cash: 99_950, Equity: 2 } },
  { name: 'a bar that closes all', day: '2024-05-08', high: 61, shown: { Cash: 100_010, Equity: 0 } },
])('$name, of a minute that is over, is no 304', async ({ name, day, high, shown }) => {
  const again = await toldBefore(name, day)
  await bookBar(`${day}T15:29:00Z`, high, `${day}T15:30:30Z`)
  const answer = await again()
  expect(answer.status).toBe(200)
  expect(resultsOf<Row>(answer)[0]).toMatchObject({ ...shown, LastModified: `${day}T15:30:30Z` })
})

test('what a clock that ran ahead has booked hides no later change', async () => {
  const again = await toldBefore('ahead', '2024-05-09')
  await bookBar('2024-05-09T15:29:00Z', 52, '2024-05-09T16:30:00Z')
  const before = await again()
  expect(before.headers['last-modified']).toBe('Thu, 09 May 2024 15:30:30 GMT')
  await door('/strategies', [{ strategyId: resultsOf<Row>(before)[0]?.StrategyId, monthlyCost: 50 }])
  const after = await again({ 'if-modified-since': before.headers['last-modified'] as string })
  expect(resultsOf<Row>(after)[0]).toMatchObject({ MonthlyCost: 50 })
})
