/**
 * A small world in which much meets: two strategies and a variant, four accounts with two setups each, stocks that are
 * split and delisted, futures of which one ends, an option. Its people call the interface over HTTP; its worker works only
 * when the life says so.
 */
import { type OperationName, routesOf } from '../../src/contract/index.ts'
import { dec } from '../../src/domain/decimal.ts'
import { completeInstrument } from '../../src/domain/market/derive-instrument.ts'
import { emptied } from '../../src/door/empty.ts'
import { builtInBrokers } from '../../src/door/rows.ts'
import { type Assembly, assembleWork } from '../../src/execution/assembly.ts'
import type { Broker } from '../../src/execution/brokers/broker.ts'
import { publishQuotes } from '../../src/execution/orders/matcher.ts'
import { createWorker, type Worker } from '../../src/execution/worker.ts'
import { createServer } from '../../src/http/server.ts'
import { bootstrap } from '../../src/operations/bootstrap.ts'
import { isRefused } from '../../src/operations/context.ts'
import { handlers } from '../../src/operations/index.ts'
import { issueKey } from '../../src/operations/keys.ts'
import { createOperations } from '../../src/operations/operations.ts'
import { exactJson } from '../../src/sdk/json.ts'
import type { Database } from '../../src/storage/database/database.ts'
import { replaceInstruments } from '../../src/storage/market/instruments.ts'
import {
  ensureBroker,
  insertAccounts,
  insertPersons,
  insertSite,
} from '../../src/storage/operating/provision.ts'
import { insertVariant } from '../../src/storage/strategies/variants.ts'
import { type Answer, call, resultsOf } from '../support/http.ts'
import { randomSecrets } from '../support/secrets.ts'
import { Stubborn } from './stubborn-broker.ts'
import { opening } from './world.ts'

const secrets = randomSecrets()

/** What is traded; `bid` is where its walk begins, in ticks of one. */
export const markets = [
  { symbol: 'AAPL', type: 'stock', begins: 60 },
  { symbol: 'ZZZ', type: 'stock', begins: 30 },
  { symbol: '@ESH24', type: 'future', begins: 100 },
  { symbol: '@ESU24', type: 'future', begins: 90 },
  { symbol: 'AAPL2415C60', type: 'option', begins: 3 },
] as const

export type Market = (typeof markets)[number]

export interface Account {
  readonly name: string
  readonly id: number
  readonly strategies: readonly number[]
}

export interface Crossed {
  readonly db: Database
  readonly clock: { time: number; now(): number }
  readonly work: Assembly
  readonly worker: Worker
  readonly stubborn: Stubborn
  readonly paper: Broker
  /** Calls by name; an answer that nobody should get throws. */
  readonly ask: (
    who: 'owner' | 'holder' | 'site',
    operation: OperationName,
    params: object,
  ) => Promise<Answer>
  readonly personIds: { readonly owner: number; readonly holder: number }
  readonly brokerId: number
  /** Those that an owner trades; the variant is last. */
  readonly strategies: readonly number[]
  readonly variantId: number
  readonly accounts: readonly Account[]
  readonly prices: Map<string, number>
  readonly signals: number[]
  readonly errors: string[]
  close(): Promise<void>
}

const expected = [200, 400, 404, 409]

function asking(url: string, keys: Record<string, string>, errors: readonly string[]): Crossed['ask'] {
  return async (who, operation, params) => {
    const hosts = ['Gen', 'Geo', 'WL'] as const
    const host = hosts.find((one) => routesOf(one, 'native').some((route) => route.operation === operation))
    const route = host && routesOf(host, 'native').find((one) => one.operation === operation)
    if (!route) throw new Error(`nobody offers ${operation}`)
    const { method, path } = route
    const base = `/${host.toLowerCase()}${path}`
    const key = keys[who]
    const send = (): Promise<Answer> => {
      if (method === 'POST' || method === 'PUT')
        return call(url, base, { method, key, body: exactJson(params) })
      const query = new URLSearchParams()
      for (const [name, value] of Object.entries(params)) query.append(name, String(value))
      return call(url, `${base}?${query}`, { method, key })
    }
    const answer = await send()
    if (!expected.includes(answer.status))
      throw new Error(
        `${operation} ${JSON.stringify(params)}: ${answer.status} ${answer.text} ${errors.join()}`,
      )
    return answer
  }
}

