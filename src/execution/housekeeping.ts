/**
 * Sweeps what has served its time: remembered answers a day old and used-up rate windows. Any worker may do it,
 * twice does no harm.
 */

import { fragment } from '../storage/database/sql.ts'
import { areAnswersOld, purgeAnswers } from '../storage/work/idempotency.ts'
import { areWindowsOld, purgeWindows } from '../storage/work/rate-windows.ts'
import type { Step } from './context.ts'

export const housekeepingStep: Step = {
  name: 'housekeeping',
  due: (now) => fragment`(${areAnswersOld(now)} or ${areWindowsOld()})`,
  run: async ({ db, clock }) => (await purgeWindows(db.write)) + (await purgeAnswers(db.write, clock.now())),
}
