/**
 * The last word on a start that needs approval: the customer's, by the address of his request, and the broker's,
 * by the operator. What was agreed to takes effect in the same transaction, or the request fails with the reason.
 */

import { textOfCents, totalOf } from '../domain/billing/revenue.ts'
import { decideOpening, joinedKind } from '../domain/billing/subscription.ts'
import {
  type ApprovalEvent,
  type ApprovalStatus,
  approvalAfter,
  approvalAt,
} from '../domain/people/approval.ts'
import type { Instant } from '../domain/time.ts'
import { listAccounts, lockAccount } from '../storage/accounts/accounts.ts'
import { actAs } from '../storage/database/audit-log.ts'
import type { Database } from '../storage/database/database.ts'
import type { Sql } from '../storage/database/sql.ts'
import {
  type ApprovalChoices,
  type ApprovalRow,
  endWaiting,
  findApproval,
  lockApproval,
  saveAgreedCosts,
  saveApproval,
  saveBrokerAuthorization,
} from '../storage/mirror/approvals.ts'
import { lockStrategies } from '../storage/orders/signals.ts'
import { saveArrival } from '../storage/people/sign-ins.ts'
import { findOffer, findSubscription } from '../storage/people/subscriptions.ts'
import { performStart, prepareStart, subscriptionKinds } from './autotrade/starting.ts'
import { type Clock, isRefused, type Refused, refuse } from './context.ts'
import { approvalIdOf, type Secrets } from './secrets.ts'

/** A request as its customer sees it. */
export interface ApprovalView {
  readonly status: ApprovalStatus
  readonly choices: ApprovalChoices
  readonly expiresAt: number
  readonly failure: string | null
  readonly strategyName: string
  readonly account: string
  readonly brokerName: string
  readonly firstName: string
  readonly siteName: string
  readonly accountKind: 'live' | 'paper' | 'sim'
  /** In which its stop loss is counted. */
  readonly accountCurrency: string
  /** What a yes is charged, such as `49.00 USD`; null where nothing is. */
  readonly price: string | null
  /** When that is charged for the first time; null where it is charged at once. */
  readonly priceFrom: Instant | null
  /** What the strategy's owner takes of gains in the present term, and in later ones. */
  readonly feePercent: number
  readonly laterFeePercent: number
  /** The account follows the strategy now, since this request or another start. */
  readonly isFollowing: boolean
  /** AutoSync, which joins what the strategy holds already, is on in the account. */
  readonly isSyncEnabled: boolean
  /** Nothing is opened, as the subscription waits for its payment, or runs no more. */
  readonly hasLapsed: boolean
}

export interface Approvals {
  /** The request behind a token, for a customer who comes from an address; undefined when there is none. */
  open(token: string, ipAddress: string): Promise<ApprovalView | undefined>
  /**
   * The customer's word. A request that is no longer open stays as it is, and so does one whose costs, where it is
   * said which were read, are others by now.
   */
  answer(
    token: string,
    word: 'approve' | 'decline',
    costs?: string | undefined,
  ): Promise<ApprovalView | undefined>
}

/** The requests for a customer's word, found by the token of their link. */
export const createApprovals = (options: { db: Database; clock: Clock; secrets: Secrets }): Approvals => {
  const { db, clock, secrets } = options
  const find = async (token: string): Promise<ApprovalRow | undefined> => {
    const id = approvalIdOf(secrets, token)
    const row = id === undefined ? undefined : await findApproval(db.read, id)
    return row && { ...row, status: approvalAt(row, clock.now()) }
  }
  const view = async (row: ApprovalRow): Promise<ApprovalView> => ({
    ...row,
    accountKind: kindNames[row.accountKind],
    ...(row.status === 'PendingCustomer' ? await priceOf(db.read, row) : nothing),
  })
  return {
    open: async (token, ipAddress) => {
      const row = await find(token)
      if (!row) return undefined
      const { id: requestId, personId, siteId } = row
      await saveArrival(db.write, { requestId, personId, siteId, ipAddress, at: clock.now() })
      return view(row)
    },
    answer: async (token, word, costs) => {
      const id = approvalIdOf(secrets, token)
      if (id !== undefined) await db.transaction((tx) => answerRequest(tx, id, { word, costs }, clock.now()))
      const row = await find(token)
      return row && view(row)
    },
  }
}

/** What the customer read, in one word. */
export const costsOf = ({
  price,
  priceFrom,
  feePercent,
  laterFeePercent,
}: Pick<ApprovalView, keyof PricePart | 'feePercent' | 'laterFeePercent'>): string =>
  `${price ?? 'nothing'}, ${priceFrom ?? 'now'}, ${feePercent} %, ${laterFeePercent} %`

const kindNames = { 0: 'live', 1: 'paper', 2: 'sim' } as const

type PricePart = Pick<ApprovalView, 'price' | 'priceFrom'>
const nothing: PricePart = { price: null, priceFrom: null }

/**
 * What a subscription costs that a yes would open, or would keep: one that was to end with its term goes on after it.
 * One that runs on anyway is joined for nothing.
 */
