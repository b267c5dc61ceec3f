/** After the clock was set back: what was held or put off by the earlier one goes on in its usual time. */
import { cutToLongest, isClockSetBack } from '../storage/operating/clock-set-back.ts'
import type { Step } from './context.ts'
import { driftGrace } from './mirror/mirror-follow.ts'
import { reconciliationPeriod } from './reports/reconciliation.ts'

const waits = { chaseMs: driftGrace, reconciliationMs: reconciliationPeriod }
/** Everything that waits is read. */
const patience = { statementTimeoutMs: 60_000 }

/** A lease that runs longer than any is given for shows it. */
export const clockSetBackStep: Step = {
  name: 'clockSetBack',
  due: isClockSetBack,
  run: async ({ db, clock, log }) => {
    const moved = await db.transaction((tx) => cutToLongest(tx, clock.now(), waits), patience)
    log.warn({ moved }, 'the clock of the database was set back: what waited by it is brought forward')
    return moved
  },
}
