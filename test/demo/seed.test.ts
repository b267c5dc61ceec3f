/**
 * The seeded demo against its recorded prices: every figure is computed a second time from the packages'
 * files, without the product's code.
 */
import { beforeAll, describe, expect, test } from 'vitest'
import type { DemoFacts } from '../../src/demo/facts.ts'
import { renewDemoKeys, seedDemo } from '../../src/demo/seed.ts'
import { openTape } from '../../src/demo/tape.ts'
import { hashKey } from '../../src/operations/secrets.ts'
import { loadMarks } from '../../src/storage/market/quotes.ts'
import { auditViolations } from '../../src/storage/operating/audit.ts'
import { findKeyHolder } from '../../src/storage/people/keys.ts'
import { testDatabase } from '../support/database.ts'
import { silentLog } from '../support/database-server.ts'
import { randomSecrets } from '../support/secrets.ts'
import { dump, readExecutions, readFollowers, readLedger, readSignals, type SignalView } from './books.ts'
import { expectedOf, openedFor, switchedOff } from './expected.ts'
import { apple, dateOf, index, rowAfter, tradeDates } from './record.ts'

const { db } = await testDatabase()
const secrets = randomSecrets()
const environments = { keys: 'demo', orders: 'D' }
const now = Date.parse('2026-03-01T12:00:00Z') // a Sunday
const commissionCents = 1 // per share and side

let facts: DemoFacts | undefined
let signals: readonly SignalView[] = []
const progress: number[] = []

beforeAll(async () => {
  const onProgress = (done: number, total: number) => progress.push(done / total)
  facts = await seedDemo({ db, secrets, environments, log: silentLog, now, onProgress })
  signals = await readSignals(db)
}, 900_000)

/** Whether the next recorded date lies in another week; weeks begin on Mondays. */
function isWeekEnd(day: number): boolean {
  const mondayOf = (date: string) => Date.parse(date) - ((new Date(date).getUTCDay() + 6) % 7) * 86_400_000
  return mondayOf(index[day]!.date) !== mondayOf(index[day + 1]!.date)
}

const ofStrategy = (name: string) => signals.filter((signal) => signal.strategy === name)

test('no rule of the books is broken', async () => {
  expect(await auditViolations(db.read)).toEqual([])
})

test('buy and hold ends with start - q x first open + q x last close - commissions, to the cent', async () => {
  const q = 60
  const [first] = index
  const last = index.at(-1)
  const expected = 10_000_000 - q * first!.open + q * last!.close - q * commissionCents
  const { cash, quantity } = await db.read.one<{ cash: number; quantity: number }>`
    select (cash * 100)::float8 as cash, quantity::float8 from strategy join position on strategy_id = id
    where name = 'Buy and hold SPX'`
  expect(quantity).toBe(q)
  expect(cash + quantity * last!.close).toBe(expected)
  // The file's own numbers, unrounded, say the same: 100,000 - 60 x 1469.25 + 60 x 2874.560059 - 0.60.
  expect((expected / 100).toFixed(2)).toBe((100_000 - q * 1469.25 + q * 2874.560059 - 0.6).toFixed(2))
  const mark = (await loadMarks(db.read, ['SPX'])).get('SPX')
  expect(mark?.mid.times(100).toNumber()).toBe(last!.close)
})

