/**
 * Random lives of a small market: orders, changes, quotes, followers who come and go, brokers who reject, keep
 * silent or are away. Whatever happens, the books are sound at every stop, nothing fails inside, and once the
 * broker answers and time has passed no order is left half done.
 */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { call } from '../support/http.ts'
import { testPlatform } from '../support/platform.ts'

const platform = await testPlatform()

async function door<T = unknown>(path: string, body: unknown): Promise<T> {
  const answer = await call(platform.url, `/test${path}`, { body })
  if (answer.status !== 200)
    throw new Error(`/test${path} ${JSON.stringify(body)}: ${answer.status} ${answer.text}`)
  return answer.json as T
}

type Person = { personId: number; key: string }
interface Market {
  readonly owner: Person
  readonly fan: Person
  readonly strategyId: number
  readonly signals: number[]
  now: number
}

const accounts = ['A', 'B', 'C'] as const
const settings = {
  A: { ScalingPercentage: 50, FuturesEnabled: true },
  B: { ScalingPercentage: 150, FuturesEnabled: true, MaxFutures: 4 },
  C: { ScalingPercentage: 100, FuturesEnabled: true },
} as const
type AccountName = (typeof accounts)[number]

async function begin(): Promise<Market> {
  const start = '2024-03-12T14:00:00Z'
  await door('/reset', { now: start })
  const person = (name: string) => ({
    firstName: name,
    lastName: name,
    email: `${name}@example.org`,
    role: 'user',
  })
  const [owner, fan] = (await door<Person[]>('/people', [person('dev'), person('fan')])) as [Person, Person]
  await door('/instruments', [{ symbol: '@ESM24', securityType: 'FUT', pointValue: 50, tick: 0.25 }])
  const made = await call(platform.url, '/gen/Strategies/AddStrategy', {
    key: owner.key,
    body: { StrategyName: 'S', StartingCapital: 1_000_000 },
  })
  const { Results } = made.json as { Results: { StrategyId: number }[] }
  const strategyId = Results[0]?.StrategyId ?? 0
  await door(
    '/accounts',
    accounts.map((account) => ({ account, personId: fan.personId, cash: 500_000 })),
  )
  const market = { owner, fan, strategyId, signals: [], now: Date.parse(start) }
  for (const account of accounts) await follow(market, account)
  await quoteAt(0)
  return market
}

/** Statuses that any call of a walk may answer. */
const expected = [200, 400, 404, 409, 503]

async function operate(key: string, method: string, path: string, body?: object) {
  const answer = await call(platform.url, `/gen${path}`, { key, method, body })
  if (!expected.includes(answer.status))
    throw new Error(`${path}: ${answer.status} ${answer.text} ${platform.errors.join()}`)
  return answer
}

const follow = ({ fan, strategyId }: Market, Account: AccountName) =>
  operate(fan.key, 'POST', '/Autotrade/StartAutotrade', {
    Account,
    PersonId: fan.personId,
    StrategyId: strategyId,
    ...settings[Account],
  })

/** One step of a life, told by its words when a life fails. */
interface Move {
  readonly says: string
  readonly run: (market: Market) => Promise<unknown>
}
const move = (says: string, run: Move['run']): Move => ({ says, run })

const orderOf = (
  { strategyId }: Market,
  wish: { buys: boolean; quantity: number; kind: number; ticks: number; exits?: number },
) => {
  const px = 5000 + wish.ticks * 0.25
  const type = [{ OrderType: '1' }, { OrderType: '2', Limit: px }, { OrderType: '3', Stop: px }][wish.kind]
  const away = (wish.exits ?? 0) * (wish.buys ? 0.25 : -0.25)
  return {
    ...(wish.exits && { ProfitTarget: px + away, StopLoss: px - away, DoNotCreateOCAGroup: wish.exits > 6 }),
    StrategyId: strategyId,
    Side: wish.buys ? '1' : '2',
    OrderQuantity: wish.quantity,
    TIF: '1',
    ...type,
    PlatformSymbol: { FullSymbol: '@ESM24', SymbolType: 'future' },
  }
}

const wish = fc.record({
  buys: fc.boolean(),
  quantity: fc.integer({ min: 1, max: 6 }),
  kind: fc.integer({ min: 0, max: 2 }),
  ticks: fc.integer({ min: -12, max: 12 }),
})
const account = fc.constantFrom(...accounts)

const tell = ({
  buys,
  quantity,
  kind,
  ticks,
}: {
  buys: boolean
  quantity: number
  kind: number
  ticks: number
}) => `${buys ? 'buy' : 'sell'} ${quantity} ${['market', 'limit', 'stop'][kind]} ${5000 + ticks * 0.25}`

type Ids = { SignalId?: number; ProfitTargetSignalId?: number; StopLossSignalId?: number }

async function send(market: Market, method: string, path: string, Order: object): Promise<void> {
  const answer = await operate(market.owner.key, method, path, { Order })
  const { Results } = answer.json as { Results?: Ids[] }
  const [ids] = Results ?? []
  for (const id of [ids?.SignalId, ids?.ProfitTargetSignalId, ids?.StopLossSignalId])
    if (id !== undefined) market.signals.push(id)
}

