/**
 * Holds every book against every other while the platform works, as `lockstep audit` does when it is asked. The
 * question reads whole tables, so it rests much longer than it took.
 */
import { minute } from '../domain/time.ts'
import { auditViolations } from '../storage/audit.ts'
import { fragment } from '../storage/sql.ts'
import type { Step, WorkContext } from './context.ts'

const shortestRestMs = minute
/** How many times as long as a check took it rests. */
const restShare = 20
const statementTimeoutMs = 5 * minute

export function bookCheckStep(): Step {
  let nextAt = 0
  return {
    name: 'check books',
    due: () => (performance.now() >= nextAt ? fragment`true` : fragment`false`),
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

async function check({ db, log, tally }: WorkContext): Promise<void> {
  const violations = await db.transaction(auditViolations, { readOnly: true, statementTimeoutMs })
  tally.books = { violations: violations.length, at: performance.now() }
  if (violations.length === 0) return
  const rules = [...new Set(violations.map(({ rule }) => rule))]
  log.error({ rules, violations: violations.length }, 'the books do not add up: lockstep audit')
}
