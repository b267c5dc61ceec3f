/**
 * Sweeps what has served its time: remembered answers a day old, used-up rate windows, sessions and links that have run
 * out. Any worker may do it, twice does no harm.
 */

import { fragment } from '../storage/database/sql.ts'
import { areSomeOutlived, sweepOutlived } from '../storage/people/outlived.ts'
import { areAnswersOld, purgeAnswers } from '../storage/work/idempotency.ts'
import { areWindowsOld, purgeWindows } from '../storage/work/rate-windows.ts'
import type { Step } from './context.ts'

/** Of each kind: what has come together while no worker ran is too much for one statement. */
const sweptAtOnce = 10_000

export const housekeepingStep: Step = {
  name: 'housekeeping',
  due: (now) => fragment`(${areAnswersOld(now)} or ${areWindowsOld()} or ${areSomeOutlived(now)})`,
  run: async ({ db, clock }) =>
    (await purgeWindows(db.write, sweptAtOnce)) +
    (await purgeAnswers(db.write, clock.now(), sweptAtOnce)) +
    (await sweepOutlived(db.write, clock.now(), sweptAtOnce)),
}
