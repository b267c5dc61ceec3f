/** What becomes of the books of a stopped setup once its fee is settled: whoever starts again goes on from there. */
import { describe, expect, test } from 'vitest'
import { changeStrategy } from '../../src/storage/operating/administration.ts'
import { call, resultsOf } from '../support/http.ts'
import { testPlatform } from '../support/platform.ts'
import { at, type Citizen, moneyOf, type Row } from './support/money.ts'

const platform = await testPlatform()
const { db, url } = platform
const { door, passTo, charges, audit } = moneyOf(platform)
const quote = (price: number) =>
  door(
    '/quotes',
    [stock, option].map(({ symbol }) => ({ symbol, bid: price, ask: price })),
  )

const stock = { symbol: 'AAPL', securityType: 'CS' }
const option = {
  symbol: 'AAPL2419D200',
  securityType: 'OPT',
  underlying: 'AAPL',
  pointValue: 1,
  strike: 200,
  putOrCall: 1,
  expiry: '2024-04-19',
}

/** Bought at 100, stopped and settled at 120; `restarts`: the next setup begins in the same term and holds nothing. */
async function settledAndStopped(leavesOpen: boolean, bought = stock, restarts = false) {
  await door('/reset', { now: at(0) })
  const people = [
    { firstName: 'Olga', lastName: 'O', email: 'olga@example.org' },
    { firstName: 'Carl', lastName: 'C', email: 'carl@example.org' },
  ]
  const [owner, customer] = (await door<Citizen[]>('/people', people)) as [Citizen, Citizen]
  await door('/accounts', [{ account: 'U1', personId: customer.personId, kind: 'live', cash: 50_000 }])
  await door('/instruments', [stock, option])
  await quote(100)
  const ask = async (path: string, { key }: Citizen, body: object) =>
    resultsOf<Row>(await call(url, path, { key, body }))
  const strategy = { StrategyName: 'Trend', StartingCapital: 100_000 }
  const [added] = await ask('/gen/Strategies/AddStrategy', owner, strategy)
  const strategyId = Number(added?.StrategyId)
  const others = { isPrivate: undefined, monthlyCost: undefined, isResellable: undefined }
  const terms = { strategyId, noSubsAllowed: undefined, ...others }
  const takeFee = (performanceFee: number) =>
    changeStrategy(db.write, { ...terms, performanceFee, changedAt: Date.parse(at(0)) })
  await takeFee(20)
  const trade = (Side: '1' | '2', { symbol, securityType } = stock) => {
    const PlatformSymbol = { FullSymbol: symbol, SymbolType: securityType === 'OPT' ? 'option' : 'stock' }
    const Order = {
      StrategyId: strategyId,
      OrderType: '1',
      TIF: '1',
      Side,
      OrderQuantity: 100,
      PlatformSymbol,
    }
    return ask('/gen/Strategies/NewStrategyOrder', owner, { Order })
  }
  const followed = { Account: 'U1', StrategyId: strategyId, StocksEnabled: true, OptionsEnabled: true }
  const follow = async () =>
    expect(
      (await call(url, '/gen/Autotrade/StartAutotrade', { key: customer.key, body: followed })).status,
    ).toBe(200)
  const whose = `Account=U1&PersonId=${customer.personId}&StrategyId=${strategyId}`
  const stopping = `/gen/Autotrade/StopAutotrade?${whose}&LeavePositionsOpen=${leavesOpen}`
  const stop = async () =>
    expect((await call(url, stopping, { method: 'DELETE', key: customer.key })).status).toBe(200)

  await follow()
  await trade('1', bought)
  await quote(120)
  await stop()
  await quote(120)
  if (restarts) {
    await trade('2', bought)
    await follow()
  }
  await passTo(31)
  const first = { person: customer.personId, amount: 40_000, status: 'paid', at: '04-11' }
  expect(await charges('performance')).toEqual([first])
  return { first, follow, trade, stop, takeFee }
}

test('a gain that only makes up for a trade that is taken back is not charged again', async () => {
  const { first, follow, trade } = await settledAndStopped(false)
  await quote(90)
  const { sold } = await db.read.one<{ sold: string }>`select exec_id as sold from execution where side = '2'`
  await door('/broker', { bust: sold })
  await quote(90)
  await trade('2')
  await follow()
  await trade('1')
  // From 20 a share above the beginning to 10 below it, and up again by 35: 5 more than were paid for.
  await quote(125)
  await passTo(60)
  expect(await charges('performance')).toEqual([first, { ...first, amount: 10_000, at: '05-11' }])
  await audit()
})

test.each([
  ['is no loss', stock],
  ['and has ended since is no loss', option],
])('what is left open at a stop %s that the next one makes up for', async (_, bought) => {
  const { first, follow, trade } = await settledAndStopped(true, bought)
  await passTo(41)
  await quote(90)
  if (bought === stock) await trade('2')
  await follow()
  await trade('1')
  await quote(125)
  await passTo(60)
  expect(await charges('performance')).toEqual([first, { ...first, amount: 70_000, at: '05-11' }])
  await audit()
})

