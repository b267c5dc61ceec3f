/**
 * Plays the recorded history through the platform, one trade date after the other: people act before the open,
 * bars fill what works, rules decide after the close. Days on which nothing works and nobody orders cost
 * nothing: without an order a bar changes no book.
 */

import { dec, zero } from '../domain/decimal.ts'
import { tradeDateAtOrAfter } from '../domain/market/calendar.ts'
import { type Day, hour } from '../domain/time.ts'
import { publishBars } from '../execution/orders/matcher.ts'
import { cancelStrategyOrder, newStrategyOrder } from '../operations/strategies/orders.ts'
import { hasLiveOrders, listStrategyBooks, type StrategyBook } from '../storage/orders/strategy-books.ts'
import { type StrategyName, strategyParts } from './cast.ts'
import { type Act, actsOf, type Strategies } from './follows.ts'
import type { People } from './people.ts'
import type { DemoSymbol, OrderWish, RuleView, Wishes } from './rules.ts'
import { contextOf, granted, type Stage } from './stage.ts'
import type { Tape, TapeDay } from './tape.ts'

/** What is known between two days. */
interface Progress {
  readonly strategies: Strategies
  books: ReadonlyMap<number, StrategyBook>
  /** An order may still trade: the next day must be played. */
  isLive: boolean
  /** The day whose closes are the marks. */
  markedDay: Day | undefined
}

/** Plays all days of the tape; answers the ids of the strategies in the order of their start. */
export async function playHistory(
  stage: Stage,
  people: People,
  tape: Tape,
  onDay: (done: number, total: number) => void,
): Promise<Strategies> {
  const progress: Progress = { strategies: new Map(), books: new Map(), isLive: false, markedDay: undefined }
  const acts = actsOf(stage, people, progress.strategies)
  for (const [place, day] of tape.days.entries()) {
    stage.clock.time = day.open - hour
    await actBeforeOpen(stage, people, tape, progress, acts, day)
    if (progress.isLive) await playDay(stage, progress, day)
    stage.clock.time = day.close
    tape.see(day)
    // What would be ordered after the last close had no recorded price to meet.
    if (place < tape.days.length - 1) await decideAll(stage, people, tape, progress, day)
    onDay(place + 1, tape.days.length)
  }
  return progress.strategies
}

/** Lets people act; a strategy that starts decides at once, so that it may trade at its first open. */
async function actBeforeOpen(
  stage: Stage,
  people: People,
  tape: Tape,
  progress: Progress,
  acts: Act[],
  day: TapeDay,
): Promise<void> {
  const due = acts.splice(0, acts.filter((act) => act.day <= day.day).length)
  if (due.length === 0) return
  const known = new Set(progress.strategies.keys())
  await stage.keeping.drain()
  for (const act of due) await act.run()
  await stage.keeping.drain()
  await settle(stage, progress)
  const started = [...progress.strategies.keys()].filter((name) => !known.has(name))
  if (started.length > 0) await decide(stage, people, tape, progress, started, undefined, day.day)
}

async function playDay(stage: Stage, progress: Progress, day: TapeDay): Promise<void> {
  await mark(stage, progress, day)
  stage.clock.time = day.close
  await settle(stage, progress)
}

/** Publishes the day's bars: they fill what works, and their closes become the marks. */
async function mark(stage: Stage, progress: Progress, day: TapeDay): Promise<void> {
  if (progress.markedDay === day.day) return
  await publishBars(stage.work, day.bars)
  progress.markedDay = day.day
}

/** Lets the worker finish and looks at what came of it. */
async function settle(stage: Stage, progress: Progress): Promise<void> {
  do await stage.worker.drain()
  while ((await stage.sync.drain()) > 0)
  await look(stage, progress)
}

async function look(stage: Stage, progress: Progress): Promise<void> {
  const [isLive, books] = await Promise.all([hasLiveOrders(stage.db.read), listStrategyBooks(stage.db.read)])
  progress.isLive = isLive
  progress.books = new Map(books.map((book) => [book.strategyId, book]))
}

