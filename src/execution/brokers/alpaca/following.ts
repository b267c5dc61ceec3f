/**
 * Following what happens at Alpaca: a stream of events for each account, and its history, which is read again over
 * the last two days whenever a stream begins anew. The stream is quick and may lose, the history is slow and does
 * not; both say the same things under the same keys. One worker of all holds the streams, any may read the history.
 */
import { clientOrderId } from '../../../domain/client-order-id.ts'
import { listFollowedAccounts } from '../../../storage/broker-pulls.ts'
import { claimLease, type Lease, releaseLease, renewLease } from '../../../storage/leases.ts'
import { listSentOrders } from '../../../storage/reconciliation.ts'
import { fragment } from '../../../storage/sql.ts'
import type { Step, WorkContext } from '../../context.ts'
import { inLanes } from './asking.ts'
import type { Client, Stream } from './client.ts'
import { lookUp, settledOrder, sourceOf, take, takeOrder } from './desk.ts'
import { type Depth, pullHistory } from './history.ts'
import { reportsOfUpdate } from './reports.ts'
import { isSession, raise, type Session, type Sessions } from './sessions.ts'
import { readTradeUpdate } from './wire.ts'

const lookEveryMs = 1_000
const leaseMs = 10_000
/** A history that could not be read is asked for again after this. */
const pullAgainMs = 5_000

export interface Following {
  readonly steps: readonly Step[]
  /** Asks that the history of these accounts be read soon. */
  pull(accountIds: readonly number[]): void
  close(): Promise<void>
}

/** What a stream has said and nobody has read yet. */
interface Heard {
  readonly session: Session
  readonly update: unknown
}

interface Followed {
  readonly client: Client
  readonly stream: Stream
}

interface Pull {
  readonly depth: Depth
  readonly notBefore: number
}

/** Builds the part that follows the accounts of one connection. */
export function createFollowing(adapter: string, sessions: Sessions): Following {
  const followed = new Map<number, Followed>()
  const pulls = new Map<number, Pull>()
  let heard: Heard[] = []
  let nextLook = 0
  let held: { readonly lease: Lease; readonly ctx: WorkContext } | undefined

  const want = (accountId: number, depth: Depth, notBefore = 0): void => {
    const isDeep = depth === 'deep' || pulls.get(accountId)?.depth === 'deep'
    pulls.set(accountId, { depth: isDeep ? 'deep' : 'shallow', notBefore })
  }

  const duePulls = (): [number, Depth][] =>
    [...pulls].flatMap(([accountId, { depth, notBefore }]) =>
      performance.now() < notBefore ? [] : [[accountId, depth] as [number, Depth]],
    )

  const open = (session: Session): void => {
    const { client, accountId } = session
    const stream = client.stream()
    stream.onTradeUpdate((update) => heard.push({ session, update }))
    // What was missed is read once the stream is known to run: nothing falls between the two.
    stream.on('subscription', () => want(accountId, 'deep'))
    stream.on('error', () => undefined)
    stream.subscribeTradeUpdates()
    stream.connect()
    followed.set(accountId, { client, stream })
  }

  const leave = (accountId: number): void => {
    followed.get(accountId)?.stream.disconnect()
    followed.delete(accountId)
  }

  const hold = async (ctx: WorkContext): Promise<boolean> => {
    if (held && !(await renewLease(ctx.db.write, held.lease, leaseMs))) held = undefined
    if (!held) {
      const lease = await claimLease(ctx.db.write, `follow:${adapter}`, ctx.workerId, leaseMs)
      held = lease && { lease, ctx }
    }
    return held !== undefined
  }

  /** Opens and closes streams until each account that follows a strategy has one. */
  const look = async (ctx: WorkContext): Promise<void> => {
    nextLook = performance.now() + lookEveryMs
    const ids = (await hold(ctx)) ? await listFollowedAccounts(ctx.db.read, adapter) : []
    const ready = (await sessions.of(ctx, ids)).filter(isSession)
    const clients = new Map(ready.map(({ accountId, client }) => [accountId, client]))
    for (const [accountId, { client, stream }] of followed) {
      const isOver = stream.getState() === 'disconnected'
      if (clients.get(accountId) !== client || isOver) leave(accountId)
    }
    for (const session of ready) if (!followed.has(session.accountId)) open(session)
  }

  const read = async (ctx: WorkContext): Promise<number> => {
    const batch = heard
    heard = []
    let taken = 0
    for (const { session, update } of batch) taken += await takeUpdate(ctx, session, update)
    return taken
  }

  const catchUp = async (ctx: WorkContext): Promise<number> => {
    const due = duePulls()
    const found = await sessions.of(
      ctx,
      due.map(([accountId]) => accountId),
    )
    for (const [accountId] of due) pulls.delete(accountId)
    await inLanes(due, async ([accountId, depth], place) => {
      const session = found[place]
      if (!session || 'refused' in session) return
      const isRead = isSession(session) && (await pullAccount(ctx, session, depth))
      if (!isRead) want(accountId, depth, performance.now() + pullAgainMs)
    })
    return due.length
  }

  const step: Step = {
    name: `follow ${adapter}`,
    due: () =>
      heard.length > 0 || duePulls().length > 0 || performance.now() >= nextLook
        ? fragment`true`
        : fragment`false`,
    run: async (ctx) => {
      if (performance.now() >= nextLook) await look(ctx)
      return (await read(ctx)) + (await catchUp(ctx))
    },
  }

  return {
    steps: [step],
    pull: (accountIds) => {
      for (const accountId of new Set(accountIds)) want(accountId, 'shallow')
    },
    close: async () => {
      for (const accountId of [...followed.keys()]) leave(accountId)
      if (held) await releaseLease(held.ctx.db.write, held.lease)
      held = undefined
    },
  }
}

async function takeUpdate(ctx: WorkContext, session: Session, heard: unknown): Promise<number> {
  const update = readTradeUpdate(heard)
  const source = sourceOf(ctx, session)
  if (update && reportsOfUpdate(source, update)) {
    const order = await settledOrder(ctx, session, update.order)
    return order ? take(ctx, reportsOfUpdate(source, { ...update, order }) ?? []) : 0
  }
  await raise(ctx, session.brokerId, session.accountId, 'MalformedAnswer', 'stream')
  return 0
}

/** Reads the history; after a break also asks what became of every order that lives here. */
async function pullAccount(ctx: WorkContext, session: Session, depth: Depth): Promise<boolean> {
  if (!(await pullHistory(ctx, session, depth))) return false
  if (depth === 'shallow') return true
  const { environment } = ctx.settings
  for (const order of await listSentOrders(ctx.db.read, [session.accountId])) {
    const theirs = await lookUp(ctx, session, clientOrderId({ environment, ...order }))
    if (theirs === undefined) return false
    if (theirs) await takeOrder(ctx, session, theirs)
  }
  return true
}
