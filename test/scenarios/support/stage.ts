/**
 * Where scenarios play: names of people, strategies, accounts, instruments and signals, and the calls behind
 * them. Everything goes over HTTP as a trader's program would send it; only what no operation shows yet (cash,
 * skips, executions) is read from the rows.
 */
import { type Answer, type Call, call, faultsOf, resultsOf } from '../../support/http.ts'
import type { TestPlatform } from '../../support/platform.ts'

interface Person {
  readonly personId: number
  readonly key: string
}

export interface Strategy {
  readonly strategyId: number
  readonly owner: Person
}

export interface Account {
  readonly account: string
  readonly holder: Person
  /** How many of its orders the story has seen. */
  seen: number
}

export interface Signal {
  readonly signalId: number
  readonly strategy: Strategy
  /** The order as it was sent. */
  readonly order: Record<string, unknown>
}

interface Instrument {
  readonly symbol: string
  readonly symbolType: string
}

/** An order as both listings show it. */
export interface OrderRow {
  readonly Id: number
  readonly SignalId: number
  /** Our client order id in an account. */
  readonly OrderId: string
  readonly OrderStatus: string
  readonly OrderType: string
  readonly Side: string
  readonly OpenClose: string
  readonly OrderQuantity: number
  readonly FilledQuantity: number
  readonly AvgFillPrice: number
  readonly Limit?: number
  readonly Stop?: number
  readonly TIF: string
  readonly Info?: string
  readonly RejectMessage?: string
  readonly ParentSignalId?: number
  readonly PlatformSymbol: { FullSymbol: string }
}

export interface PositionRow {
  readonly Quantity: number
  readonly AvgPx: number
  readonly PlatformSymbol: { FullSymbol: string }
}

export interface Stage {
  readonly platform: TestPlatform
  readonly people: Map<string, Person>
  readonly strategies: Map<string, Strategy>
  readonly accounts: Map<string, Account>
  readonly instruments: Map<string, Instrument>
  readonly signals: Map<string, Signal>
  now: number
}

export const createStage = (platform: TestPlatform): Stage => ({
  platform,
  people: new Map(),
  strategies: new Map(),
  accounts: new Map(),
  instruments: new Map(),
  signals: new Map(),
  now: 0,
})

/** What stands under a name. Throws when the story has not introduced it. */
export function named<T>(things: ReadonlyMap<string, T>, name: string | undefined): T {
  const thing = things.get(name ?? '')
  if (thing === undefined)
    throw new Error(`nothing is called ${name}; known: ${[...things.keys()].join(', ')}`)
  return thing
}

/** A call of the door that must succeed. */
export async function door<T = unknown>({ platform }: Stage, path: string, body?: unknown): Promise<T> {
  const answer = await call(platform.url, `/test${path}`, body === undefined ? {} : { body })
  if (answer.status !== 200) throw new Error(`/test${path} answered ${answer.status} ${answer.text}`)
  return answer.json as T
}

/** A call of an operation on the general host. */
export const ask = (stage: Stage, key: string, path: string, rest: Call = {}): Promise<Answer> =>
  call(stage.platform.url, `/gen${path}`, { ...rest, key })

/** Forgets everything and begins at this time. */
export async function reset(stage: Stage, now: string, commissions = 'none'): Promise<void> {
  for (const things of [stage.people, stage.strategies, stage.accounts, stage.instruments, stage.signals])
    things.clear()
  await door(stage, '/reset', { now, commissions })
  stage.now = Date.parse(now)
}

/** The person of this name, made when the story meets him for the first time. */
export async function person(stage: Stage, name: string): Promise<Person> {
  const known = stage.people.get(name)
  if (known) return known
  const [made] = await door<Person[]>(stage, '/people', [
    { firstName: name, lastName: name, email: `${name}@example.org`, role: 'user' },
  ])
  if (!made) throw new Error('nobody was made')
  stage.people.set(name, made)
  return made
}

export const symbolOf = (
  stage: Stage,
  name: string | undefined,
): { FullSymbol: string; SymbolType: string } => {
  const { symbol, symbolType } = named(stage.instruments, name)
  return { FullSymbol: symbol, SymbolType: symbolType }
}

/** The story's name of an instrument. */
export function nameOf(stage: Stage, symbol: string): string {
  for (const [name, instrument] of stage.instruments) if (instrument.symbol === symbol) return name
  return symbol
}

/** What became of a request: `200`, or the status with the codes and fields of its faults. */
export const outcomeOf = (answer: Answer): string =>
  answer.status === 200 ? '200' : [answer.status, ...faultsOf(answer)].join(' ')

function query(params: Record<string, string | number>): string {
  const pairs = Object.entries(params).map(([name, value]): [string, string] => [name, String(value)])
  return `?${new URLSearchParams(pairs)}`
}

/** A signal as the owner sees it, at work or in the history. */
export async function findSignalRow(stage: Stage, { signalId, strategy }: Signal): Promise<OrderRow> {
  const { strategyId, owner } = strategy
  const active = await ask(
    stage,
    owner.key,
    `/Strategies/GetStrategyActiveOrders${query({ StrategyIds: strategyId })}`,
  )
  const ended = await ask(
    stage,
    owner.key,
    `/Strategies/GetStrategyHistoricalOrders${query({ SignalId: signalId })}`,
  )
  const rows = [...resultsOf<OrderRow>(active), ...resultsOf<OrderRow>(ended)]
  const row = rows.find(({ Id }) => Id === signalId)
  if (!row) throw new Error(`signal ${signalId} is in no listing`)
  return row
}

/** All orders of an account, the oldest first. */
export async function accountOrders(stage: Stage, { account, holder }: Account): Promise<OrderRow[]> {
  const params = query({ Account: account, PersonId: holder.personId })
  const answer = await ask(stage, holder.key, `/Autotrade/GetAutotradeHistoricalOrders${params}`)
  return resultsOf<OrderRow>(answer).sort((a, b) => a.Id - b.Id)
}

/** The open positions of a strategy or an account. */
export async function positionsOf(stage: Stage, name: string): Promise<PositionRow[]> {
  const strategy = stage.strategies.get(name)
  if (strategy) {
    const path = `/Strategies/GetStrategyOpenPositions${query({ StrategyIds: strategy.strategyId })}`
    return resultsOf<PositionRow>(await ask(stage, strategy.owner.key, path))
  }
  const { account, holder } = named(stage.accounts, name)
  const path = `/Autotrade/GetAutoTradeOpenPositions${query({ Account: account })}`
  return resultsOf<PositionRow>(await ask(stage, holder.key, path))
}
