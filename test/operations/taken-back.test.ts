/** What is held, and what it has cost, once a broker has taken an execution back: as if that one had never been. */
import { beforeAll, expect, test } from 'vitest'
import { resultsOf } from '../support/http.ts'
import { buildTown } from './support/town.ts'

const town = await buildTown()
const { db } = town.platform
const { personId, key } = town.people.holder
const { owner } = town.people

interface Held {
  readonly Quantity: number
  readonly AvgPx: number
  readonly OpenedDate: string
}

const morning = 'SPX2422C5000'
const symbols = {
  SHARE: 'stock',
  FOURTH: 'stock',
  '@ESM24': 'future',
  OPTION: 'option',
  LATER: 'option',
  ABROAD: 'option',
  LAST: 'option',
  [morning]: 'option',
} as const

/** A strategy that a new account follows, and nothing puts right what its broker does. */
async function follow(Account: string, currency: string) {
  await town.door('/accounts', [{ account: Account, personId, cash: 100_000, currency }])
  const body = { StrategyName: Account, StartingCapital: 1_000_000 }
  const [made] = resultsOf<{ StrategyId: number }>(await town.ask('AddStrategy', body, owner))
  const StrategyId = made?.StrategyId ?? 0
  const classes = { StocksEnabled: true, FuturesEnabled: true, OptionsEnabled: true }
  await town.ask('StartAutotrade', { Account, PersonId: personId, StrategyId, ...classes }, { key })
  await town.ask('SetAutotradeSettings', { Account, PersonId: personId, IsAutoSyncEnabled: false }, { key })
  const order = async (symbol: keyof typeof symbols, Side: '1' | '2', OrderQuantity: number, px: number) => {
    await town.door('/quotes', [{ symbol, bid: px, ask: px }])
    const PlatformSymbol = { FullSymbol: symbol, SymbolType: symbols[symbol] }
    const Order = { StrategyId, Side, OrderQuantity, OrderType: '1', TIF: '1', PlatformSymbol }
    await town.ask('NewStrategyOrder', { Order }, owner)
  }
  /** Trades at a price, and answers how the broker names it. */
  const trade = async (...ordered: Parameters<typeof order>) => {
    await order(...ordered)
    const { execId } = await db.read.one<{ execId: string }>`
      select e.exec_id as "execId" from execution e join account a on a.id = e.account_id
      where a.account = ${Account} order by e.id desc limit 1`
    return execId
  }
  const takeBack = (execId: string) => town.door('/broker', { bust: execId })
  const held = async () =>
    resultsOf<Held>(await town.ask('GetAutoTradeOpenPositions', { Account, StrategyId }, { key })).map(
      ({ Quantity, AvgPx, OpenedDate }) => [Quantity, AvgPx, OpenedDate],
    )
  const worth = async () => {
    const [row] = resultsOf<{ NetLiquidationValue: number }>(
      await town.ask('GetAutotradeSettings', { Account, PersonId: personId }, { key }),
    )
    return row?.NetLiquidationValue
  }
  return { order, trade, takeBack, held, worth }
}

/** A broker corrects the price of an execution. */
const correct = (wrong: string, right: string, px: number) => db.write.run`
  insert into broker_report (broker_id, report_key, account_id, client_order_id, kind, symbol, side, quantity, px, text,
    occurred_at)
  select r.broker_id, told.key, r.account_id, r.client_order_id, told.kind, r.symbol, r.side, r.quantity, ${px}, told.text,
    r.occurred_at
  from broker_report r
  cross join (values (${right}, 'fill', null), (${`${right}/corrects`}, 'bust', ${wrong}::text)) told (key, kind, text)
  where r.report_key = ${wrong} order by told.kind`

const option = { securityType: 'OPT', settlement: 'physical', pointValue: 100 }
const passTo = (now: string) => town.door('/clock', { now })

