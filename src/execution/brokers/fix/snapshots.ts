/**
 * What a FIX broker says that accounts hold and work. A broker that does not tell positions, does not answer, or
 * answers in part has said nothing of an account: it is never taken as flat.
 */
import { chunked } from '../../../domain/group.ts'
import { loadAccountNumbers, loadFixOrders } from '../../../storage/brokers/fix-sessions.ts'
import type { WorkContext } from '../../context.ts'
import { ourOrderKey } from '../../own-orders.ts'
import { type AccountSnapshot, BrokerUnreachable, type WorkingOrder } from '../broker.ts'
import type { Desk, Heard } from './desk.ts'
import { withoutReplaced } from './executions.ts'
import { type FixMessage, type FixRequest, idOf, tags } from './message.ts'
import { isNone, positionsOf, positionsProgress, workingProgress } from './positions.ts'
import { readingOf } from './reports.ts'
import { askPositions, askWorking, isSendable, nonce } from './requests.ts'
import type { FixSettings } from './settings.ts'

const accountsAtOnce = 20

/**
 * Asks for accounts a few at a time; those that are not answered whole are left out. Throws `BrokerUnreachable` where
 * none of the first few is answered.
 */
export async function snapshotsOf(
  ctx: WorkContext,
  desk: Desk,
  settings: FixSettings,
  accountIds: readonly number[],
): Promise<AccountSnapshot[]> {
  // No silence: there is nothing to ask for.
  if (!settings.tellsPositions) return []
  const accounts = await loadAccountNumbers(ctx.db.read, accountIds)
  const snapshots: AccountSnapshot[] = []
  for (const some of chunked(accounts, accountsAtOnce)) {
    const asked = await Promise.allSettled(some.map((one) => snapshotOf(ctx, desk, settings, one)))
    snapshots.push(...asked.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : [])))
    for (const [place, one] of asked.entries()) {
      if (one.status === 'fulfilled') continue
      const error: unknown = one.reason
      if (snapshots.length === 0 || !(error instanceof BrokerUnreachable)) throw error
      ctx.log.warn({ error, accountId: some[place]?.id }, 'a broker did not say what an account holds')
    }
  }
  return snapshots
}

async function snapshotOf(
  ctx: WorkContext,
  desk: Desk,
  settings: FixSettings,
  { id: accountId, account }: { readonly id: number; readonly account: string },
): Promise<AccountSnapshot> {
  if (!isSendable(account))
    throw new BrokerUnreachable(`the number of account ${accountId} cannot be said in FIX`)
  const [held, worked] = [`P${nonce()}`, `W${nonce()}`]
  const reports = collect(desk, held, askPositions(held, account, ctx.clock.now()), positionsProgress)
  const orders = settings.listsWorking
    ? collect(desk, worked, askWorking(worked, account), workingProgress)
    : Promise.resolve([])
  const answers = await Promise.all([reports, orders])
  const positions = positionsOf(
    account,
    answers[0].filter(({ type }) => type === 'AP'),
  )
  return {
    accountId,
    positions,
    working: await workingOf(ctx, accountId, account, answers[1]),
    balance: null,
  }
}

/** Gathers messages under one id until they are complete. */
async function collect(
  desk: Desk,
  id: string,
  request: FixRequest,
  progress: (heard: readonly FixMessage[]) => 'waiting' | 'complete' | 'refused',
): Promise<readonly FixMessage[]> {
  const messages: FixMessage[] = []
  const hear = (heard: Heard): readonly FixMessage[] | 'unreachable' | undefined => {
    if ('refused' in heard) return 'unreachable'
    messages.push(heard.message)
    const state = progress(messages)
    if (state === 'waiting') return undefined
    return state === 'complete' ? messages : 'unreachable'
  }
  const question = { request, names: [id], hear, unsent: 'unreachable', unknown: 'unreachable' } as const
  const answer = await desk.ask<readonly FixMessage[] | 'unreachable'>(question)
  if (answer === 'unreachable')
    throw new BrokerUnreachable('the broker did not say what an account holds or works')
  return answer
}

/** Working orders of the account; one that cannot be read makes the whole answer unreadable. */
async function workingOf(
  ctx: WorkContext,
  accountId: number,
  account: string,
  reports: readonly FixMessage[],
): Promise<WorkingOrder[]> {
  const told = reports.filter((report) => !isNone(report))
  const working = told.map((report): WorkingOrder => {
    const clientOrderId = idOf(report, tags.clOrdId)
    const reading = readingOf(report)
    const standing = reading && 'standings' in reading ? [...reading.standings.values()][0] : undefined
    if (clientOrderId === null || !standing || idOf(report, tags.account) !== account)
      throw new BrokerUnreachable('the broker listed a working order that cannot be read')
    return { clientOrderId, ...standing }
  })
  const ours = working.flatMap((order) => {
    const key = ourOrderKey(ctx.settings.environment, order.clientOrderId)
    return key ? [{ ...key, accountId, clientOrderId: order.clientOrderId }] : []
  })
  const orders = await loadFixOrders(ctx.db.read, ours)
  return working.map((order) => {
    const known = orders.find((one) => one?.clientOrderId === order.clientOrderId)
    return known ? { ...order, ...withoutReplaced(order, known) } : order
  })
}