describe('no rule looks ahead', () => {
  test('an order meets the first bar after it was posted, or a later one while it works', () => {
    expect(signals.length).toBeGreaterThan(300)
    for (const { symbol, postedAt, workingAt, filledAt, ordType, px, limit, stop } of signals) {
      expect(workingAt).toBe(postedAt)
      if (filledAt === null) continue
      expect(filledAt).toBeGreaterThan(workingAt)
      const isBeforeOpen = new Date(postedAt).getUTCHours() < 15
      const posted = isBeforeOpen ? dateOf(postedAt - 86_400_000) : dateOf(postedAt)
      const met = rowAfter(symbol, posted)
      const row = ordType === '3' ? rowAfter(symbol, dateOf(filledAt - 86_400_000)) : met
      expect(dateOf(filledAt)).toBe(row.date)
      if (ordType === '1') expect(px).toBe(row.open)
      // A limit is penetrated or bettered by the open, a stop touched or passed by it.
      else if (ordType === '2')
        expect(px === limit ? row.low < limit! : px === row.open && px < limit!).toBe(true)
      else expect(px === stop ? row.low <= stop! : px === row.open && px < stop!).toBe(true)
    }
  })

  test('the trend trades where closes of weeks lie across their average of 200 days, and nowhere else', () => {
    const expected: [string, number][] = []
    let isLong = false
    for (let day = 199; day < index.length - 1; day++) {
      if (!isWeekEnd(day)) continue
      const closes = index.slice(day - 199, day + 1).map(({ close }) => close)
      const isUp = closes.at(-1)! * 200 > closes.reduce((sum, close) => sum + close, 0)
      if (isUp !== isLong) expected.push([index[day]!.date, isUp ? 1 : -1])
      isLong = isUp
    }
    const traded = ofStrategy('200-day trend SPX').map(({ postedAt, side }) => [dateOf(postedAt), side])
    expect(traded).toEqual(expected)
  })

  test('rebalancing happens on the last trade dates of months', () => {
    const isMonthEnd = (date: string): boolean => {
      const next = tradeDates[tradeDates.indexOf(date) + 1]
      return next !== undefined && next.slice(0, 7) !== date.slice(0, 7)
    }
    const dates = ofStrategy('Monthly rebalance SPX AAPL').map(({ postedAt }) => dateOf(postedAt))
    expect(new Set(dates).size).toBeGreaterThan(50)
    expect(dates.filter((date) => !isMonthEnd(date))).toEqual([])
    expect(dates[0]).toBe('2007-04-30')
    expect(apple.at(-1)?.date).toBe('2012-05-01')
  })

  test('mean reversion uses limits and stops, some filled, some ended', () => {
    const kinds = ofStrategy('Mean reversion SPX').map(({ ordType, status }) => `${ordType} ${status}`)
    expect(new Set(kinds)).toEqual(new Set(['1 2', '2 2', '2 C', '3 2', '3 4']))
  })
})

interface StrategyRecord {
  name: string
  isAlive: boolean
  startedAt: number
  held: number
  followers: number
  lastFilledAt: number
}

describe('twelve records', () => {
  let records: readonly StrategyRecord[] = []
  const recordOf = (name: string) => records.find((record) => record.name === name)!
  beforeAll(async () => {
    records = await db.read.rows<StrategyRecord>`
      select name, is_alive as "isAlive", started_at as "startedAt",
        (select count(*)::int from position where strategy_id = strategy.id and quantity <> 0) as held,
        (select count(*)::int from setup where strategy_id = strategy.id) as followers,
        (select max(filled_at) from fill where strategy_id = strategy.id) as "lastFilledAt"
      from strategy order by id`
  })

  test('with 200 followers, and somebody on every strategy', async () => {
    expect(records).toHaveLength(12)
    expect(records.filter(({ followers }) => followers < 5)).toEqual([])
    expect(await db.read.one`select count(distinct account_id)::int as accounts from setup`).toEqual({
      accounts: 200,
    })
  })

  test('two ended with nothing held: one was out already, one was closed at the open of the day on which its owner gave up', () => {
    const ended = records.filter(({ isAlive }) => !isAlive)
    expect(ended.map(({ name, held, lastFilledAt }) => [name, held, dateOf(lastFilledAt)])).toEqual([
      ['Breakout SPX', 0, '2002-04-08'],
      ['Falling knives SPX', 0, '2009-03-09'],
    ])
  })

  test('one of them was begun again with the same rule', () => {
    const [first, second] = [recordOf('Breakout SPX'), recordOf('Breakout SPX, new start')]
    expect(second.startedAt).toBeGreaterThan(first.lastFilledAt)
    expect(second.isAlive).toBe(true)
  })

  test('one doubles what it holds with every purchase below', () => {
    let held = 0
    let doubled = 0
    for (const { side, quantity, filledQty } of ofStrategy('Doubling down AAPL')) {
      expect(filledQty).toBe(quantity)
      expect(quantity).toBe(held === 0 ? 10 : held)
      if (held > 0 && side === 1) doubled += 1
      held += quantity * side
    }
    expect(doubled).toBeGreaterThan(10)
  })

  test('two trade synthetic prices, say so, both ways, and hold nothing when these end', async () => {
    const traded = await db.read.rows<{ name: string; type: string; description: string; sides: number }>`
      select strategy.name, i.security_type as type, i.description, count(distinct fill.side)::int as sides
      from fill join strategy on strategy.id = fill.strategy_id join instrument i on i.id = fill.instrument_id
      where i.security_type <> 'CS' group by strategy.name, i.id order by type desc`
    expect(traded).toEqual([
      {
        name: 'Gold channel (synthetic prices)',
        type: 'FUT',
        sides: 2,
        description: 'Micro Gold Futures, December 2030 (synthetic prices, then simulated)',
      },
      {
        name: 'Euro band (synthetic prices)',
        type: 'FOR',
        sides: 2,
        description: 'EUR/USD (synthetic prices, then simulated)',
      },
    ])
    for (const { name } of traded) expect(recordOf(name).held).toBe(0)
  })

  test('every fill on them lies inside a synthetic day', async () => {
    const fills = await db.read.rows<{ symbol: 'EURUSD'; at: number; px: number }>`
      select i.symbol, filled_at as at, px::float8 from fill join instrument i on i.id = fill.instrument_id
      where i.security_type <> 'CS'`
    const days = openTape().days
    expect(fills.length).toBeGreaterThan(40)
    for (const { symbol, at, px } of fills) {
      const met = days.flatMap(({ bars }) => bars).filter((bar) => 'symbol' in bar && bar.symbol === symbol)
      const inside = met.some(
        (bar) => bar.at <= at && at <= (bar.endsAt ?? 0) && bar.low.lte(px) && bar.high.gte(px),
      )
      expect({ symbol, at, px, inside }).toEqual({ symbol, at, px, inside: true })
    }
  })
})