beforeAll(async () => {
  await town.door('/instruments', [
    { symbol: 'SHARE', securityType: 'CS' },
    { symbol: 'FOURTH', securityType: 'CS' },
    {
      symbol: 'OPTION',
      ...option,
      underlying: 'SHARE',
      putOrCall: 'call',
      strike: 100,
      expiry: '2024-03-12',
    },
    { symbol: 'OTHER', securityType: 'CS' },
    { symbol: 'THIRD', securityType: 'CS' },
    { symbol: 'LAST', ...option, underlying: 'THIRD', putOrCall: 'call', strike: 100, expiry: '2024-03-28' },
    { symbol: 'SPX', securityType: 'CS' },
    {
      symbol: morning,
      ...option,
      settlement: 'cash',
      indexOption: true,
      underlying: 'SPX',
      putOrCall: 'call',
      strike: 5000,
      expiry: '2024-03-22',
    },
    { symbol: 'LATER', ...option, underlying: 'OTHER', putOrCall: 'call', strike: 100, expiry: '2024-03-15' },
    {
      symbol: 'ABROAD',
      ...option,
      underlying: 'OTHER',
      putOrCall: 'call',
      strike: 100,
      expiry: '2024-03-20',
    },
    { symbol: '@ESM24', securityType: 'FUT', pointValue: 50, tick: 0.25, calendar: 'CME_GLOBEX' },
    { symbol: 'EURUSD', securityType: 'FOR' },
  ])
  await town.door('/quotes', [{ symbol: 'EURUSD', bid: 1.25, ask: 1.25 }])
})

test('a close that is taken back leaves what was held before it, since when it was', async () => {
  const { trade, takeBack, held } = await follow('B1', 'USD')
  await trade('SHARE', '1', 10, 100)
  await passTo('2024-03-12T15:00:00Z')
  const sold = await trade('SHARE', '2', 10, 110)
  expect(await held()).toEqual([])
  await takeBack(sold)
  expect(await held()).toEqual([[10, 100, '2024-03-12T14:00:00Z']])
})

test('an entry that is taken back after half of all was sold leaves the average of the others', async () => {
  const { trade, takeBack, held } = await follow('B2', 'USD')
  await trade('SHARE', '1', 6, 100)
  const second = await trade('SHARE', '1', 2, 120)
  await trade('SHARE', '2', 4, 130)
  await takeBack(second)
  expect(await held()).toEqual([[2, 100, '2024-03-12T15:00:00Z']])
})

test('a reversal that is taken back leaves the side that it has turned', async () => {
  const { trade, takeBack, held } = await follow('B3', 'USD')
  await trade('@ESM24', '1', 2, 5000)
  const turned = await trade('@ESM24', '2', 2, 5010)
  await trade('@ESM24', '2', 1, 5020)
  await takeBack(turned)
  expect(await held()).toEqual([[1, 5000, '2024-03-12T15:00:00Z']])
})

test.each([
  ['a part', 'B4', 1, 109_000],
  ['all', 'B9', 2, 108_000],
])(
  'a result of %s in another currency goes back at the rate at which it was booked',
  async (_, name, sells, after) => {
    await town.door('/quotes', [{ symbol: 'EURUSD', bid: 1.25, ask: 1.25 }])
    const { trade, takeBack, held, worth } = await follow(name, 'EUR')
    await trade('@ESM24', '1', 2, 5000)
    const sold = await trade('@ESM24', '2', sells, 5100)
    expect(await worth()).toBe(108_000)
    await town.door('/quotes', [{ symbol: 'EURUSD', bid: 1, ask: 1 }])
    expect(await worth()).toBe(after)
    await takeBack(sold)
    expect((await held())[0]?.slice(0, 2)).toEqual([2, 5000])
    expect(await worth()).toBe(110_000)
  },
)

test('an opening that moved no money changes results at the rates at which these were booked', async () => {
  const rate = (px: number) => town.door('/quotes', [{ symbol: 'EURUSD', bid: px, ask: px }])
  await rate(1.25)
  const { trade, takeBack, held, worth } = await follow('B13', 'EUR')
  const first = await trade('@ESM24', '1', 2, 5000)
  await rate(1)
  await trade('@ESM24', '1', 2, 5100)
  await rate(2)
  await trade('@ESM24', '2', 2, 5200)
  await rate(1.6)
  // 2 of those at 5,050 on average, at 2 dollars; without the first two, those at 5,100.
  expect(await worth()).toBe(100_000 + 7500 + 9375)
  await takeBack(first)
  expect(await held()).toEqual([])
  expect(await worth()).toBe(105_000)
})

test('a corrected price is converted at the rate of the execution that it corrects', async () => {
  await town.door('/quotes', [{ symbol: 'EURUSD', bid: 1.25, ask: 1.25 }])
  const { trade, held, worth } = await follow('B6', 'EUR')
  const wrong = await trade('SHARE', '1', 100, 100)
  await town.door('/quotes', [{ symbol: 'EURUSD', bid: 1, ask: 1 }])
  expect(await worth()).toBe(102_000)
  await correct(wrong, 'right', 101)
  await town.door('/quotes', [{ symbol: 'SHARE', bid: 100, ask: 100 }])
  expect((await held())[0]?.slice(0, 2)).toEqual([100, 101])
  expect(await worth()).toBe(101_920)
})

