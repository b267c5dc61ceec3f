import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { dayLength } from '../time.ts'
import { afterWebhookTry, nextWebhookTry, webhookRest } from './webhook.ts'

/** The moments of all tries after a first one at 0. */
function tries(chance: (attempt: number) => number): number[] {
  const moments = [0]
  for (;;) {
    const last = moments.at(-1) ?? 0
    const next = nextWebhookTry(moments.length, last, chance(moments.length))
    if (next === undefined) return moments
    moments.push(next)
  }
}

describe('the tries', () => {
  test('ten within three days, the last at their end', () => {
    expect(tries(() => 0).map((at) => at / 1000)).toEqual([
      0, 5, 300, 2100, 9000, 27_000, 63_000, 113_400, 185_400, 259_200,
    ])
  })

  test('chance makes them earlier by a tenth at most, and never reorders them', () => {
    fc.assert(
      fc.property(fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 9 }), (chances) => {
        const moments = tries((attempt) => chances[attempt - 1] ?? 0)
        expect(moments).toHaveLength(10)
        expect(moments).toEqual([...moments].sort((a, b) => a - b))
        const end = moments.at(-1) ?? 0
        expect(end).toBeLessThanOrEqual(3 * dayLength)
        expect(end).toBeGreaterThanOrEqual(3 * dayLength * 0.9 - 10)
      }),
    )
  })
})

test.each([
  [4, null],
  [5, 61_000],
])('after %i failures an endpoint rests until %s', (failures, until) => {
  expect(webhookRest(failures, 1000)).toBe(until)
})

test.each<[string, Parameters<typeof afterWebhookTry>[0], ReturnType<typeof afterWebhookTry>]>([
  ['any 2xx is success', { status: 204, attempts: 1, hasTakenSince: false }, 'delivered'],
  [
    'what is still to be answered is not',
    { status: 103, attempts: 1, hasTakenSince: false },
    { nextTryAt: 5_000, disables: null },
  ],
  ['200 is', { status: 200, attempts: 1, hasTakenSince: false }, 'delivered'],
  ['299 is', { status: 299, attempts: 1, hasTakenSince: false }, 'delivered'],
  ['300 is not', { status: 300, attempts: 1, hasTakenSince: false }, { nextTryAt: 5_000, disables: null }],
  [
    'a redirect is not',
    { status: 302, attempts: 1, hasTakenSince: false },
    { nextTryAt: 5_000, disables: null },
  ],
  [
    'no answer is not',
    { status: undefined, attempts: 2, hasTakenSince: false },
    { nextTryAt: 295_000, disables: null },
  ],
  [
    '410 ends the endpoint',
    { status: 410, attempts: 1, hasTakenSince: true },
    { nextTryAt: 5_000, disables: 'it answered 410' },
  ],
  [
    'so does the last try',
    { status: 500, attempts: 10, hasTakenSince: false },
    { nextTryAt: null, disables: 'it took nothing for three days' },
  ],
  [
    'but not where something was taken since',
    { status: 500, attempts: 10, hasTakenSince: true },
    { nextTryAt: null, disables: null },
  ],
])('%s', (_, tried, expected) => {
  expect(afterWebhookTry(tried, 0, 0)).toEqual(expected)
})