const errorText = (_: string, value: unknown): unknown => (value instanceof Error ? value.stack : value)

/** What a life has nothing to do with, left out for speed. */
const beside =
  /index|audit log|housekeeping|Webhooks|announce|mail|clockSetBack|Statistics|Payment|expireApprovals/

/** The worker's parts, with a broker between that may be stubborn. */
function workOf(db: Database, clock: Crossed['clock'], log: Assembly['ctx']['log']) {
  const fixed = { workerId: 'w1', environment: 'T', commissionPlan: 'none', isScripted: true } as const
  const whole = assembleWork({ db, clock, log, ...fixed })
  const stubborn = new Stubborn()
  const { paper } = whole.brokers
  if (!paper) throw new Error('there is no paper broker')
  Object.assign(paper, stubborn.between({ ...paper }))
  const work = { ...whole, steps: whole.steps.filter(({ name }) => !beside.test(name)) }
  return { work, worker: createWorker(work), stubborn, paper }
}

async function serve(db: Database, clock: Crossed['clock'], log: Assembly['ctx']['log']) {
  const fixed = { secrets, keyEnvironment: 'test', environment: 'T', charging: 'none' } as const
  const operations = await createOperations({ db, clock, handlers, log, ...fixed })
  const native = { dialect: 'native' } as const
  const hosts = { Gen: native, Geo: native, WL: native }
  const server = createServer({ operations, hosts, isCounting: () => false, log })
  const close = async (): Promise<void> => {
    await server.close()
    await operations.close()
  }
  return { url: await server.listen(0, '127.0.0.1'), close }
}

/** Every life has the platform to itself: it is as fast as the first, and its seed replays it alone. */
export async function begin(db: Database): Promise<Crossed> {
  const clock = { time: opening, now: () => clock.time }
  await emptied(db, async (tx) => {
    await tx.run`delete from lease`
    await ensureBroker(tx, builtInBrokers.live)
    await bootstrap(tx, opening)
  })
  const errors: string[] = []
  const error = (fields: object, message: string): void =>
    void errors.push(`${message} ${JSON.stringify(fields, errorText)}`)
  const log = { info: () => undefined, warn: () => undefined, error }
  const { url, close } = await serve(db, clock, log)
  const { personIds, keys } = await people(db)
  const ask = asking(url, keys, errors)
  await listMarkets(db)
  const prices = new Map<string, number>(markets.map(({ symbol, begins }) => [symbol, begins]))
  const opened = await openAccounts(db, ask, personIds)
  return {
    db,
    clock,
    ask,
    personIds,
    errors,
    close,
    prices,
    signals: [],
    ...workOf(db, clock, log),
    ...opened,
  }
}

async function people(db: Database) {
  const siteId = await insertSite(db.write, { kind: 'whitelabel', code: 'w', name: 'W', createdAt: opening })
  const { platform } = await db.read.one<{ platform: number }>`
    select id as platform from site where kind = 'platform'`
  const one = (firstName: string, more: object) => ({
    firstName,
    lastName: 'X',
    email: `${firstName}@example.org`,
    role: 'user' as const,
    siteId: platform,
    createdAt: opening,
    ...more,
  })
  const [owner = 0, holder = 0, site = 0] = await insertPersons(db.write, [
    one('owner', {}),
    one('holder', {}),
    one('site', { siteId, role: 'whitelabel_admin' }),
  ])
  const keyOf = async (personId: number): Promise<string> => {
    const wish = { personId, keyEnvironment: 'test', now: opening, expiresAt: opening + 1e12 }
    const issued = await db.transaction((tx) => issueKey(tx, secrets, wish))
    if (isRefused(issued)) throw new Error(issued.refused)
    return issued.key
  }
  const keys = { owner: await keyOf(owner), holder: await keyOf(holder), site: await keyOf(site) }
  return { personIds: { owner, holder, site }, keys }
}