async function priceOf(sql: Sql, row: ApprovalRow): Promise<PricePart> {
  const { personId, strategyId } = row
  const wanted = subscriptionKinds[row.accountKind]
  const present = await findSubscription(sql, personId, strategyId)
  const opening = decideOpening(present, wanted)
  if (opening === 'unpaid') return nothing
  if (!present || opening !== 'join') return offered(sql, { personId, strategyId, kind: wanted }, null)
  const kind = joinedKind(present.kind, wanted)
  // A change of what follows already leaves it to its end.
  if (!present.isCancelPending || (row.isFollowing && kind === present.kind)) return nothing
  return offered(sql, { personId, strategyId, kind }, present.termEndsAt)
}

async function offered(
  sql: Sql,
  wanted: Parameters<typeof findOffer>[1],
  priceFrom: Instant | null,
): Promise<PricePart> {
  const offer = await findOffer(sql, wanted)
  const cents = offer === undefined ? 0n : totalOf(offer.price)
  return cents > 0n ? { price: `${textOfCents(cents)} USD`, priceFrom } : nothing
}

const presentCosts = async (sql: Sql, row: ApprovalRow): Promise<string> =>
  costsOf({ ...row, ...(await priceOf(sql, row)) })

/** The same whenever it falls due, and without the fee of the term that runs: that may end while the broker takes its time. */
const presentAmounts = async (sql: Sql, row: ApprovalRow): Promise<string> =>
  costsOf({ ...row, ...(await priceOf(sql, row)), priceFrom: null, feePercent: row.laterFeePercent })

/** Locks strategy, account and request in this order, and reads the request as it is then. */
async function lockRequest(sql: Sql, id: string): Promise<ApprovalRow | undefined> {
  const known = await findApproval(sql, id)
  if (!known) return undefined
  await lockStrategies(sql, [known.strategyId])
  await lockAccount(sql, known.accountId)
  await lockApproval(sql, id)
  return findApproval(sql, id)
}

async function answerRequest(
  sql: Sql,
  id: string,
  { word, costs }: { readonly word: 'approve' | 'decline'; readonly costs: string | undefined },
  now: number,
): Promise<void> {
  const row = await lockRequest(sql, id)
  const next = row && approvalAfter(approvalAt(row, now), word)
  if (!row || next === undefined) return
  if (word === 'approve' && costs !== undefined && costs !== (await presentCosts(sql, row))) return
  await actAs(sql, {
    actor: 'person',
    who: String(row.personId),
    chain: row.siteId,
    operation: word,
    at: now,
  })
  if (word === 'decline') {
    await saveApproval(sql, id, { status: next, endedAt: now, failure: 'declined by the customer' })
    return
  }
  if (!row.awaitsBroker) return complete(sql, { ...row, status: next }, now)
  await saveAgreedCosts(sql, id, await presentAmounts(sql, row))
  await saveBrokerAuthorization(sql, row.accountId, 'Pending', now)
  await move(sql, { ...row, status: next }, 'deferToBroker', now, null)
}

/** Moves a request that its event may move. */
async function move(
  sql: Sql,
  row: ApprovalRow,
  event: ApprovalEvent,
  now: number,
  failure: string | null,
): Promise<void> {
  const status = approvalAfter(row.status, event)
  if (status === undefined) throw new Error(`a request in ${row.status} cannot ${event}`)
  await saveApproval(sql, row.id, { status, endedAt: event === 'deferToBroker' ? null : now, failure })
}

/** Lets what was approved take effect, all of it or nothing: a payment that is declined replaces no simulation. */
async function complete(sql: Sql, row: ApprovalRow, now: number): Promise<void> {
  await sql.run`savepoint effect`
  const refused = await start(sql, row, now)
  if (!refused) return move(sql, row, 'complete', now, null)
  await sql.run`rollback to savepoint effect`
  // What the customer may not know of, or what is gone, is told in no words of its own.
  const isGone = refused.refused === 'NotFound'
  const words = isGone ? 'the strategy is no longer offered' : 'it can take effect no more'
  await move(sql, row, 'fail', now, refused.message ?? words)
}

async function start(sql: Sql, row: ApprovalRow, now: number): Promise<Refused | undefined> {
  const wanted = { account: row.account, personId: row.personId, brokerId: row.brokerId }
  const [account] = await listAccounts(sql, wanted)
  if (!account) throw new Error(`a request for no account ${row.account}`)
  const customer = { personId: row.personId, role: 'user', siteId: row.siteId } as const
  const ready = await prepareStart(sql, customer, account, row.strategyId, false)
  if (isRefused(ready)) return ready
  const { agreedCosts } = row.choices
  if (agreedCosts !== undefined && agreedCosts !== (await presentAmounts(sql, row)))
    return refuse('StateConflict', 'StrategyId', 'What it costs has changed since it was agreed to')
  return performStart(sql, ready, row.choices, row.choices.joinsPositions !== false, now)
}

/** The broker's word, brought by the operator. False when the request does not wait for it. */
export const settleAtBroker = (
  db: Database,
  id: string,
  word: { readonly isEnabled: true } | { readonly isEnabled: false; readonly reason: string },
  now: number,
): Promise<boolean> =>
  db.transaction(async (tx) => {
    const row = await lockRequest(tx, id)
    if (row?.status !== 'PendingBroker') return false
    if (!word.isEnabled) {
      await move(tx, row, 'fail', now, word.reason)
      await endWaiting(tx, row.accountId, now)
      return true
    }
    await saveBrokerAuthorization(tx, row.accountId, 'Authorized', now)
    await complete(tx, row, now)
    return true
  })