test('an option that has ended leaves nothing of an execution that is taken back since', async () => {
  await town.door('/quotes', [{ symbol: 'EURUSD', bid: 1.25, ask: 1.25 }])
  const { trade, takeBack, held, worth } = await follow('B7', 'EUR')
  const bought = await trade('OPTION', '1', 2, 6)
  await town.door('/quotes', [{ symbol: 'SHARE', bid: 110, ask: 110 }])
  await passTo('2024-03-12T22:00:00Z')
  await passTo('2024-03-13T14:00:00Z')
  expect((await held())[0]?.slice(0, 2)).toEqual([200, 100])
  await town.door('/quotes', [{ symbol: 'EURUSD', bid: 1, ask: 1 }])
  await takeBack(bought)
  expect(await held()).toEqual([])
  expect(await worth()).toBe(100_000)
})

test('what a split has restated since is held at the price before it in new units', async () => {
  const { trade, takeBack, held } = await follow('B5', 'USD')
  await trade('SHARE', '1', 10, 100)
  const sold = await trade('SHARE', '2', 10, 120)
  await town.door('/corporate-actions', [
    { kind: 'split', symbol: 'SHARE', date: '2024-03-14', new: 2, old: 1 },
  ])
  await passTo('2024-03-14T14:00:00Z')
  await takeBack(sold)
  expect(await held()).toEqual([[20, 50, '2024-03-13T14:00:00Z']])
})

test('what a split has restated with others since leaves these their own price', async () => {
  const { trade, takeBack, held } = await follow('B11', 'USD')
  await trade('SHARE', '1', 6, 100)
  const second = await trade('SHARE', '1', 2, 120)
  await trade('SHARE', '2', 4, 130)
  await town.door('/corporate-actions', [
    { kind: 'split', symbol: 'SHARE', date: '2024-03-15', new: 2, old: 1 },
  ])
  await passTo('2024-03-15T14:00:00Z')
  expect((await held())[0]?.slice(0, 2)).toEqual([8, 52.5])
  await takeBack(second)
  expect(await held()).toEqual([[4, 50, '2024-03-14T14:00:00Z']])
})

test('the day of an option’s end stays as it was when what was bought is taken back on a later one', async () => {
  await town.door('/quotes', [{ symbol: 'EURUSD', bid: 1.25, ask: 1.25 }])
  const { trade, takeBack, held, worth } = await follow('B8', 'USD')
  const bought = await trade('LATER', '1', 2, 6)
  await town.door('/quotes', [
    { symbol: 'LATER', bid: 9, ask: 9 },
    { symbol: 'OTHER', bid: 110, ask: 110 },
  ])
  await passTo('2024-03-18T14:00:00Z')
  const days = () =>
    db.read.rows`
      select d.day, d.value::float from account_day d join account a on a.id = d.account_id
      where a.account = 'B8' order by d.day`
  const closed = await days()
  expect(closed.at(-1)).toEqual({ day: '2024-03-15', value: 100_800 })
  await takeBack(bought)
  await passTo('2024-03-18T14:00:01Z')
  expect(await held()).toEqual([])
  expect(await worth()).toBe(100_000)
  expect(await days()).toEqual(closed)
})

test('an end is settled again at the rate of the first time', async () => {
  const rate = (px: number) => town.door('/quotes', [{ symbol: 'EURUSD', bid: px, ask: px }])
  await rate(1.25)
  const { trade, takeBack, worth } = await follow('B14', 'EUR')
  const bought = await trade('ABROAD', '1', 1, 6)
  await trade('ABROAD', '1', 1, 6)
  await town.door('/quotes', [{ symbol: 'OTHER', bid: 110, ask: 110 }])
  await passTo('2024-03-20T20:30:00Z')
  expect(await worth()).toBe(100_640)
  await rate(1)
  await takeBack(bought)
  expect(await worth()).toBe(102_520)
  await passTo('2024-03-21T13:45:00Z')
})

