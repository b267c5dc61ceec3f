/**
 * Random lives of people who subscribe, choose plans, pay or cannot, leave and come back, while prices, markups, shares of
 * gains and what is offered change under them, and an operator notes or lets go what they have not paid, over month ends, a leap day and changes of the hour. After everything that
 * happens all charges, lists and balances are those of a plain model of the page on fees.
 * MONEY_RUNS=<number> lives more lives; SEED names others.
 */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Happening, livesOf } from '../execution/lives.ts'
import { testPlatform } from '../support/platform.ts'
import { checkMoney } from './support/money-checks.ts'
import { MoneyLife } from './support/money-life.ts'

const platform = await testPlatform()
const runs = Number(process.env.MONEY_RUNS ?? 3)

const weights: Record<string, number> = {
  wait: 24,
  start: 16,
  choose: 14,
  quote: 14,
  trade: 12,
  stop: 10,
  methods: 14,
  catalog: 5,
  alive: 2,
  settle: 3,
  waive: 5,
  cancel: 2,
  retry: 2,
  closed: 1,
  withdraw: 1,
}
const acts = Object.keys(new MoneyLife(platform).acts)
const lives = fc.record({
  pick: fc.nat(10_000),
  story: livesOf(acts, weights, { usual: 4, minLength: 40, maxLength: 70 }),
})

/** With what every life begins, so that there is something to pay. */
const beginning = [
  ...['price', 'price', 'price', 'percent', 'percent', 'percent', 'catalog', 'catalog', 'markup', 'markup'],
  ...['start', 'start', 'start', 'start', 'start', 'start', 'choose', 'choose', 'trade', 'trade'],
]

/** What changes nothing that is shown before something else happens. */
const unseen = new Set(['methods', 'quote', 'trade', 'closed'])

/** What came of all lives: a kind of charge that there never was would prove nothing. */
const counted = new Map<string, number>()
const count = (what: string): void => void counted.set(what, (counted.get(what) ?? 0) + 1)

async function live(lived: { pick: number; story: readonly Happening[] }): Promise<void> {
  const life = new MoneyLife(platform)
  await life.live(lived, beginning, async (act) => {
    if (!unseen.has(act)) await checkMoney(life)
  })
  for (const { purpose, status } of life.model.charges) count(`${purpose} ${status}`)
  for (const { plan, kind, status } of life.model.subscriptions) count(`${plan ? 'plan' : kind} ${status}`)
}

test('everything costs what the page says', { timeout: 3_000_000 }, async () => {
  await fc.assert(fc.asyncProperty(lives, live), { numRuns: runs, endOnFailure: true })
  console.info([...counted].map(([what, times]) => `${what} ${times}`).join(', '))
  // Which of them a few lives of another seed bring is left to chance.
  if (process.env.SEED !== undefined) return
  for (const what of [
    'term paid',
    'performance paid',
    'upgrade paid',
    'term failed',
    'term waived',
    'paid ended',
  ])
    expect(counted.get(what) ?? 0, what).toBeGreaterThan(0)
})
