/** The platform as a whole: begin anew, let time pass, ask whether the books are sound. */
import { nextDue } from '../../execution/orders/expiries.ts'
import { bootstrap } from '../../operations/bootstrap.ts'
import { auditViolations } from '../../storage/operating/audit.ts'
import { ensureBroker } from '../../storage/operating/provision.ts'
import { type DoorCall, type DoorState, get, post, Unserved } from '../call.ts'
import { emptied } from '../empty.ts'
import { aBoolean, aMoment, choice, object, type Read, withDefault } from '../read.ts'
import { builtInBrokers, releaseClaims } from '../rows.ts'

/** When a test platform begins unless told otherwise: a Tuesday, 10:00 in New York. */
export const beginning = Date.parse('2024-03-12T14:00:00Z')

/** Two centuries that databases, calendars and daily closes reach. */
const [earliest, latest] = [Date.parse('1970-01-01T00:00:00Z'), Date.parse('2170-01-01T00:00:00Z')]
const aTime: Read<number> = (raw, path, faults) => {
  const at = aMoment(raw, path, faults)
  if (at < earliest || at >= latest)
    faults.push({ path, message: 'Must be a date-time of the years 1970 to 2169' })
  return at
}

const Reset = object({
  now: withDefault(aTime, beginning),
  commissions: withDefault(choice('none', 'default'), 'none'),
  limits: withDefault(aBoolean, false),
})

/** Empties everything and gives the platform what it has from its first start, and the scripted broker. */
export async function emptyRows({ work: { db } }: DoorState, now: number): Promise<void> {
  await emptied(db, async (tx) => {
    await ensureBroker(tx, builtInBrokers.live)
    await bootstrap(tx, now)
  })
}

const reset = post('/reset', withDefault(Reset, Reset({}, '', [])), (door, { now, commissions, limits }) =>
  door.renew({ limits }, async () => {
    await emptyRows(door, now)
    door.work.settings.commissionPlan = commissions
    door.clock.set(now)
  }),
)

/** Stops at every moment at which time makes work and does that work before it goes on. */
const moveClock = post('/clock', object({ now: aTime }), async (door, { now }) => {
  if (now < door.clock.now()) {
    const at = new Date(door.clock.now()).toISOString()
    throw new Unserved('now', `Time moves forward only; it is ${at}. A reset begins anew.`)
  }
  await passTime(door, now)
  return { now: new Date(now).toISOString() }
})

async function passTime(door: DoorState, until: number): Promise<void> {
  const { clock, work } = door
  for (;;) {
    const next = await nextDue(work)
    if (next === undefined || next > until) break
    const isLater = next > clock.now()
    if (isLater) await arrive(door, next)
    // What is overdue and does not move waits for something other than time.
    if ((await door.drain()) === 0 && !isLater) break
  }
  await arrive(door, until)
}

/** As time has passed, what failed before may be tried again. */
async function arrive({ clock, work }: DoorState, at: number): Promise<void> {
  clock.set(at)
  await releaseClaims(work.db.write)
}

/** It reads every book: a statement of it may take longer than one that a caller waits for. */
const whole = { readOnly: true, statementTimeoutMs: 60_000 }

const audit = get('/audit', async ({ work }) => ({
  violations: await work.db.transaction(auditViolations, whole),
}))

export const platformCalls: readonly DoorCall[] = [reset, moveClock, audit]