test('a morning-settled option is settled again at the price of the first time, whatever is entered since', async () => {
  const { trade, takeBack, worth } = await follow('B12', 'USD')
  const standAt = (px: number) => town.door('/quotes', [{ symbol: 'SPX', bid: px, ask: px }])
  await standAt(5100)
  const bought = await trade(morning, '1', 1, 105)
  await trade(morning, '1', 1, 105)
  await passTo('2024-03-21T14:00:00Z')
  await standAt(5110)
  // Nobody can trade it any more, and its exchange says nothing: the close of the day counts.
  await passTo('2024-03-22T14:00:00Z')
  await standAt(5150)
  await passTo('2024-03-25T14:00:00Z')
  expect(await worth()).toBe(109_000)
  await town.door('/corporate-actions', [
    { kind: 'settlement', symbol: 'SPX', date: '2024-03-22', amount: 5140 },
  ])
  await takeBack(bought)
  expect(await worth()).toBe(104_500)
})

test('what an option has delivered goes back in the units of today, with its dividends', async () => {
  const { trade, takeBack, held, worth } = await follow('B10', 'USD')
  const bought = await trade('LAST', '1', 1, 12)
  await trade('LAST', '1', 1, 12)
  await town.door('/quotes', [{ symbol: 'THIRD', bid: 110, ask: 110 }])
  await passTo('2024-04-01T14:00:00Z')
  expect(await held()).toEqual([[200, 100, '2024-03-28T20:00:00Z']])
  await town.door('/corporate-actions', [
    { kind: 'dividend', symbol: 'THIRD', date: '2024-04-02', amount: 1 },
    { kind: 'split', symbol: 'THIRD', date: '2024-04-03', new: 2, old: 1 },
  ])
  await passTo('2024-04-03T14:00:00Z')
  expect(await worth()).toBe(99_800)
  await takeBack(bought)
  expect(await held()).toEqual([[200, 50, '2024-03-28T20:00:00Z']])
  expect(await worth()).toBe(99_900)
  // Settled again at the end: what goes back was delivered then, in units of then.
  const ends = await db.read.rows`
    select e.quantity::float8, e.executed_at as at from execution e
    join account a on a.id = e.account_id where a.account = 'B10' and e.exec_id like 'END-%' order by e.id`
  const at = Date.parse('2024-03-28T20:00:00Z')
  expect(ends).toEqual([2, 200, 1, 100].map((quantity) => ({ quantity, at })))
})

test('a correction that comes after a split is converted at the rate of the execution that it corrects', async () => {
  await town.door('/quotes', [{ symbol: 'EURUSD', bid: 1.25, ask: 1.25 }])
  const { trade, held, worth } = await follow('B16', 'EUR')
  const wrong = await trade('FOURTH', '1', 100, 100)
  await town.door('/quotes', [{ symbol: 'EURUSD', bid: 1, ask: 1 }])
  await town.door('/corporate-actions', [
    { kind: 'split', symbol: 'FOURTH', date: '2024-04-04', new: 2, old: 1 },
  ])
  await passTo('2024-04-04T14:00:00Z')
  await correct(wrong, 'right after a split', 101)
  await town.door('/quotes', [{ symbol: 'FOURTH', bid: 50, ask: 50 }])
  expect((await held())[0]?.slice(0, 2)).toEqual([200, 50.5])
  expect(await worth()).toBe(101_920)
})

test('what an execution leaves of an inferred one stays at the rate at which that was booked', async () => {
  await town.door('/quotes', [{ symbol: 'EURUSD', bid: 1.25, ask: 1.25 }])
  const { order, held, worth } = await follow('B15', 'EUR')
  await town.door('/broker', { partial: { account: 'B15', qty: 0 } })
  await order('FOURTH', '1', 10, 100)
  const tell = (key: string, kind: string, quantity: number) => db.write.run`
    insert into broker_report (broker_id, report_key, account_id, client_order_id, kind, symbol, side, quantity, px,
      occurred_at)
    select p.broker_id, ${key}, p.account_id, p.client_order_id, ${kind}, 'FOURTH', '1', ${quantity}, 100, p.accepted_at
    from paper_order p join account a on a.id = p.account_id where a.account = 'B15'`
  await tell('B15 total', 'total', 10)
  await town.door('/quotes', [{ symbol: 'FOURTH', bid: 100, ask: 100 }])
  await town.door('/quotes', [{ symbol: 'EURUSD', bid: 1, ask: 1 }])
  expect(await worth()).toBe(100_200)
  await tell('B15 fill', 'fill', 4)
  await town.door('/quotes', [{ symbol: 'FOURTH', bid: 100, ask: 100 }])
  expect((await held())[0]?.slice(0, 2)).toEqual([10, 100])
  // 6 at 0.8 euro, and 4 at 1.
  expect(await worth()).toBe(100_120)
})
