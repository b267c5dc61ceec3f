/**
 * Random lives in which much meets that other lives keep apart: two strategies and a variant in the same accounts, stocks
 * that are split, pay and are delisted, a future and an option that end, exits and chains placed over the interface,
 * holders who trade, confirm and change their minds, brokers of every mood, workers that die, nights. After quiet no rule
 * of the audit is broken, the books are the broker's, every setup holds what is meant for it or a reason lasts, cash is
 * what was traded, and nothing is left half done. CROSSED_RUNS=<number> lives more lives; SEED names others.
 */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { auditViolations } from '../../src/storage/operating/audit.ts'
import { testDatabase } from '../support/database.ts'
import { acts, weights } from './crossed-acts.ts'
import { follow } from './crossed-people.ts'
import { comeToRest, expectRest } from './crossed-rest.ts'
import { begin, type Crossed, diceOf, say } from './crossed-world.ts'
import { type Happening, livesOf } from './lives.ts'

const { db } = await testDatabase()
const runs = Number(process.env.CROSSED_RUNS ?? 8)

/** What happened over all lives. */
const counted = new Map<string, number>()
const count = (what: string, by = 1): void => void counted.set(what, (counted.get(what) ?? 0) + by)

const lives = fc.record({
  first: fc.nat(100_000),
  story: livesOf(Object.keys(acts), weights, { usual: 2, minLength: 20, maxLength: 60 }),
})

interface Told {
  readonly first: number
  readonly story: readonly Happening[]
}

/** Everybody follows, and both strategies hold something. */
async function settleIn(life: Crossed, first: number): Promise<void> {
  const dice = diceOf(first)
  for (const account of life.accounts)
    for (const strategyId of account.strategies) await follow(life, account, strategyId, dice)
  await say(life)
  for (const act of ['order', 'order', 'order', 'desired', 'work']) await acts[act]?.(life, dice)
}

async function countRows(): Promise<void> {
  const sums = await db.read.one<Record<string, number>>`
    select (select count(*)::int from signal) as signals, (select count(*)::int from fill) as fills,
      (select count(*)::int from account_order) as orders, (select count(*)::int from execution) as executions,
      (select count(*)::int from account_adjustment) as adjustments, (select count(*)::int from account_skip) as skips`
  for (const [what, rows] of Object.entries(sums)) count(what, rows)
}

async function live({ first, story }: Told): Promise<void> {
  const life = await begin(db)
  try {
    await settleIn(life, first)
    for (const { act, pick } of story) {
      life.clock.time += 1
      count(act)
      await acts[act]?.(life, diceOf(pick))
      if (act === 'work') expect(await auditViolations(db.read)).toEqual([])
    }
    await comeToRest(life)
    await expectRest(life, count)
    await countRows()
  } finally {
    await life.close()
  }
}

test('lives that cross end with sound books, in step', { timeout: 1_800_000 }, async () => {
  await fc.assert(fc.asyncProperty(lives, live), { numRuns: runs, endOnFailure: true })
  count('lives', runs)
  console.info([...counted].map(([what, times]) => `${what} ${times}`).join(', '))
  for (const what of ['fills', 'executions', 'skips', 'in step'])
    expect(counted.get(what) ?? 0, what).toBeGreaterThan(0)
})
