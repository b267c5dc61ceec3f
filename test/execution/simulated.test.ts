/** Simulated quotes: one path per seed and start, fit for the matcher, correlated as said. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { dec } from '../../src/domain/decimal.ts'
import type { CalendarName } from '../../src/domain/market/calendar.ts'
import type { MarketQuote } from '../../src/execution/market/feed.ts'
import {
  type SimulatedInstrument,
  type SimulationPlan,
  simulatedFeed,
  simulateStep,
  simulationSwitch,
  type Walk,
} from '../../src/execution/market/simulated.ts'
import { publishQuotes } from '../../src/execution/orders/matcher.ts'
import { setSwitch } from '../../src/storage/work/switches.ts'
import { testDatabase } from '../support/database.ts'
import { addInstrument, makeWorld, opening, quote } from './world.ts'

const instrument = (symbol: string, wish: Partial<SimulatedInstrument> = {}): SimulatedInstrument => ({
  symbol,
  volatility: 0.2,
  loading: 0.5,
  spreadTicks: 3,
  size: 500,
  ...wish,
})

const walk = (instrument: SimulatedInstrument, price = 100, calendar: CalendarName = 'CONTINUOUS'): Walk => ({
  instrument,
  calendar,
  tick: dec('0.01'),
  price,
})

const stepMs = 250
const planOf = (walks: readonly Walk[], seed = 7): SimulationPlan => ({
  seed,
  stepMs,
  instruments: walks.map(({ instrument }) => instrument),
})

/** The quotes of `count` steps from `first` on, and where the walks end. */
function run(plan: SimulationPlan, walks: readonly Walk[], first: number, count: number) {
  let current = [...walks]
  const quotes: MarketQuote[] = []
  for (let step = first; step < first + count; step++) {
    const next = simulateStep(plan, current, step)
    current = next.walks
    quotes.push(...next.quotes)
  }
  return { walks: current, quotes }
}

const symbolOf = (quote: MarketQuote): string => ('symbol' in quote ? quote.symbol : '')
const firstStep = Math.floor(opening / stepMs)

describe('a simulated path', () => {
  const seeds = fc.integer({ min: 0, max: 2 ** 31 })
  const prices = fc.double({ min: 0.02, max: 50_000, noNaN: true })

  test('is the same for the same seed and start, another for another seed', () => {
    fc.assert(
      fc.property(seeds, prices, (seed, price) => {
        const walks = [walk(instrument('A'), price), walk(instrument('B'), price)]
        const path = run(planOf(walks, seed), walks, firstStep, 20)
        expect(run(planOf(walks, seed), walks, firstStep, 20)).toEqual(path)
        expect(run(planOf(walks, seed + 1), walks, firstStep, 20).walks).not.toEqual(path.walks)
      }),
      { numRuns: 50 },
    )
  })

  test('may be cut anywhere and carried on by another', () => {
    fc.assert(
      fc.property(seeds, fc.integer({ min: 0, max: 30 }), (seed, cut) => {
        const walks = [walk(instrument('A')), walk(instrument('B'))]
        const plan = planOf(walks, seed)
        const before = run(plan, walks, firstStep, cut)
        const after = run(plan, before.walks, firstStep + cut, 30 - cut)
        expect([...before.quotes, ...after.quotes]).toEqual(run(plan, walks, firstStep, 30).quotes)
      }),
      { numRuns: 50 },
    )
  })

  test('does not depend on what is simulated beside it', () => {
    const alone = [walk(instrument('A'))]
    const both = [walk(instrument('B')), walk(instrument('A'))]
    const ofA = run(planOf(both), both, firstStep, 50).quotes.filter((quote) => symbolOf(quote) === 'A')
    expect(run(planOf(alone), alone, firstStep, 50).quotes).toEqual(ofA)
  })

  test('every quote has a positive bid below its ask, on the tick, within its spread and sizes', () => {
    fc.assert(
      fc.property(
        seeds,
        prices,
        fc.integer({ min: 1, max: 9 }),
        fc.double({ min: 0, max: 500, noNaN: true }),
        (seed, price, spreadTicks, volatility) => {
          const walks = [walk(instrument('A', { spreadTicks, volatility }), price)]
          for (const { bid, ask, bidSize, askSize } of run(planOf(walks, seed), walks, firstStep, 20)
            .quotes) {
            const ticks = ask.minus(bid).div('0.01').toNumber()
            expect(bid.greaterThan(0)).toBe(true)
            expect(bid.mod('0.01').isZero()).toBe(true)
            expect(ticks).toBeGreaterThanOrEqual(1)
            expect(ticks).toBeLessThanOrEqual(spreadTicks)
            for (const size of [bidSize, askSize]) {
              expect(size?.isInteger()).toBe(true)
              expect(size?.toNumber()).toBeGreaterThanOrEqual(1)
              expect(size?.toNumber()).toBeLessThanOrEqual(500)
            }
          }
        },
      ),
      { numRuns: 100 },
    )
  })
})

test('an instrument out of session shows nothing and waits at its price', () => {
  const walks = [walk(instrument('DAY'), 100, 'US_EQUITY'), walk(instrument('ALWAYS'))]
  const night = Math.floor(Date.parse('2024-03-13T03:00:00Z') / stepMs)
  const { walks: after, quotes } = run(planOf(walks), walks, night, 10)
  expect(new Set(quotes.map(symbolOf))).toEqual(new Set(['ALWAYS']))
  expect(after[0]).toBe(walks[0])
  const atOpen = Math.floor(Date.parse('2024-03-13T13:30:00Z') / stepMs)
  const [beforeOpen, inSession] = [atOpen - 1, atOpen].map((step) => simulateStep(planOf(walks), walks, step))
  expect(beforeOpen?.quotes.map(symbolOf)).toEqual(['ALWAYS'])
  expect(inSession?.quotes.map(symbolOf)).toEqual(['DAY', 'ALWAYS'])
})

