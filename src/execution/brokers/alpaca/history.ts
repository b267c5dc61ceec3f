/**
 * The account's history at Alpaca, read again over a window: executions, corrections and cancellations with the ids
 * that the stream gives them. How far it was read is noted only when all of it was understood.
 */
import { hour, minute } from '../../../domain/time.ts'
import { loadPulls, savePull } from '../../../storage/brokers/broker-pulls.ts'
import type { WorkContext } from '../../context.ts'
import { readOutcome, sourceOf, take } from './desk.ts'
import { type Report, reportsOfActivity } from './reports.ts'
import { raise, type Session } from './sessions.ts'
import { nameOfOrder, readActivity, type TradeActivity } from './wire.ts'

/** How late Alpaca may tell of an execution or correct it, after a break and while the stream runs. */
const windows = { deep: 48 * hour, shallow: 10 * minute }

export type Depth = keyof typeof windows

/** Reads the history and takes it in; answers whether all of it could be read. */
export async function pullHistory(ctx: WorkContext, session: Session, depth: Depth): Promise<boolean> {
  const { accountId, brokerId, client } = session
  const until = ctx.clock.now()
  const [known] = await loadPulls(ctx.db.read, [accountId])
  if (!known) return true
  const since = Math.max(known.startedAt, Math.min(known.pulledUntil ?? until, until) - windows[depth])
  if (since >= until) return true
  const said = await client.activities(new Date(since), new Date(until))
  if (said.outcome !== 'done') return false
  const activities = readHistory(String(said.body))
  const reports = activities && (await reportsOf(ctx, session, activities))
  if (!reports) {
    await raise(ctx, brokerId, accountId, 'MalformedAnswer', 'history')
    return false
  }
  await take(ctx, reports)
  await savePull(ctx.db.write, accountId, until)
  return true
}

/** The trades among server-sent events; null when an event is malformed or the server broke off. */
function readHistory(text: string): TradeActivity[] | null {
  const lines = text.split(/\r?\n/)
  if (lines.some((line) => /^:.*(error|dropped)/.test(line))) return null
  const activities: TradeActivity[] = []
  for (const line of lines.filter((one) => one.startsWith('data:'))) {
    const activity = readActivity(parsed(line.slice('data:'.length)))
    if (activity === null) return null
    if (activity) activities.push(activity)
  }
  return activities
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

/** Reports of all activities; null when one of them lacks what it must say or its order cannot be asked for. */
async function reportsOf(
  ctx: WorkContext,
  session: Session,
  activities: readonly TradeActivity[],
): Promise<Report[] | null> {
  const source = sourceOf(ctx, session)
  const names = new Map<string, string | null>()
  const reports: Report[] = []
  for (const activity of activities) {
    const { orderId } = activity
    if (activity.clientOrderId === null && !names.has(orderId)) {
      const name = await nameOf(ctx, session, orderId)
      if (name === undefined) return null
      names.set(orderId, name)
    }
    const clientOrderId = activity.clientOrderId ?? names.get(orderId) ?? null
    const told = reportsOfActivity(source, { ...activity, clientOrderId })
    if (told === null) return null
    reports.push(...told)
  }
  return reports
}

/** The name of an order, of a spread too; null where there is no such order, undefined while that is not known. */
async function nameOf(
  ctx: WorkContext,
  session: Session,
  orderId: string,
): Promise<string | null | undefined> {
  const said = await session.client.order(orderId)
  const name = said.outcome === 'done' ? nameOfOrder(said.body) : null
  if (name !== null) return name
  const order = await readOutcome(ctx, session, said)
  return order === undefined ? undefined : (order?.clientOrderId ?? null)
}