test('what is left open at a stop and paid out by a split is no gain of the next one', async () => {
  const { first, follow, trade } = await settledAndStopped(true)
  await passTo(41)
  await quote(150)
  await door('/corporate-actions', [{ kind: 'split', symbol: 'AAPL', date: '2024-04-24', new: 1, old: 200 }])
  await passTo(43)
  await quote(90)
  await follow()
  await trade('1')
  await quote(125)
  await passTo(60)
  expect(await charges('performance')).toEqual([first, { ...first, amount: 70_000, at: '05-11' }])
  await audit()
})

/** The last sale was none, and what it sold is sold at another price. */
async function sellAnew(price: number) {
  await quote(price)
  const { sold } = await db.read.one<{ sold: string }>`
    select exec_id as sold from execution where side = '2' and busts is null order by id desc limit 1`
  await door('/broker', { bust: sold })
  await quote(price)
}

describe('what is taken back of a setup that has stopped', () => {
  test.each([
    ['begins after that', false],
    ['had begun, and was settled once', true],
  ])('is a loss that counts when the next one %s', async (_, restarts) => {
    const { first, follow, trade } = await settledAndStopped(false, stock, restarts)
    await sellAnew(90)
    if (!restarts) {
      await trade('2')
      await follow()
    }
    await trade('1')
    await quote(110)
    await passTo(60)
    expect(await charges('performance')).toEqual([first])
    await passTo(63)
    await quote(125)
    await passTo(91)
    expect(await charges('performance')).toEqual([first, { ...first, amount: 10_000, at: '06-10' }])
    await passTo(121)
    expect(await charges('performance')).toHaveLength(2)
    await audit()
  })

  test('counts once where the next one was settled and has stopped, and another follows', async () => {
    const { first, follow, trade, stop } = await settledAndStopped(false, stock, true)
    await stop()
    await passTo(34)
    await sellAnew(90)
    await follow()
    await trade('1')
    await quote(125)
    await passTo(60)
    expect(await charges('performance')).toEqual([first, { ...first, amount: 10_000, at: '05-11' }])
    await passTo(63)
    await quote(127)
    await passTo(91)
    expect(await charges('performance')).toHaveLength(3)
    expect((await charges('performance')).at(-1)).toMatchObject({ amount: 4_000 })
    await audit()
  })

  test.each([
    ['stays open', stock],
    ['has ended since', option],
  ])('is nothing of what was left open and %s, also where the next one was settled', async (_, bought) => {
    const { first, trade } = await settledAndStopped(true, bought, true)
    await passTo(41)
    await quote(90)
    await trade('1')
    await quote(125)
    await passTo(60)
    expect(await charges('performance')).toEqual([first, { ...first, amount: 70_000, at: '05-11' }])
    await audit()
  })

  test('waits where a broken price leaves the next one unsettled', async () => {
    const { first, trade } = await settledAndStopped(false, stock, true)
    await trade('1')
    await quote(120)
    await quote(115)
    await passTo(63)
    await sellAnew(90)
    await quote(999_999_999_999)
    await passTo(91)
    expect(await charges('performance')).toEqual([first])
    // 10 a share below the beginning for the one, 35 above it for the other: 5 more than were paid for.
    await quote(155)
    await passTo(121)
    expect(await charges('performance')).toEqual([first, { ...first, amount: 10_000, at: '07-10' }])
    await audit()
  })

  test('and given back later makes up for what was counted', async () => {
    const { first, trade } = await settledAndStopped(false, stock, true)
    await sellAnew(90)
    await trade('1')
    await quote(100)
    await passTo(60)
    expect(await charges('performance')).toEqual([first])
    const gains = () => db.read.rows`
      select gain::float8 as gain, carried::float8 as carried, percent from fee_settlement
      order by settled_at desc, setup_id limit 2`
    expect(await gains()).toEqual([
      { gain: -1000, carried: 0, percent: 0 },
      { gain: 1000, carried: -3000, percent: 20 },
    ])
    await passTo(63)
    await sellAnew(120)
    await quote(100)
    await passTo(91)
    expect(await gains()).toMatchObject([
      { gain: 2000, carried: 0 },
      { gain: 1000, carried: 0 },
    ])
    expect(await charges('performance')).toEqual([first, { ...first, amount: 20_000, at: '06-10' }])
    await audit()
  })

  test.each(['in a term without a fee', 'while nobody subscribes'])(
    'and given back %s passes free',
    async (when) => {
      const { first, follow, trade, takeFee } = await settledAndStopped(false)
      if (when === 'while nobody subscribes')
        await db.write.run`update subscription set is_cancel_pending = true`
      else await takeFee(0)
      await passTo(62)
      await sellAnew(150)
      await passTo(88)
      await takeFee(20)
      await passTo(91)
      await quote(150)
      await trade('2')
      await follow()
      await trade('1')
      await quote(155)
      await passTo(123)
      // 30 a share that were given back, and 5 that were gained since.
      expect(await charges('performance')).toMatchObject([first, { amount: 10_000 }])
      await audit()
    },
  )
})