test('changes have the deviation and the correlation that the plan says', () => {
  const walks = [
    walk(instrument('A', { loading: 0.8 })),
    walk(instrument('B', { loading: 0.6, volatility: 0.4 })),
    walk(instrument('C', { loading: -0.5 })),
    walk(instrument('D', { loading: 0 })),
  ]
  const count = 20_000
  const changes = walks.map(() => new Float64Array(count))
  for (let step = 0; step < count; step++) {
    const next = simulateStep(planOf(walks), walks, firstStep + step)
    next.walks.forEach(({ price }, place) => {
      changes[place]![step] = Math.log(price / 100)
    })
  }
  const product = (a: number, b: number): number =>
    changes[a]!.reduce((sum, change, step) => sum + change * changes[b]![step]!, 0) / count
  const deviation = (place: number): number => Math.sqrt(product(place, place))
  const perStep = Math.sqrt(stepMs / (365.25 * 86_400_000))
  expect(deviation(0) / (0.2 * perStep)).toBeCloseTo(1, 1)
  expect(deviation(1) / (0.4 * perStep)).toBeCloseTo(1, 1)
  const correlation = (a: number, b: number): number => product(a, b) / deviation(a) / deviation(b)
  expect(Math.abs(correlation(0, 1) - 0.48)).toBeLessThan(0.03)
  expect(Math.abs(correlation(0, 2) + 0.4)).toBeLessThan(0.03)
  expect(Math.abs(correlation(0, 3))).toBeLessThan(0.03)
})

describe('the feed', () => {
  test('carries on from the last marks, once per step, until it is stopped', async () => {
    const { db } = await testDatabase()
    const { ctx, clock } = makeWorld(db)
    const { symbol } = await addInstrument(db, { calendar: 'CONTINUOUS' })
    const { symbol: unquoted } = await addInstrument(db, { calendar: 'CONTINUOUS' })
    await publishQuotes(ctx, [quote(symbol, '99.90', '100.10')])
    const plan = planOf([walk(instrument(symbol)), walk(instrument(unquoted))])
    await setSwitch(db.write, simulationSwitch, plan, opening)
    const published: MarketQuote[] = []
    const ending = new AbortController()
    const wait = async (milliseconds: number) => {
      expect(milliseconds).toBeGreaterThan(0)
      clock.time += milliseconds
      if (clock.time > opening + 10 * stepMs) ending.abort()
    }
    const sink = {
      quotes: async (quotes: readonly MarketQuote[]) => void published.push(...quotes),
      bars: async () => {},
    }
    await simulatedFeed(db, clock, wait).run(sink, ending.signal)
    const walks = [walk(instrument(symbol))]
    expect(published).toEqual(run(plan, walks, firstStep + 1, 10).quotes)
  })

  /** Moments of the first `count` quotes, under a clock that somebody moves after each, and the waits between them. */
  async function playedUnder(
    count: number,
    moves: (clock: { time: number }, played: number) => void,
  ): Promise<{ published: number[]; waits: number[] }> {
    const { db } = await testDatabase()
    const { ctx, clock } = makeWorld(db)
    const { symbol } = await addInstrument(db, { calendar: 'CONTINUOUS' })
    await publishQuotes(ctx, [quote(symbol, '99.90', '100.10')])
    await setSwitch(db.write, simulationSwitch, planOf([walk(instrument(symbol))]), opening)
    const published: number[] = []
    const waits: number[] = []
    const ending = new AbortController()
    const wait = async (milliseconds: number) => {
      waits.push(milliseconds)
      clock.time += milliseconds
    }
    const sink = {
      quotes: async (quotes: readonly MarketQuote[]) => {
        published.push(...quotes.map(({ at }) => at))
        moves(clock, published.length)
        if (published.length === count) ending.abort()
      },
      bars: async () => {},
    }
    await simulatedFeed(db, clock, wait).run(sink, ending.signal)
    return { published, waits }
  }

  test('goes on when the clock is set back', async () => {
    const hour = 3_600_000
    const { published, waits } = await playedUnder(4, (clock, played) => {
      if (played === 2) clock.time -= hour
    })
    const start = (firstStep + 1) * stepMs
    const second = start + stepMs
    expect(Math.max(...waits)).toBeLessThanOrEqual(stepMs)
    expect(published).toEqual([start, second, second + stepMs - hour, second + 2 * stepMs - hour])
  })

  test('plays a step once under a clock that trembles where two meet', async () => {
    const { published } = await playedUnder(3, (clock) => {
      clock.time -= 1
    })
    expect(published).toEqual([1, 2, 3].map((step) => (firstStep + step) * stepMs))
  })

  test('ends at once where nothing is to be simulated', async () => {
    const { db } = await testDatabase()
    const { clock } = makeWorld(db)
    const sink = {
      quotes: () => Promise.reject(new Error('a quote')),
      bars: () => Promise.reject(new Error('a bar')),
    }
    await simulatedFeed(db, clock).run(sink, new AbortController().signal)
  })
})
