/**
 * What a FIX broker says that accounts hold and work. A broker that does not tell positions, does not answer, or
 * answers in part has said nothing of an account: it is never taken as flat.
 */
import { chunked } from '../../../domain/group.ts'
import { dayLength, formatDay } from '../../../domain/time.ts'
import { loadAccountNumbers, loadFixOrders } from '../../../storage/brokers/fix-sessions.ts'
import { insertIncidents } from '../../../storage/work/incidents.ts'
import type { WorkContext } from '../../context.ts'
import { ourOrderKey } from '../../own-orders.ts'
import { type AccountSnapshot, BrokerUnreachable, type WorkingOrder } from '../broker.ts'
import type { Desk, Heard } from './desk.ts'
import { withoutReplaced } from './executions.ts'
import { type FixMessage, type FixRequest, idOf, tags, textOf } from './message.ts'
import { isNone, positionsOf, positionsProgress, workingProgress } from './positions.ts'
import { readingOf } from './reports.ts'
import { askPositions, askWorking, isSendable, nonce } from './requests.ts'
import type { FixSettings } from './settings.ts'
import type { UntoldAccounts } from './untold.ts'

const accountsAtOnce = 20

/** Why an account was not told, in words for the operator; `isSilent`: nothing was heard at all. */
interface NotTold {
  readonly why: string
  readonly isSilent: boolean
}

type Account = Awaited<ReturnType<typeof loadAccountNumbers>>[number]

/**
 * Asks for accounts a few at a time, and goes on as long as the broker says anything; those that are not answered whole
 * are left out, and whoever stays so while others are told is named to the operator. Throws `BrokerUnreachable` where
 * none is told.
 */
export async function snapshotsOf(
  ctx: WorkContext,
  desk: Desk,
  settings: FixSettings,
  untold: UntoldAccounts,
  accountIds: readonly number[],
): Promise<AccountSnapshot[]> {
  // No silence: there is nothing to ask for.
  if (!settings.tellsPositions) return []
  const accounts = await loadAccountNumbers(ctx.db.read, accountIds)
  const isNamed = ({ account }: Account): boolean => isSendable(account)
  const snapshots: AccountSnapshot[] = []
  const inTrouble = accounts
    .filter((one) => !isNamed(one))
    .map((account) => ({ account, why: 'its number cannot be said in FIX' }))
  let isHeard = false
  const inTurn = untold.inTurn(accounts.filter(isNamed), accountsAtOnce, performance.now())
  for (const some of chunked(inTurn, accountsAtOnce)) {
    const said = await Promise.all(some.map((one) => snapshotOf(ctx, desk, settings, one)))
    isHeard ||= said.some((one) => !('why' in one && one.isSilent))
    for (const [place, one] of said.entries()) {
      const account = some[place]!
      if ('why' in one) {
        ctx.log.warn({ accountId: account.id, why: one.why }, 'a broker did not say what an account holds')
        if (untold.miss(account.id, isHeard, performance.now())) inTrouble.push({ account, why: one.why })
      } else {
        untold.tell(account.id)
        snapshots.push(one)
      }
    }
    if (!isHeard) break
  }
  await name(ctx, inTrouble)
  if (snapshots.length === 0 && accounts.length > 0)
    throw new BrokerUnreachable('the broker says of no account what it holds')
  return snapshots
}

/** Tells the operator, anew each day: one that was ended would be the last word otherwise. */
const name = (
  ctx: WorkContext,
  inTrouble: readonly { readonly account: Account; readonly why: string }[],
): Promise<void> => {
  const now = ctx.clock.now()
  const today = formatDay(Math.floor(now / dayLength))
  return insertIncidents(
    ctx.db.write,
    inTrouble.map(({ account: { id: accountId, brokerId }, why }) => ({
      key: `AccountNotTold:${brokerId}:${accountId}:${today}`,
      kind: 'AccountNotTold',
      detail: { brokerId, accountId, why },
      occurredAt: now,
    })),
  )
}

async function snapshotOf(
  ctx: WorkContext,
  desk: Desk,
  settings: FixSettings,
  { id: accountId, account }: Account,
): Promise<AccountSnapshot | NotTold> {
  const [held, worked] = [`P${nonce()}`, `W${nonce()}`]
  const [reports, orders] = await Promise.all([
    collect(desk, held, askPositions(held, account, ctx.clock.now()), positionsProgress),
    settings.listsWorking ? collect(desk, worked, askWorking(worked, account), workingProgress) : [],
  ])
  if ('why' in reports) return { ...reports, isSilent: reports.isSilent && isSilence(orders) }
  if ('why' in orders) return { ...orders, isSilent: orders.isSilent && isSilence(reports) }
  const positions = positionsOf(
    account,
    reports.filter(({ type }) => type === 'AP'),
  )
  const working = await workingOf(ctx, accountId, account, orders)
  if (!working) return { why: 'it listed a working order that cannot be read', isSilent: false }
  return { accountId, positions, working, balance: null }
}

/** Whether nothing was heard; that nothing is listed is no news where nobody asked. */
const isSilence = (said: readonly FixMessage[] | NotTold): boolean =>
  'why' in said ? said.isSilent : said.length === 0

const silence: NotTold = { why: 'it does not answer', isSilent: true }
const refusal = (text: string | null): NotTold => ({
  why: text === null ? 'it refuses to say' : `it refuses to say: ${text}`,
  isSilent: false,
})

/** Gathers messages under one id until they are complete. */
function collect(
  desk: Desk,
  id: string,
  request: FixRequest,
  progress: (heard: readonly FixMessage[]) => 'waiting' | 'complete' | 'refused',
): Promise<readonly FixMessage[] | NotTold> {
  const messages: FixMessage[] = []
  const hear = (heard: Heard): readonly FixMessage[] | NotTold | undefined => {
    if ('refused' in heard) return refusal(heard.refused)
    messages.push(heard.message)
    const state = progress(messages)
    if (state === 'waiting') return undefined
    return state === 'complete' ? messages : refusal(textOf(heard.message, tags.text))
  }
  return desk.ask({ request, names: [id], hear, unsent: silence, unknown: silence })
}

/** Working orders of the account; null where one cannot be read, which makes the whole answer unreadable. */
async function workingOf(
  ctx: WorkContext,
  accountId: number,
  account: string,
  reports: readonly FixMessage[],
): Promise<WorkingOrder[] | null> {
  const told = reports.filter((report) => !isNone(report))
  const read = told.map((report): WorkingOrder | null => {
    const clientOrderId = idOf(report, tags.clOrdId)
    const reading = readingOf(report)
    const standing = reading && 'standings' in reading ? [...reading.standings.values()][0] : undefined
    if (clientOrderId === null || !standing || idOf(report, tags.account) !== account) return null
    return { clientOrderId, ...standing }
  })
  const working = read.filter((one) => one !== null)
  if (working.length < read.length) return null
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
