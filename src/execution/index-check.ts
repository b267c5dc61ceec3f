/**
 * Holds the indexes against their tables once a day, as `lockstep audit` does when it is asked. Whole tables are read, so
 * none is at the beginning: a platform that is started again and again would do nothing else. What is damaged is told
 * every day until it is mended.
 */
import { dayIn, dayLength, formatDay, hour, minute } from '../domain/time.ts'
import { checkIndexes } from '../storage/operating/damage.ts'
import { insertIncidents } from '../storage/work/incidents.ts'
import type { Step, WorkContext } from './context.ts'

const firstRestMs = hour
const restMs = dayLength
/** Of one index: what takes longer is left to the operator's command, which takes the time that it needs. */
const limitMs = 5 * minute

/** For one worker: it rests by this machine's steady clock. */
export function indexCheckStep(): Step {
  let nextAt = performance.now() + firstRestMs
  return {
    name: 'check indexes',
    due: () => performance.now() >= nextAt,
    run: (ctx) => {
      nextAt = performance.now() + restMs
      return check(ctx)
    },
  }
}

/** Answers how many are damaged. */
async function check({ db, clock, ending, log }: WorkContext): Promise<number> {
  const { damaged = [], unread = [] } = (await checkIndexes(db, { limitMs, ending })) ?? {}
  if (unread.length > 0) log.warn({ unread }, 'indexes take too long to be checked: lockstep audit')
  if (damaged.length === 0) return 0
  const now = clock.now()
  const today = formatDay(dayIn(now, 'UTC'))
  log.error({ damaged }, 'indexes are damaged: lockstep audit')
  await insertIncidents(
    db.write,
    damaged.map(({ index, says }) => ({
      key: `indexDamaged:${index}:${today}`,
      kind: 'indexDamaged',
      detail: { index, says },
      occurredAt: now,
    })),
  )
  return damaged.length
}
