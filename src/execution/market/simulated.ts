/**
 * A market that nobody trades on: quotes of correlated random walks that carry on from the last marks, each
 * instrument in its own sessions. Chance is a function of seed, step and symbol alone, and a step is a moment
 * of business time: the same seed and the same start give the same path, whoever runs it, and an instrument's
 * path does not depend on which others are simulated beside it.
 */

import { type Decimal, dec } from '../../domain/decimal.ts'
import { type CalendarName, isOpen } from '../../domain/market/calendar.ts'
import { hour, type Instant } from '../../domain/time.ts'
import type { Database } from '../../storage/database/database.ts'
import { loadMarks } from '../../storage/market/quotes.ts'
import { listSwitches } from '../../storage/work/switches.ts'
import type { WorkContext } from '../context.ts'
import { pause } from '../leases.ts'
import { normal, uniform } from './chance.ts'
import type { Feed, MarketQuote } from './feed.ts'

export interface SimulatedInstrument {
  readonly symbol: string
  /** Standard deviation of a year's logarithmic change, as 0.2, for a market that never rests. */
  readonly volatility: number
  /** How much of the change is the whole market's, -1 to 1: two instruments correlate by the product of theirs. */
  readonly loading: number
  /** Widest distance of bid and ask in ticks, at least 1. */
  readonly spreadTicks: number
  /** Largest displayed size, at least 1. */
  readonly size: number
}

/** What is simulated, as the switch `simulation` says it. */
export interface SimulationPlan {
  readonly seed: number
  /** Milliseconds from quote to quote. */
  readonly stepMs: number
  readonly instruments: readonly SimulatedInstrument[]
}

/** The name of the switch that holds the plan; without it nothing is simulated. */
export const simulationSwitch = 'simulation'

/** Where a walk stands. The price is not rounded: a walk in ticks would stand still or drift. */
export interface Walk {
  readonly instrument: SimulatedInstrument
  readonly calendar: CalendarName
  readonly tick: Decimal
  readonly price: number
}

/** The walks and their quotes one step later. Instruments out of session wait and show nothing. */
export function simulateStep(
  plan: SimulationPlan,
  walks: readonly Walk[],
  step: number,
): { walks: Walk[]; quotes: MarketQuote[] } {
  const at = step * plan.stepMs
  const market = normal(plan.seed, step, 'market')
  const moved = walks.map((walk) => (isOpen(walk.calendar, at) ? movedBy(plan, walk, step, market) : walk))
  const quotes = moved.filter((walk, place) => walk !== walks[place]).map((walk) => quoteOf(plan, walk, step))
  return { walks: moved, quotes }
}

const yearLength = 365.25 * 24 * hour

function movedBy(plan: SimulationPlan, walk: Walk, step: number, market: number): Walk {
  const { volatility, loading, symbol, spreadTicks } = walk.instrument
  const own = normal(plan.seed, step, `walk ${symbol}`)
  const share = loading * market + Math.sqrt(1 - loading ** 2) * own
  const deviation = volatility * Math.sqrt(plan.stepMs / yearLength)
  const price = walk.price * Math.exp(deviation * share - deviation ** 2 / 2)
  // Room for a bid above zero.
  return { ...walk, price: Math.max(price, walk.tick.toNumber() * (spreadTicks + 1)) }
}

function quoteOf({ seed, stepMs }: SimulationPlan, walk: Walk, step: number): MarketQuote {
  const { symbol, spreadTicks, size } = walk.instrument
  const among = (count: number, what: string): number =>
    1 + Math.floor(uniform(seed, step, `${what} ${symbol}`) * count)
  const spread = among(spreadTicks, 'spread')
  const bid = Math.round(walk.price / walk.tick.toNumber() - spread / 2)
  return {
    symbol,
    bid: walk.tick.times(bid),
    ask: walk.tick.times(bid + spread),
    bidSize: dec(among(size, 'bid size')),
    askSize: dec(among(size, 'ask size')),
    at: step * stepMs,
  }
}

/** Publishes the plan's quotes from the last marks on; ends when there is no plan. */
export function simulatedFeed(db: Database, clock: WorkContext['clock'], wait: typeof pause = pause): Feed {
  return {
    name: 'simulated',
    async run(sink, signal) {
      const plan = (await listSwitches(db.read)).get(simulationSwitch) as SimulationPlan | undefined
      if (!plan) return
      let walks = await startWalks(db, plan)
      let last = stepAt(plan, clock.now())
      while (!signal.aborted) {
        const step = stepAt(plan, clock.now())
        // After the clock was set back the market goes on from there, or it would stand still. A clock that trembles where
        // two steps meet was not set back: the later one would be played twice.
        if (step < last - 1) last = step
        if (step <= last) {
          await wait(Math.max(1, (last + 1) * plan.stepMs - clock.now()), signal)
          continue
        }
        const next = simulateStep(plan, walks, step)
        walks = next.walks
        last = step
        if (next.quotes.length > 0) await sink.quotes(next.quotes)
      }
    },
  }
}

const stepAt = ({ stepMs }: SimulationPlan, at: Instant): number => Math.floor(at / stepMs)

/** Each walk starts in the middle of the last quote; without one there is nothing to carry on. */
async function startWalks({ read }: Database, plan: SimulationPlan): Promise<Walk[]> {
  const marks = await loadMarks(
    read,
    plan.instruments.map(({ symbol }) => symbol),
  )
  return plan.instruments.flatMap((instrument) => {
    const mark = marks.get(instrument.symbol)
    if (!mark) return []
    const { calendar, tick, mid } = mark
    return [{ instrument, calendar, tick, price: mid.toNumber() }]
  })
}