describe('followers', () => {
  test('every account traded what its settings make of the strategy, at the same prices and moments', async () => {
    const followers = await readFollowers(db)
    expect(new Set(followers.map(({ account }) => account)).size).toBe(200 - 10)
    expect(new Set(followers.map(({ percent }) => percent)).size).toBeGreaterThan(12)
    for (const follower of followers) {
      const traded = await readExecutions(db, follower.setupId)
      expect({ follower, traded }).toEqual({
        follower,
        traded: expectedOf(follower, ofStrategy(follower.strategy)),
      })
    }
  })

  test('AutoSync opened what joining and caps asked for, and nothing else', async () => {
    const opened = await db.read.rows`
      select account.account, strategy.name as strategy, i.symbol, (case e.side when '1' then e.quantity else -e.quantity end)::int as quantity,
        (e.px * 100)::int as px, e.executed_at as at
      from execution e join account_order o on o.id = e.order_id join account on account.id = e.account_id
      join instrument i on i.id = e.instrument_id join strategy on strategy.id = o.strategy_id
      where o.source = 'Y' and i.security_type = 'CS' order by e.executed_at, account.account`
    const expected = (await readFollowers(db)).flatMap((follower) =>
      openedFor(follower, ofStrategy(follower.strategy)).map((opening) => ({
        account: follower.account,
        strategy: follower.strategy,
        ...opening,
      })),
    )
    expected.sort((a, b) => a.at - b.at || a.account.localeCompare(b.account))
    expect(opened).toEqual(expected)
  })

  test('without caps and from the start, every step is the scaled position rounded down', async () => {
    const followers = (await readFollowers(db)).filter(
      ({ maxDollars, account, strategy }) =>
        maxDollars === null && !(`${account} ${strategy}` in switchedOff),
    )
    let steps = 0
    for (const { setupId, strategy, percent, startedAt, stoppedAt } of followers) {
      const own = ofStrategy(strategy)
      if (own.some(({ postedAt }) => postedAt < startedAt)) continue
      const traded = await readExecutions(db, setupId)
      for (const symbol of ['SPX', 'AAPL']) {
        const moments = own.filter((signal) => signal.symbol === symbol && signal.filledAt !== null)
        let position = 0
        for (const { filledAt, filledQty, side } of moments) {
          position += filledQty! * side
          if (filledAt! >= (stoppedAt ?? Number.POSITIVE_INFINITY)) break
          const account = traded.filter((one) => one.symbol === symbol && one.at <= filledAt!)
          const holds = account.reduce((sum, { quantity }) => sum + quantity, 0)
          expect(holds).toBe(Math.floor((position * percent) / 100))
          steps += 1
        }
      }
    }
    expect(steps).toBeGreaterThan(800)
  })

  test('ledgers hold the sum of what was traded', async () => {
    for (const { setupId, leftOpen } of await readFollowers(db)) {
      if (leftOpen) continue
      const sums: Record<string, number> = {}
      for (const { symbol, quantity } of await readExecutions(db, setupId)) {
        sums[symbol] = (sums[symbol] ?? 0) + quantity
      }
      const ledger = await readLedger(db, setupId)
      expect(Object.fromEntries(ledger.map(({ symbol, quantity }) => [symbol, quantity]))).toEqual(
        Object.fromEntries(Object.entries(sums).filter(([, quantity]) => quantity !== 0)),
      )
    }
  })

  test('rounding, caps, a missing price, an exclusion and a switched-off class left their reasons', async () => {
    const codes = await db.read.rows<{ code: string }>`
      select distinct code from account_skip union select reason from account_order where reason is not null`
    expect(codes.map(({ code }) => code)).toEqual(
      expect.arrayContaining([
        'RoundedToZero',
        'CappedToMaximum',
        'NoReferencePrice',
        'Excluded',
        'AssetClassDisabled',
        'NothingHeld',
      ]),
    )
  })

  test('no account and no strategy ever spent money that it did not have', async () => {
    const overdrawn = await db.read.rows`
      select name, min(cash)::float8 as cash from (
        select account as name, starting_cash + sum(cash_change) over (
          partition by account.id order by executed_at, e.side desc) as cash
        from execution e join account on account.id = e.account_id
        union all
        select name, starting_cash + sum(cash_change) over (partition by strategy.id order by filled_at, f.side desc)
        from fill f join strategy on strategy.id = f.strategy_id
      ) moments group by name having min(cash) < 0`
    expect(overdrawn).toEqual([])
  })

  test('no order of the recorded time is left at work', async () => {
    const left = await db.read.rows`
      select id from account_order where status in ('A', '0', '1', '6', 'E') or pending_action is not null`
    expect(left).toEqual([])
  })
})

