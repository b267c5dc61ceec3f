/** What owners trade by themselves in accounts that follow a strategy, over what the calendar does to it. */
import { beforeAll, expect, test } from 'vitest'
import { call, resultsOf } from '../support/http.ts'
import { testPlatform } from '../support/platform.ts'

const platform = await testPlatform()
const door = async <T = unknown>(path: string, body?: unknown): Promise<T> => {
  const answer = await call(platform.url, `/test${path}`, body === undefined ? {} : { body })
  expect(answer.status, answer.text).toBe(200)
  return answer.json as T
}

const account = 'U1'
let person = { personId: 0, key: '' }

beforeAll(async () => {
  await door('/reset', { now: '2024-03-12T14:00:00Z' })
  await door('/instruments', [
    { symbol: 'AAPL', securityType: 'CS' },
    { symbol: '@ESM24', securityType: 'FUT', pointValue: 50, tick: 0.25, calendar: 'CME_GLOBEX' },
  ])
  const [made] = await door<(typeof person)[]>('/people', [
    { firstName: 'A', lastName: 'B', email: 'a@b.example', role: 'user' },
  ])
  person = made ?? person
  await door('/accounts', [{ account, personId: person.personId, cash: 50_000 }])
  await follow('Always')
})

/** Makes a strategy and follows it in the account; answers its id. */
async function follow(name: string): Promise<number> {
  const { key, personId: PersonId } = person
  const wish = { StrategyName: name, StartingCapital: 100_000 }
  const added = await call(platform.url, '/gen/Strategies/AddStrategy', { key, body: wish })
  const StrategyId = resultsOf<{ StrategyId: number }>(added)[0]?.StrategyId ?? 0
  const setup = { Account: account, PersonId, StrategyId, ScalingPercentage: 100, StocksEnabled: true }
  const started = await call(platform.url, '/gen/Autotrade/StartAutotrade', { key, body: setup })
  expect(started.status, started.text).toBe(200)
  return StrategyId
}
const quote = (symbol: string, price: number) => door('/quotes', [{ symbol, bid: price, ask: price }])
const trade = (symbol: string, side: '1' | '2', qty: number, px: number) =>
  door<{ execId: string }>('/broker', { execution: { account, symbol, side, qty, px, clientOrderId: null } })

/** What the account is worth; its books and the broker's agree. */
async function worth(): Promise<unknown> {
  expect(await door('/audit')).toEqual({ violations: [] })
  const path = `/gen/Autotrade/GetAutotradeSettings?PersonId=${person.personId}&Account=${account}`
  const [row] = resultsOf<Record<string, unknown>>(await call(platform.url, path, { key: person.key }))
  return row?.NetLiquidationValue
}

test('follows a dividend and a split, and its fraction is paid', async () => {
  await quote('AAPL', 40)
  await trade('AAPL', '1', 25, 38)
  expect(await worth()).toBe(50_050)
  await door('/corporate-actions', [
    { kind: 'dividend', symbol: 'AAPL', date: '2024-03-13', amount: 2 },
    { kind: 'split', symbol: 'AAPL', date: '2024-03-14', new: 1, old: 2 },
  ])
  await door('/clock', { now: '2024-03-13T14:00:00Z' })
  expect(await worth()).toBe(50_100)
  await door('/clock', { now: '2024-03-14T14:00:00Z' })
  // 12 shares at 80, and 40 for the half.
  expect(await worth()).toBe(50_100)
  await quote('AAPL', 50)
  expect(await worth()).toBe(50_100 - 12 * 30)
})

test('follows them too when it is told days later', async () => {
  // The owner sold 4 before both, and the broker tells of it now.
  await platform.db.write.run`
    insert into broker_report (broker_id, account_id, report_key, kind, symbol, side, quantity, px, occurred_at)
    select broker_id, id, 'LATE-1', 'fill', 'AAPL', '2', 4, 40, '2024-03-12T15:00:00Z'
    from account where account = ${account}`
  await door('/clock', { now: '2024-03-14T14:01:00Z' })
  expect(await worth()).toBe(50_100 - 12 * 30 - 8 + 2 * 30)
  await platform.db.write.run`
    insert into paper_report (broker_id, account_id, report_key, kind, symbol, side, quantity, px, occurred_at, is_delivered)
    select broker_id, account_id, report_key, kind, symbol, side, quantity, px, occurred_at, true
    from broker_report where report_key = 'LATE-1'`
})

