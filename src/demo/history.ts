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
import { type Actor, contextOf, granted, type Stage } from './stage.ts'
import type { Tape, TapeDay } from './tape.ts'

/** A play of the history: on what, by whom, and what is known between two days. */
interface Play {
  readonly stage: Stage
  readonly tape: Tape
  /** Owns the strategies. */
  readonly developer: Actor
  /** What people have yet to do, in order. */
  readonly acts: Act[]
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
  const strategies: Strategies = new Map()
  const play: Play = {
    stage,
    tape,
    developer: people.developer,
    acts: actsOf(stage, people, strategies),
    strategies,
    books: new Map(),
    isLive: false,
    markedDay: undefined,
  }
  for (const [place, day] of tape.days.entries()) {
    stage.clock.time = day.open - hour
    await actBeforeOpen(play, day)
    if (play.isLive) await playDay(play, day)
    stage.clock.time = day.close
    tape.see(day)
    // What would be ordered after the last close had no recorded price to meet.
    if (place < tape.days.length - 1) await decideAll(play, day)
    onDay(place + 1, tape.days.length)
  }
  return strategies
}

/** Lets people act; a strategy that starts decides at once, so that it may trade at its first open. */
async function actBeforeOpen(play: Play, { day }: TapeDay): Promise<void> {
  const { stage, acts, strategies } = play
  const due = acts.splice(0, acts.filter((act) => act.day <= day).length)
  if (due.length === 0) return
  const known = new Set(strategies.keys())
  await stage.keeping.drain()
  for (const act of due) await act.run()
  await stage.keeping.drain()
  await settle(play)
  const started = [...strategies.keys()].filter((name) => !known.has(name))
  if (started.length > 0) await decide(play, started, undefined, day)
}

async function playDay(play: Play, day: TapeDay): Promise<void> {
  await mark(play, day)
  play.stage.clock.time = day.close
  await settle(play)
}

/** Publishes the day's bars: they fill what works, and their closes become the marks. */
async function mark(play: Play, day: TapeDay): Promise<void> {
  if (play.markedDay === day.day) return
  await publishBars(play.stage.work, day.bars)
  play.markedDay = day.day
}

/** Lets the worker finish and looks at what came of it. */
async function settle(play: Play): Promise<void> {
  do await play.stage.worker.drain()
  while ((await play.stage.sync.drain()) > 0)
  await look(play)
}

async function look(play: Play): Promise<void> {
  const { read } = play.stage.db
  const [isLive, books] = await Promise.all([hasLiveOrders(read), listStrategyBooks(read)])
  play.isLive = isLive
  play.books = new Map(books.map((book) => [book.strategyId, book]))
}

async function decideAll(play: Play, day: TapeDay): Promise<void> {
  const nextDay = tradeDateAtOrAfter('US_EQUITY', day.day + 1)
  await decide(play, [...play.strategies.keys()], day, nextDay)
}

/** Asks the rules and does what they wish: cancels, and when these are through, orders. */
async function decide(
  play: Play,
  names: readonly StrategyName[],
  day: TapeDay | undefined,
  nextDay: Day,
): Promise<void> {
  const wished = names.flatMap((name) => {
    const strategyId = play.strategies.get(name) ?? 0
    const rule = strategyParts.find(({ key }) => key === name)?.rule
    const book = play.books.get(strategyId)
    if (!rule || !book) return []
    const wishes = rule(viewOf(play.tape, book, day?.day, nextDay))
    return wishes.cancels.length + wishes.orders.length > 0 ? [{ strategyId, wishes }] : []
  })
  if (wished.length === 0) return
  if (day) await mark(play, day)
  await cancelAll(play, wished)
  await orderAll(play, wished)
  // Nothing has been filled yet: AutoSync looks when the next bar has been.
  await play.stage.sending.drain()
  await look(play)
}

type Wished = readonly { readonly strategyId: number; readonly wishes: Wishes }[]

async function cancelAll({ stage, developer }: Play, wished: Wished): Promise<void> {
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

async function orderAll({ stage, developer }: Play, wished: Wished): Promise<void> {
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