const chosen = (market: Market, place: number): number => market.signals[place % market.signals.length] ?? 0
const place = wish.map((wanted) =>
  move(tell(wanted), (market) =>
    send(market, 'POST', '/Strategies/NewStrategyOrder', orderOf(market, wanted)),
  ),
)
/** Entries with exits, children of what is there, orders that wait for a date. */
const family = fc
  .record({ wanted: wish, exits: fc.integer({ min: 0, max: 9 }), parent: fc.nat(50), wait: fc.nat(3) })
  .map(({ wanted, exits, parent, wait }) =>
    move(
      `${tell(wanted)} exits ${exits} parent ${wait === 1 ? parent : '-'} parked ${wait === 2}`,
      (market) => {
        const isChild = wait === 1 && market.signals.length > 0
        const until = new Date(market.now + 20_000).toISOString()
        return send(market, 'POST', '/Strategies/NewStrategyOrder', {
          ...orderOf(market, { ...wanted, exits }),
          ...(isChild && { ParentSignalId: chosen(market, parent) }),
          ...(wait === 2 && { ParkedUntilDate: until }),
        })
      },
    ),
  )
const cancel = fc.nat(50).map((at) =>
  move(`cancel ${at}`, (market) => {
    const { strategyId, owner } = market
    const params = `?StrategyId=${strategyId}&SignalId=${chosen(market, at)}`
    return operate(owner.key, 'DELETE', `/Strategies/CancelStrategyOrder${params}`)
  }),
)
const replace = fc.tuple(fc.nat(50), wish).map(([at, wanted]) =>
  move(`replace ${at} by ${tell(wanted)}`, (market) => {
    const Order = { ...orderOf(market, wanted), CancelReplaceSignalId: chosen(market, at) }
    return send(market, 'PUT', '/Strategies/ReplaceStrategyOrder', Order)
  }),
)
const quoteAt = (ticks: number) =>
  door('/quotes', [{ symbol: '@ESM24', bid: 5000 + ticks * 0.25, ask: 5000.25 + ticks * 0.25 }])
const quote = fc
  .integer({ min: -12, max: 12 })
  .map((ticks) => move(`quote ${5000 + ticks * 0.25}`, () => quoteAt(ticks)))
const pass = (market: Market, seconds: number) => {
  market.now += seconds * 1000
  return door('/clock', { now: new Date(market.now).toISOString() })
}
const wait = fc
  .constantFrom(1, 10, 31, 600)
  .map((seconds) => move(`clock +${seconds}s`, (market) => pass(market, seconds)))
const join = account.map((name) => move(`${name} follows`, (market) => follow(market, name)))
const leave = fc.tuple(account, fc.boolean()).map(([name, leaves]) =>
  move(`${name} stops${leaves ? ' leaving its positions' : ''}`, ({ fan, strategyId }) => {
    const params = `?Account=${name}&PersonId=${fan.personId}&StrategyId=${strategyId}&LeavePositionsOpen=${leaves}`
    return operate(fan.key, 'DELETE', `/Autotrade/StopAutotrade${params}`)
  }),
)
const script = fc
  .oneof(
    fc.boolean().map((hold) => ({ hold })),
    fc.boolean().map((down) => ({ down })),
    account.map((name) => ({ reject: { account: name, text: 'no' } })),
    fc.tuple(account, fc.nat(2)).map(([name, qty]) => ({ partial: { account: name, qty } })),
  )
  .map((command) => move(JSON.stringify(command), () => door('/broker', command)))

const moves = fc.array(
  fc.oneof(
    { weight: 6, arbitrary: place },
    { weight: 5, arbitrary: family },
    { weight: 2, arbitrary: cancel },
    { weight: 2, arbitrary: replace },
    { weight: 6, arbitrary: quote },
    { weight: 2, arbitrary: wait },
    { weight: 1, arbitrary: join },
    { weight: 1, arbitrary: leave },
    { weight: 3, arbitrary: script },
  ),
  { minLength: 10, maxLength: 40 },
)

const violations = async () =>
  ((await call(platform.url, '/test/audit')).json as { violations: { rule: string; detail: string }[] })
    .violations

describe('a random life', () => {
  test('leaves sound books at every stop and nothing half done at the end', async () => {
    await fc.assert(
      fc.asyncProperty(moves, async (steps) => {
        platform.errors.length = 0
        const market = await begin()
        for (const [place, step] of steps.entries()) {
          await step.run(market)
          if (place % 5 === 4) expect(await violations()).toEqual([])
        }
        await door('/broker', { hold: false })
        await door('/broker', { down: false })
        await quoteAt(0)
        await pass(market, 60)
        await quoteAt(0)
        expect(await violations()).toEqual([])
        expect(platform.errors).toEqual([])
        const open = await platform.db.read.rows`
          select id, source, source_id as "sourceId", status, pending_action as pending from account_order
          where pending_action is not null or unknown_at is not null or status in ('A', '6', 'E')`
        expect(open).toEqual([])
      }),
      { numRuns: 20 },
    )
  }, 600_000)
})