test('is delivered by an option that ends', async () => {
  const before = Number(await worth())
  await door('/instruments', [
    {
      symbol: 'AAPL2415C45',
      securityType: 'OPT',
      pointValue: 100,
      underlying: 'AAPL',
      putOrCall: 1,
      strike: 45,
      expiry: '2024-03-15',
      settlement: 'physical',
    },
  ])
  await quote('AAPL2415C45', 6)
  await trade('AAPL2415C45', '2', 1, 6)
  expect(await worth()).toBe(before)
  await door('/clock', { now: '2024-03-15T20:00:00Z' })
  // 100 shares are given at 45 while they are worth 50, and the premium of 600 is kept.
  expect(await worth()).toBe(before + 100)
  await door('/clock', { now: '2024-03-18T14:00:00Z' })
  await quote('AAPL', 51)
  expect(await worth()).toBe(before + 100 + (10 - 100))
  await trade('AAPL', '1', 90, 51)
})

test('settles what a future has earned, with what is taken back', async () => {
  const before = Number(await worth())
  await quote('@ESM24', 5000)
  await trade('@ESM24', '1', 3, 5000)
  await trade('@ESM24', '2', 1, 5010)
  expect(await worth()).toBe(before + 500)
  const { execId } = await trade('@ESM24', '2', 1, 5020)
  await quote('@ESM24', 5050)
  expect(await worth()).toBe(before + 500 + 1000 + 2500)
  await door('/broker', { bust: execId })
  expect(await worth()).toBe(before + 500 + 2 * 2500)
  await trade('@ESM24', '2', 2, 5050)
  expect(await worth()).toBe(before + 500 + 2 * 2500)
})

test('makes up with what a stopped setup left open: what the owner has sold of it is paid to nobody', async () => {
  await quote('AAPL', 50)
  const StrategyId = await follow('Left')
  const PlatformSymbol = { FullSymbol: 'AAPL', SymbolType: 'stock' }
  const Order = {
    StrategyId,
    OrderType: '1',
    Side: '1',
    OrderQuantity: 10,
    TIF: '0',
    PlatformSymbol,
  }
  await call(platform.url, '/gen/Strategies/NewStrategyOrder', { key: person.key, body: { Order } })
  const path = `/gen/Autotrade/StopAutotrade?Account=${account}&PersonId=${person.personId}&StrategyId=${StrategyId}`
  const stopped = await call(platform.url, `${path}&LeavePositionsOpen=true`, {
    method: 'DELETE',
    key: person.key,
  })
  expect(stopped.status, stopped.text).toBe(200)
  await trade('AAPL', '2', 10, 50)
  const before = Number(await worth())
  await door('/corporate-actions', [
    { kind: 'dividend', symbol: 'AAPL', date: '2024-03-19', amount: 2 },
    { kind: 'split', symbol: 'AAPL', date: '2024-03-20', new: 3, old: 1 },
  ])
  await door('/clock', { now: '2024-03-20T14:00:00Z' })
  await quote('AAPL', 20)
  expect(await worth()).toBe(before)
})

test('does not take what was traded since a split that is entered late for shares of before it', async () => {
  await door('/instruments', [{ symbol: 'MSFT', securityType: 'CS' }])
  const StrategyId = await follow('Trades on')
  const PlatformSymbol = { FullSymbol: 'MSFT', SymbolType: 'stock' }
  const Order = { StrategyId, OrderType: '1', Side: '1', OrderQuantity: 10, TIF: '0', PlatformSymbol }
  const buy = () =>
    call(platform.url, '/gen/Strategies/NewStrategyOrder', { key: person.key, body: { Order } })
  await quote('MSFT', 40)
  await trade('MSFT', '1', 5, 40)
  await trade('MSFT', '2', 25, 40)
  await buy()
  await door('/clock', { now: '2024-03-21T14:00:00Z' })
  await quote('MSFT', 20)
  await trade('MSFT', '1', 30, 20)
  await buy()
  const before = Number(await worth())
  await door('/corporate-actions', [{ kind: 'split', symbol: 'MSFT', date: '2024-03-21', new: 2, old: 1 }])
  await door('/clock', { now: '2024-03-21T14:01:00Z' })
  // The strategy's 10 of before are 20, and the owner's 20 sold ones 40: 30 and -10.
  expect(
    await platform.db.read.rows`
      select p.quantity::float8 as quantity, p.avg_px::float8 as price
      from account_position p join instrument i on i.id = p.instrument_id
      where i.symbol = 'MSFT' order by p.setup_id`,
  ).toEqual([
    { quantity: 30, price: 20 },
    { quantity: -10, price: 20 },
  ])
  await quote('MSFT', 20)
  expect(await worth()).toBe(before + 10 * 20 - 20 * 20)
})