async function decideAll(
  stage: Stage,
  people: People,
  tape: Tape,
  progress: Progress,
  day: TapeDay,
): Promise<void> {
  const nextDay = tradeDateAtOrAfter('US_EQUITY', day.day + 1)
  await decide(stage, people, tape, progress, [...progress.strategies.keys()], day, nextDay)
}

/** Asks the rules and does what they wish: cancels, and when these are through, orders. */
async function decide(
  stage: Stage,
  people: People,
  tape: Tape,
  progress: Progress,
  names: readonly StrategyName[],
  day: TapeDay | undefined,
  nextDay: Day,
): Promise<void> {
  const wished = names.flatMap((name) => {
    const strategyId = progress.strategies.get(name) ?? 0
    const rule = strategyParts.find(({ key }) => key === name)?.rule
    const book = progress.books.get(strategyId)
    if (!rule || !book) return []
    const wishes = rule(viewOf(tape, book, day?.day, nextDay))
    return wishes.cancels.length + wishes.orders.length > 0 ? [{ strategyId, wishes }] : []
  })
  if (wished.length === 0) return
  if (day) await mark(stage, progress, day)
  await cancelAll(stage, people, wished)
  await orderAll(stage, people, wished)
  // Nothing has been filled yet: AutoSync looks when the next bar has been.
  await stage.sending.drain()
  await look(stage, progress)
}

type Wished = readonly { readonly strategyId: number; readonly wishes: Wishes }[]

async function cancelAll(stage: Stage, { developer }: People, wished: Wished): Promise<void> {
  const cancels = wished.flatMap(({ strategyId, wishes }) =>
    wishes.cancels.map((signalId) => ({ StrategyId: strategyId, SignalId: signalId })),
  )
  if (cancels.length === 0) return
  for (const cancel of cancels) {
    await stage.db.transaction(async (tx) =>
      granted(await cancelStrategyOrder(contextOf(stage, tx, developer), cancel)),
    )
  }
  await stage.worker.drain()
}

async function orderAll(stage: Stage, { developer }: People, wished: Wished): Promise<void> {
  const orders = wished.flatMap(({ strategyId, wishes }) =>
    wishes.orders.map((wish) => orderOf(strategyId, wish)),
  )
  await stage.db.transaction(async (tx) => {
    const ctx = contextOf(stage, tx, developer)
    const answers = await newStrategyOrder.many(
      tx,
      orders.map((Order) => ({ ctx, params: { Order } })),
    )
    for (const answer of answers) granted(answer)
  })
}

const symbolTypes = {
  SPX: 'stock',
  AAPL: 'stock',
  '@MGCZ30': 'future',
  EURUSD: 'forex',
} as const satisfies Record<DemoSymbol, string>

const orderOf = (StrategyId: number, { symbol, side, quantity, limit, stop, isLasting }: OrderWish) => ({
  StrategyId,
  OrderType: limit ? ('2' as const) : stop ? ('3' as const) : ('1' as const),
  Side: side,
  OrderQuantity: quantity.toNumber(),
  ...(limit && { Limit: limit.toNumber() }),
  ...(stop && { Stop: stop.toNumber() }),
  TIF: isLasting ? ('1' as const) : ('0' as const),
  PlatformSymbol: { FullSymbol: symbol, SymbolType: symbolTypes[symbol] },
})

function viewOf(tape: Tape, book: StrategyBook, day: Day | undefined, nextDay: Day): RuleView {
  const { cash, positions, working } = book
  const held = (symbol: string) => positions.find((position) => position.symbol === symbol)
  return {
    day,
    nextDay,
    closes: tape.closes,
    price: tape.price,
    position: (symbol) => dec(held(symbol)?.quantity ?? zero),
    entry: (symbol) => {
      const price = held(symbol)?.avgPx
      return price === undefined ? undefined : dec(price)
    },
    cash: dec(cash),
    working,
  }
}
