/**
 * Holds every book against every other while the platform works, as `lockstep audit` does when it is asked. The
 * question reads whole tables, so it rests much longer than it took, also before the first time, and is asked by one
 * worker at a time.
 */
import { minute } from '../domain/time.ts'
import { untilEnding } from '../storage/database/cut-short.ts'
import type { Transaction } from '../storage/database/sql.ts'
import { auditViolations, type Violation } from '../storage/operating/audit.ts'
import type { Step, WorkContext } from './context.ts'

const shortestRestMs = minute
/** How many times as long as a check took it rests. */
const restShare = 20
const statementTimeoutMs = 5 * minute
/** Of the database, held by whoever checks. */
const checkingLock = 5_261_908_117

/** For one worker: what it found stands in its tally. */
export function bookCheckStep(): Step {
  let nextAt = performance.now() + shortestRestMs
  return {
    name: 'check books',
    due: () => performance.now() >= nextAt,
    run: async (ctx) => {
      const began = performance.now()
      try {
        await check(ctx)
      } finally {
        nextAt = performance.now() + Math.max(shortestRestMs, (performance.now() - began) * restShare)
      }
      return 0
    },
  }
}

async function check(ctx: WorkContext): Promise<void> {
  const violations = await ctx.db
    .transaction((tx) => ask(ctx, tx), { readOnly: true, statementTimeoutMs })
    .catch((error: unknown) => {
      if (!ctx.ending?.aborted) throw error
    })
  if (violations === undefined) return
  ctx.tally.books = { violations: violations.length, at: performance.now() }
  if (violations.length === 0) return
  const rules = [...new Set(violations.map(({ rule }) => rule))]
  ctx.log.error({ rules, violations: violations.length }, 'the books do not add up: lockstep audit')
}

/** Undefined while another worker asks. What takes longer than an end may is cut off when this one ends. */
async function ask({ db, ending }: WorkContext, tx: Transaction): Promise<Violation[] | undefined> {
  const { mine } = await tx.one<{ mine: boolean }>`
    select pg_try_advisory_xact_lock(${checkingLock}::bigint) as mine`
  return mine ? untilEnding(db, tx, ending, () => auditViolations(tx)) : undefined
}
