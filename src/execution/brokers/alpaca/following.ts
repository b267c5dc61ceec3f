/**
 * Following what happens at Alpaca: a stream of events for each account, and its history, which is read again over
 * the last two days whenever a stream begins anew. The stream is quick and may lose, the history is slow and does
 * not; both say the same things under the same keys. One worker of all holds the streams, any may read the history.
 */
import { clientOrderId } from '../../../domain/orders/client-order-id.ts'
import { listFollowedAccounts } from '../../../storage/brokers/broker-pulls.ts'
import { listSentOrders } from '../../../storage/brokers/sent-orders.ts'
import { claimLease, type Lease, usualLeaseMs } from '../../../storage/work/leases.ts'
import type { Step, WorkContext } from '../../context.ts'
import { inLanes } from '../../lanes.ts'
import { giveBack, keepLease } from '../../leases.ts'
import { lanes } from './asking.ts'
import type { Client, Stream } from './client.ts'
import { lookUp, sourceOf, take, takeOrder } from './desk.ts'
import { type Depth, pullHistory } from './history.ts'
import { isAboutOrder, reportsOfUpdate } from './reports.ts'
import { isSession, raise, type Session, type Sessions } from './sessions.ts'
import { isOfSpread, readTradeUpdate } from './wire.ts'

const lookEveryMs = 1_000
/** A history that could not be read is asked for again after this. */
const pullAgainMs = 5_000
/** A stream may be this long in coming, or refused: longer than it waits before it tries again by itself. */
const streamPatienceMs = 45_000

/** Updates of all streams that are kept unread, as while the database is away. */
export const unreadMax = 10_000

/** What a stream has said and nobody has read yet. */
interface Heard {
  readonly session: Session
  readonly update: unknown
}

interface Followed {
  readonly client: Client
  readonly stream: Stream
  isListening: boolean
  /** When its connection last came further, or was lost, on the steady clock. */
  changedAt: number
}

interface Pull {
  readonly depth: Depth
  readonly notBefore: number
}

/** The part that follows the accounts of one connection, until it is closed. */
export class Following {
  readonly #adapter: string
  readonly #sessions: Sessions
  readonly #isUp: () => boolean
  readonly #followed = new Map<number, Followed>()
  readonly #pulls = new Map<number, Pull>()
  readonly #heard: Heard[] = []
  #nextLook = 0
  #held: { readonly lease: Lease; readonly ctx: WorkContext } | undefined

  constructor(adapter: string, sessions: Sessions, isUp: () => boolean) {
    this.#adapter = adapter
    this.#sessions = sessions
    this.#isUp = isUp
  }

  /** A step each, so that neither a long history nor a key that is slow to prove holds up what the streams say. */
  steps(): readonly Step[] {
    return [
      {
        name: `follow ${this.#adapter}`,
        due: () => performance.now() >= this.#nextLook,
        run: async (ctx) => {
          await this.#look(ctx)
          return 0
        },
      },
      {
        name: `hear ${this.#adapter}`,
        due: () => this.#heard.length > 0,
        run: (ctx) => this.#read(ctx),
      },
      {
        name: `catch up ${this.#adapter}`,
        due: () => this.#duePulls().length > 0,
        run: (ctx) => this.#catchUp(ctx),
      },
    ]
  }

  /** Asks that the history of these accounts be read soon. */
  pull(accountIds: readonly number[]): void {
    for (const accountId of new Set(accountIds)) this.#want(accountId, 'shallow')
  }

