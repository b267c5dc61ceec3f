import { expect, test } from 'vitest'
import { dec } from '../decimal.ts'
import { dayLength } from '../time.ts'
import { type SimFacts, simResult, simSkip } from './simulation.ts'

const open: SimFacts = {
  isAlive: true,
  isHidden: false,
  isOffered: true,
  present: null,
  lastSimulationEndedAt: null,
}

test.each<[string, Partial<SimFacts> | undefined, string | undefined]>([
  ['an open one', {}, undefined],
  ['none', undefined, 'strategy_not_found'],
  ['a dead one', { isAlive: false, isHidden: true }, 'strategy_not_alive'],
  ['a private one', { isHidden: true, isOffered: false }, 'strategy_private'],
  ['one that the site does not offer', { isOffered: false, present: 'paid' }, 'not_in_site_catalog'],
  ['one that is followed', { present: 'paid' }, 'already_subscribed'],
  ['one that is followed on paper', { present: 'paper' }, 'already_subscribed'],
  ['one that is simulated', { present: 'simulated' }, 'already_simulated'],
  ['one that was simulated 29 days ago', { lastSimulationEndedAt: 71 * dayLength }, 'simulated_recently'],
  ['one that was simulated 30 days ago', { lastSimulationEndedAt: 70 * dayLength }, undefined],
])('%s', (_, facts, expected) => {
  expect(simSkip(facts && { ...open, ...facts }, 100 * dayLength)).toBe(expected)
})

test.each([
  [100_000, 112_000, 12_000, 12],
  [100_000, 95_000, -5_000, -5],
  [0, 10, 10, null],
  [null, 10, null, null],
  [10, null, null, null],
])('from %s to %s', (from, to, delta, percent) => {
  const result = simResult(from === null ? null : dec(from), to === null ? null : dec(to))
  expect([result.delta?.toNumber() ?? null, result.percent?.toNumber() ?? null]).toEqual([delta, percent])
})