describe('what the demo hands over', () => {
  test('keys of five people that let them in, and who they are', async () => {
    expect(facts?.keys.map(({ role }) => role)).toEqual([
      'developer',
      'investor',
      'operator',
      'geosite admin',
      'whitelabel admin',
    ])
    for (const { key, personId, siteId } of facts?.keys ?? []) {
      const holder = await findKeyHolder(db.read, hashKey(secrets, key))
      expect(holder?.personId).toBe(personId)
      if (siteId !== undefined) expect(holder?.siteId).toBe(siteId)
    }
    const [developer, investor] = facts?.keys ?? []
    const [followed] = await db.read.rows`
      select setup.strategy_id as "strategyId", account.account, strategy.owner_person_id as owner
      from setup join account on account.id = setup.account_id join strategy on strategy.id = setup.strategy_id
      where account.person_id = ${investor?.personId} and stopped_at is null`
    expect(followed).toEqual({
      strategyId: developer?.strategyId,
      account: investor?.account,
      owner: developer?.personId,
    })
  })

  test('a market that goes on: marks for all that is simulated, open on a Sunday, labelled', async () => {
    const [plan] = await db.read.rows<{ value: { instruments: { symbol: string }[] } }>`
      select value from platform_switch where name = 'simulation'`
    const symbols = plan?.value.instruments.map(({ symbol }) => symbol) ?? []
    expect(symbols).toEqual(['SPX', 'AAPL', '@ESH26', '@MGCZ30', 'EURUSD', 'USDJPY'])
    const marks = await loadMarks(db.read, symbols)
    expect([...marks.keys()].sort()).toEqual([...symbols].sort())
    expect(marks.get('SPX')?.calendar).toBe('CONTINUOUS')
    expect(marks.get('AAPL')).toMatchObject({ calendar: 'CONTINUOUS' })
    expect(marks.get('AAPL')?.mid.toNumber()).toBe(apple.at(-1)!.close / 100)
    const listed = await db.read.rows<{ description: string }>`
      select description from instrument where symbol = any(${symbols}::text[])`
    expect(listed.filter(({ description }) => !description.includes('simulated'))).toEqual([])
  })

  test('the history was counted to its end', () => {
    expect(progress).toHaveLength(tradeDates.length)
    expect(progress.at(-1)).toBe(1)
  })

  test('a seeded platform is not seeded again', async () => {
    const before = await dump(db)
    expect(await seedDemo({ db, secrets, environments, log: silentLog, now })).toBeUndefined()
    expect(await dump(db)).toEqual(before)
  })

  test('lost keys are replaced, and the old ones end', async () => {
    const renewed = await renewDemoKeys({ db, secrets, environments, now })
    expect(renewed?.keys.map(({ key: _, ...who }) => who)).toEqual(
      facts?.keys.map(({ key: _, ...who }) => who),
    )
    for (const [place, { key }] of (facts?.keys ?? []).entries()) {
      expect(await findKeyHolder(db.read, hashKey(secrets, key))).toBeUndefined()
      const again = renewed?.keys[place]?.key ?? ''
      expect(await findKeyHolder(db.read, hashKey(secrets, again))).toBeDefined()
    }
  })
})