  async close(): Promise<void> {
    for (const accountId of [...this.#followed.keys()]) this.#leave(accountId)
    if (this.#held) await giveBack(this.#held.ctx, this.#held.lease)
    this.#held = undefined
  }

  #want(accountId: number, depth: Depth, notBefore = 0): void {
    const isDeep = depth === 'deep' || this.#pulls.get(accountId)?.depth === 'deep'
    this.#pulls.set(accountId, { depth: isDeep ? 'deep' : 'shallow', notBefore })
  }

  #duePulls(): [number, Depth][] {
    const now = performance.now()
    return [...this.#pulls].flatMap(([accountId, { depth, notBefore }]): [number, Depth][] =>
      now < notBefore ? [] : [[accountId, depth]],
    )
  }

  /** Opens and closes streams until each account that follows a strategy has one. */
  async #look(ctx: WorkContext): Promise<void> {
    this.#nextLook = performance.now() + lookEveryMs
    const isHeld = await this.#hold(ctx)
    // A session that is not proven yet is asked for: the link's pause is for each of them.
    if (isHeld && !this.#isUp()) return
    const ids = isHeld ? await listFollowedAccounts(ctx.db.read, this.#adapter) : []
    const found = await this.#sessions.of(ctx, ids)
    const ready = new Set<number>()
    await Promise.all(
      found.map(async (coming) => {
        const session = await coming
        if (!isSession(session)) return
        ready.add(session.accountId)
        this.#follow(session)
      }),
    )
    for (const accountId of [...this.#followed.keys()]) if (!ready.has(accountId)) this.#leave(accountId)
  }

  /** Has the account's stream opened, anew where its key is another one or nothing more comes of it. */
  #follow(session: Session): void {
    const followed = this.#followed.get(session.accountId)
    if (followed?.client === session.client && !isOver(followed)) return
    this.#leave(session.accountId)
    this.#open(session)
  }

  async #hold(ctx: WorkContext): Promise<boolean> {
    if (this.#held && !(await keepLease(ctx, this.#held.lease, usualLeaseMs))) this.#held = undefined
    if (!this.#held) {
      const lease = await claimLease(ctx.db.write, `follow:${this.#adapter}`, ctx.workerId, usualLeaseMs)
      this.#held = lease && { lease, ctx }
    }
    return this.#held !== undefined
  }

  #open(session: Session): void {
    const { client, accountId } = session
    const stream = client.stream()
    const followed: Followed = { client, stream, isListening: false, changedAt: performance.now() }
    stream.onStateChange(() => {
      followed.isListening = false
      followed.changedAt = performance.now()
    })
    stream.onTradeUpdate((update) => this.#hear(session, update))
    // What was missed is read once the stream is known to run: nothing falls between the two.
    stream.on('subscription', () => {
      followed.isListening = true
      this.#want(accountId, 'deep')
    })
    stream.subscribeTradeUpdates()
    stream.connect()
    this.#followed.set(accountId, followed)
  }

  /** What is not kept is learnt from the history, as after a break. */
  #hear(session: Session, update: unknown): void {
    if (this.#heard.length < unreadMax) this.#heard.push({ session, update })
    else this.#want(session.accountId, 'deep')
  }

  #leave(accountId: number): void {
    this.#followed.get(accountId)?.stream.disconnect()
    this.#followed.delete(accountId)
  }

  async #read(ctx: WorkContext): Promise<number> {
    let taken = 0
    for (let next = this.#heard[0]; next; next = this.#heard[0]) {
      taken += await takeUpdate(ctx, next.session, next.update)
      this.#heard.shift() // only now: what could not be taken in is read again
    }
    return taken
  }

  async #catchUp(ctx: WorkContext): Promise<number> {
    const due = this.#duePulls()
    const ids = due.map(([accountId]) => accountId)
    const found = await this.#sessions.of(ctx, ids)
    for (const accountId of ids) this.#pulls.delete(accountId)
    await inLanes(due, lanes, async ([accountId, depth], place) => {
      const session = await found[place]
      if (!session || 'refused' in session) return
      let isRead = false
      try {
        isRead = isSession(session) && (await pullAccount(ctx, session, depth))
      } finally {
        if (!isRead) this.#want(accountId, depth, performance.now() + pullAgainMs)
      }
    })
    return due.length
  }
}

/**
 * Whether nothing more will come of it: the SDK waits for ever for one that connects and is not answered, and leaves
 * alone one whose key is refused. A key that stays refused is not tried more often than that.
 */
const isOver = ({ isListening, changedAt }: Followed): boolean =>
  !isListening && performance.now() - changedAt > streamPatienceMs

/** Takes an event in; answers how many reports it made. */
async function takeUpdate(ctx: WorkContext, session: Session, heard: unknown): Promise<number> {
  if (isOfSpread(heard)) return 0
  const update = readTradeUpdate(heard)
  const reports = update && reportsOfUpdate(sourceOf(ctx, session), update)
  if (!reports) {
    await raise(ctx, session.brokerId, session.accountId, 'MalformedAnswer', 'stream')
    return 0
  }
  return isAboutOrder(update) ? takeOrder(ctx, session, update.order) : take(ctx, reports)
}

/** Reads the history; after a break also asks what became of every order that lives here. */
async function pullAccount(ctx: WorkContext, session: Session, depth: Depth): Promise<boolean> {
  if (!(await pullHistory(ctx, session, depth))) return false
  if (depth === 'shallow') return true
  const { environment } = ctx.settings
  for (const order of await listSentOrders(ctx.db.read, [session.accountId], ctx.clock.now())) {
    const theirs = await lookUp(ctx, session, clientOrderId({ environment, ...order }))
    if (theirs === undefined) return false
    if (theirs) await takeOrder(ctx, session, theirs)
  }
  return true
}
