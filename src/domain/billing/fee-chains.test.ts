/** Fees of setups that are started, stopped, closed late or left open, under percentages that change with the terms. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { dec } from '../decimal.ts'
import { type FeeSettlement, settleChain } from './performance-fee.ts'

type State = 'live' | 'closing' | 'closed' | 'left open'

interface Followed {
  state: State
  gain: number
  /** Of its gain what was counted at the last settlement. */
  counted: number
  isDue: boolean
  before: (FeeSettlement & { settledAt: number }) | null
}

type Act = (followed: Followed[]) => void

const isHeld = ({ state }: Followed): boolean => state === 'live' || state === 'closing'

const begin: Act = (followed) => {
  if (followed.at(-1)?.state !== 'live')
    followed.push({ state: 'live', gain: 0, counted: 0, isDue: true, before: null })
}

const stop =
  (state: State): Act =>
  (followed) => {
    const last = followed.at(-1)
    if (last?.state === 'live') last.state = state
  }

const close =
  (place: number): Act =>
  (followed) => {
    const one = followed[place]
    if (one?.state === 'closing') one.state = 'closed'
  }

/**
 * What is held gains or loses; what is closed is taken back, or given back. What was left open is its holder's: what it
 * gains after its settlement counts for nobody.
 */
const move =
  (by: number, place: number): Act =>
  (followed) => {
    const one = followed[place]
    if (one) one.gain += by
  }

const places = fc.nat(6)
const acts: fc.Arbitrary<Act | { percent: number }> = fc.oneof(
  fc.constant(begin),
  fc.constantFrom<State>('closing', 'closed', 'left open').map(stop),
  places.map(close),
  fc.tuple(fc.integer({ min: -3000, max: 3000 }), places).map(([by, place]) => move(by, place)),
  fc.constantFrom(0, 10, 25, 25).map((percent) => ({ percent })),
)

/** The fee of a term's end; each setup is left as it was settled. */
function settle(followed: Followed[], percent: number, settledAt: number): number {
  const chain = followed.map((of, place) => ({
    of,
    before: of.before,
    isDue: of.isDue,
    isClosed: of.state === 'closed',
    gain: dec(of.gain),
    startedEquity: dec(777.77 * place),
  }))
  let fee = dec(0)
  for (const { setup, settlement } of settleChain(chain, dec(percent).div(100))) {
    expect(setup.isDue || !setup.gain.equals(setup.before?.gain ?? 0)).toBe(true)
    setup.of.before = { ...settlement, settledAt }
    setup.of.isDue = isHeld(setup.of)
    fee = fee.plus(settlement.fee)
  }
  return fee.toNumber()
}

test('each fee is the share of what all setups together exceed the highest gain that was settled by', () => {
  fc.assert(
    fc.property(fc.array(acts, { maxLength: 40, size: 'max' }), (steps) => {
      const followed: Followed[] = []
      let highest = 0
      for (const [at, step] of steps.entries()) {
        if (typeof step === 'function') {
          step(followed)
          continue
        }
        // What was taken back waits for a setup that is due, unless gains pass free.
        const isSettled = step.percent === 0 || followed.some(({ isDue }) => isDue)
        if (isSettled)
          for (const one of followed) if (one.isDue || one.state === 'closed') one.counted = one.gain
        const counted = followed.reduce((sum, one) => sum + one.counted, 0)
        const fee = (Math.max(0, counted - highest) * step.percent) / 100
        expect(settle(followed, step.percent, at + 1)).toBeCloseTo(fee, 2)
        highest = Math.max(highest, counted)
      }
    }),
    { numRuns: 2000 },
  )
})