const future = { securityType: 'FUT', pointValue: dec(50), tick: dec(1), initialMargin: dec(100) } as const

const listMarkets = (db: Database): Promise<unknown> =>
  replaceInstruments(
    db.write,
    [
      { symbol: 'AAPL', securityType: 'CS', lastTradingDay: null } as const,
      { symbol: 'ZZZ', securityType: 'CS', lastTradingDay: null } as const,
      { symbol: '@ESH24', ...future, lastTradingDay: '2024-03-15' } as const,
      { symbol: '@ESU24', ...future, lastTradingDay: null } as const,
      {
        symbol: 'AAPL2415C60',
        securityType: 'OPT',
        pointValue: dec(100),
        underlying: 'AAPL',
        strike: dec(60),
        putOrCall: '1',
        expiry: '2024-03-15',
        lastTradingDay: '2024-03-15',
        settlement: 'physical',
      } as const,
    ].map((wish) => completeInstrument(wish as Parameters<typeof completeInstrument>[0], 19_794)),
  )

async function openAccounts(
  db: Database,
  ask: Crossed['ask'],
  personIds: { owner: number; holder: number; site: number },
) {
  const add = async (StrategyName: string): Promise<number> =>
    resultsOf<{ StrategyId: number }>(
      await ask('owner', 'AddStrategy', { StrategyName, StartingCapital: 10_000_000 }),
    )[0]?.StrategyId ?? 0
  const [first, second] = [await add('First'), await add('Second')]
  const made = await db.transaction((tx) =>
    insertVariant(tx, {
      parentId: first,
      ownerPersonId: personIds.site,
      name: 'Half',
      scalingPercentage: 50,
      securityTypes: ['CS', 'FUT', 'OPT'],
      startingCash: undefined,
      createdAt: opening,
    }),
  )
  const variantId = Number(made)
  const brokerId = await ensureBroker(db.write, builtInBrokers.live)
  const follows = { A: [first, second], B: [first, second], C: [variantId, second], D: [first, variantId] }
  const rows = Object.keys(follows).map((account) => ({
    personId: personIds.holder,
    brokerId,
    kind: 0 as const,
    account,
    startingCash: '1000000',
    createdAt: opening,
  }))
  const ids = await insertAccounts(db.write, rows)
  const accounts = Object.entries(follows).map(([name, strategies], place) => ({
    name,
    strategies,
    id: ids[place] ?? 0,
  }))
  return { brokerId, variantId, strategies: [first, second, variantId], accounts }
}

/** A price of now for each market, or for one; a split lists the option anew, who orders it lists it again. */
export async function say({ db, work, prices, clock }: Crossed, only?: string): Promise<void> {
  const at = clock.now()
  const options = await db.read.rows<{ symbol: string }>`
    select symbol from instrument where security_type = 'OPT' order by id`
  const quotes = markets
    .filter(({ symbol }) => only === undefined || only === symbol)
    .flatMap((market) => {
      const bid = dec(prices.get(market.symbol) ?? 0)
      const ask = bid.plus(market.type === 'future' ? 1 : 0.02)
      const listed = market.type === 'option' ? options : [market]
      return listed.map(({ symbol }) => ({ symbol, bid, ask, at }))
    })
  await publishQuotes(work.ctx, quotes)
}

/** Numbers that follow from one: each choice of an act is another one of them. */
export type Dice = <T>(among: readonly T[]) => T

export function diceOf(pick: number): Dice {
  let state = (pick + 1) * 2_654_435_761
  return (among) => {
    state = (Math.imul(state ^ (state >>> 15), 2_246_822_519) + 0x9e3779b9) >>> 0
    return among[(state >>> 8) % among.length] as (typeof among)[number]
  }
}

export type Act = (life: Crossed, dice: Dice) => Promise<unknown>

export const yes = [true, false] as const
/** True once in so many. */
export const once = (count: number): readonly boolean[] => Array.from({ length: count }, (_, at) => at === 0)
