/**
 * What follows from a broker's word on accounts, under their locks. Reports that never came are made up for, as
 * reports like any other; a position that nobody explains switches AutoSync off; what no rule settles is told to the
 * operator. Nothing is traded.
 */

import { type Decimal, dec, zero } from '../../domain/decimal.ts'
import { groupBy } from '../../domain/group.ts'
import { parseClientOrderId } from '../../domain/orders/client-order-id.ts'
import { gapWords, type OrderGap, orderGaps } from '../../domain/orders/order-gap.ts'
import { isLag } from '../../domain/positions/broker-lag.ts'
import { externalActivity } from '../../domain/positions/external-activity.ts'
import { dayLength, formatDay, type Instant, minute, second } from '../../domain/time.ts'
import {
  loadOrderGaps,
  loadPositionGaps,
  type OrderGapRow,
  type PositionGapChange,
  type PositionGapRow,
  type ReconciledAccount,
  saveOrderGaps,
  savePositionGaps,
  sumBooked,
} from '../../storage/brokers/reconciliation.ts'
import { insertReports } from '../../storage/brokers/report-intake.ts'
import type { NewReport, NewTotal } from '../../storage/brokers/reports.ts'
import { findOwnOrders, listSentOrders, type SentOrder } from '../../storage/brokers/sent-orders.ts'
import type { Transaction } from '../../storage/database/sql.ts'
import { loadNearEffects } from '../../storage/market/calendar-effects.ts'
import { disableSync } from '../../storage/mirror/disabling.ts'
import { type IncidentKind, insertIncidents, type NewIncident } from '../../storage/work/incidents.ts'
import type { AccountSnapshot, OrderStanding } from '../brokers/broker.ts'
import type { WorkContext } from '../context.ts'
import { isOurs } from '../own-orders.ts'

/** How long a difference has to last, unchanged, before it is believed. */
export const patience = minute

/** How long an ended order is asked for of which its broker counts more: over a weekend on which nobody answers. */
export const watchedFor = 4 * dayLength

/** What was learnt about some accounts of a broker, at one time. */
export interface Findings {
  readonly brokerId: number
  readonly snapshots: ReadonlyMap<number, AccountSnapshot>
  /** Accounts of which the broker said something that is no answer. */
  readonly unreadable: readonly number[]
  /** Orders of ours, as the broker has them; null where it has none. */
  readonly standings: readonly {
    readonly order: SentOrder
    readonly clientOrderId: string
    readonly standing: OrderStanding | null
  }[]
  /** Accounts with a live order of which the broker did not say how it stands: it may explain what they hold. */
  readonly unanswered: ReadonlySet<number>
}

const number = /^-?\d+(\.\d+)?$/

/** Whether all quantities and prices of an answer are numbers. */
export const isReadable = ({ positions, working }: AccountSnapshot): boolean =>
  [...positions.values()].every((quantity) => number.test(quantity)) && working.every(isStanding)

const isStanding = ({ cumQty, avgPx }: OrderStanding): boolean =>
  number.test(cumQty) && (avgPx === null || number.test(avgPx))

/** An order's name among those of all accounts; brokers may fold the case of ids. */
export const orderNameOf = (accountId: number, clientOrderId: string): string =>
  `${accountId} ${clientOrderId.toUpperCase()}`

/** What was found of some locked accounts, and what is to be written of them. */
interface Conclusion {
  readonly tx: Transaction
  readonly findings: Findings
  readonly now: Instant
  readonly orders: OrderGapRow[]
  readonly positions: PositionGapChange[]
  readonly reports: (NewReport | NewTotal)[]
  readonly incidents: NewIncident[]
  /** Accounts that hold what nobody explains. */
  readonly mismatched: number[]
}

/** Draws the conclusions for locked accounts; answers how many differences were settled. */
export async function conclude(
  ctx: WorkContext,
  tx: Transaction,
  findings: Findings,
  accounts: readonly ReconciledAccount[],
): Promise<number> {
  const now = ctx.clock.now()
  const { environment } = ctx.settings
  const nothingYet = { orders: [], positions: [], reports: [], incidents: [], mismatched: [] }
  const conclusion: Conclusion = { tx, findings, now, ...nothingYet }
  // Told anew each day: one that an operator has ended would be the last word otherwise.
  const today = formatDay(Math.floor(now / dayLength))
  for (const accountId of findings.unreadable)
    raise(conclusion, 'MalformedSnapshot', accountId, `snapshot:${today}`, {})
  const ids = accounts.map(({ id }) => id)
  if (ids.length > 0) {
    const incomplete = await compareOrders(conclusion, ids)
    await nameStrangers(conclusion, environment, ids)
    await comparePositions(conclusion, environment, accounts, incomplete)
    await saveOrderGaps(tx, ids, conclusion.orders, now)
    await savePositionGaps(tx, ids, conclusion.positions, now)
    await insertReports(tx, conclusion.reports)
    await disableSync(tx, conclusion.mismatched, 'PositionMismatch', now)
  }
  await insertIncidents(tx, conclusion.incidents)
  return conclusion.reports.length + conclusion.incidents.length
}

/** Tells the operator of an account. */
function raise(
  { findings: { brokerId }, now: occurredAt, incidents }: Conclusion,
  kind: IncidentKind,
  accountId: number,
  key: string,
  detail: Record<string, unknown>,
): void {
  incidents.push({
    key: `${kind}:${brokerId}:${accountId}:${key}`,
    kind,
    detail: { brokerId, accountId, ...detail },
    occurredAt,
  })
}

/** Where executions are missing, or may be: positions say nothing there. */
interface Incomplete {
  readonly accounts: Set<number>
  /** Account and symbol, where that may last: nobody makes up for what is unclear. */
  readonly positions: Set<string>
}

/** Orders against the broker's; answers where executions are missing. */
async function compareOrders(conclusion: Conclusion, ids: readonly number[]): Promise<Incomplete> {
  const { tx, findings, now, orders } = conclusion
  const locked = new Set(ids)
  const seen = new Map((await loadOrderGaps(tx, ids)).map((row) => [`${row.accountId} ${row.orderId}`, row]))
  const incomplete: Incomplete = { accounts: new Set(findings.unanswered), positions: new Set() }
  const short = new Set<string>()
  // What a broker counts of a replacement may be its predecessor's, and its end is that of both: the predecessor is made
  // up for first, and then asked again.
  for (const found of [...findings.standings].sort(byAge)) {
    const { order, standing } = found
    const { accountId, id: orderId, replacesOrderId } = order
    if (!locked.has(accountId) || (standing && !isStanding(standing))) continue
    const before = seen.get(`${accountId} ${orderId}`)
    seen.delete(`${accountId} ${orderId}`)
    const theirs = standing && { status: standing.status, cumQty: dec(standing.cumQty) }
    const gaps = orderGaps(ourOrder(order), theirs)
    // Whether an order that still waits to be sent has arrived is asked by whoever sends it.
    if (gaps.length === 0 || (gaps[0] === 'absent' && order.isPending)) continue
    const isShort = gaps.includes('total') || gaps.includes('unclear')
    if (gaps.includes('total')) incomplete.accounts.add(accountId)
    if (gaps.includes('unclear')) incomplete.positions.add(`${accountId} ${order.symbol}`)
    const told = gapWords({ gaps, status: standing?.status ?? null, cumQty: standing?.cumQty ?? null })
    const known = before?.told === told ? before : { since: now, isConfirmed: false }
    const waits = short.has(`${accountId} ${replacesOrderId}`)
    if (waits || (isShort && !known.isConfirmed)) short.add(`${accountId} ${orderId}`)
    const isSettled = !waits && !known.isConfirmed && now - known.since > patience
    if (isSettled) settle(conclusion, found, gaps)
    const isConfirmed = known.isConfirmed || isSettled
    orders.push({ accountId, orderId, told, since: known.since, isConfirmed })
  }
  // No answer is no news.
  const unanswered = [...seen.values()].filter(({ since }) => now - since < watchedFor)
  orders.push(...unanswered)
  return incomplete
}

const ourOrder = ({ status, executed, restated, replacesOrderId }: SentOrder) => ({
  status,
  executed: dec(executed),
  restated: restated?.map(dec) ?? null,
  isReplacement: replacesOrderId !== null,
})

/** An order before those that replace it. */
const byAge = (one: Findings['standings'][number], other: Findings['standings'][number]): number =>
  one.order.id - other.order.id

/** Makes up for the reports that never came; what no report could say is told to the operator. */
function settle(
  conclusion: Conclusion,
  { order, clientOrderId, standing }: Findings['standings'][number],
  gaps: readonly OrderGap[],
): void {
  const { findings, now, reports } = conclusion
  const { brokerId } = findings
  const { accountId, symbol, side, id: orderId, endedAt } = order
  for (const kind of gaps) {
    const reportKey = `reconciled:${kind}:${clientOrderId}:${now}`
    const report = { brokerId, accountId, clientOrderId, reportKey, symbol, text: null, occurredAt: now }
    const px = standing?.avgPx ?? null
    if (isForOperator(kind) || (kind === 'total' && px === null)) {
      const key = `${kind}:${brokerId}:${accountId}:${clientOrderId}`
      const detail = { brokerId, accountId, clientOrderId, orderId, ...standing }
      conclusion.incidents.push({ key, kind: operatorKinds[kind], detail, occurredAt: now })
    } else if (kind === 'total') {
      // What has ended has executed by then: a split since has made other units of it.
      const occurredAt = Math.min(now, endedAt ?? now)
      const total = { side, quantity: standing?.cumQty ?? '0', px: px ?? '0' }
      reports.push({ ...report, kind, ...total, occurredAt })
    } else reports.push({ ...report, kind })
  }
}

const operatorKinds = {
  absent: 'OrderAbsent',
  stillWorking: 'OrderStillWorking',
  unclear: 'MissingExecutions',
  total: 'MissingExecutions',
} as const

const isForOperator = (kind: OrderGap): kind is 'absent' | 'stillWorking' | 'unclear' =>
  kind === 'absent' || kind === 'stillWorking' || kind === 'unclear'

/** Working orders that carry our name and that we do not work. */
async function nameStrangers(
  conclusion: Conclusion,
  environment: string,
  ids: readonly number[],
): Promise<void> {
  const { tx, findings } = conclusion
  const known = new Set(
    findings.standings.map(({ order, clientOrderId }) => orderNameOf(order.accountId, clientOrderId)),
  )
  const strangers = ids.flatMap((accountId) =>
    (findings.snapshots.get(accountId)?.working ?? [])
      .map(({ clientOrderId }) => ({ accountId, clientOrderId }))
      .filter(({ clientOrderId }) => isOurs(environment, clientOrderId))
      .filter(({ clientOrderId }) => !known.has(orderNameOf(accountId, clientOrderId))),
  )
  const keyed = strangers.map((one) => ({ ...one, key: parseClientOrderId(one.clientOrderId) }))
  const readable = keyed.flatMap(({ accountId, key, clientOrderId }) =>
    key ? [{ ...key, accountId, clientOrderId }] : [],
  )
  const places = await findOwnOrders(tx, readable)
  const ended = new Set([...places].map((place) => readable[place]?.clientOrderId))
  for (const { accountId, clientOrderId } of keyed) {
    const kind = ended.has(clientOrderId) ? 'OrderStillWorking' : 'UnknownOrder'
    raise(conclusion, kind, accountId, clientOrderId, { clientOrderId })
  }
}

/** Positions against the books; what differs for too long ends AutoSync in its account. */
async function comparePositions(
  conclusion: Conclusion,
  environment: string,
  accounts: readonly ReconciledAccount[],
  incomplete: Incomplete,
): Promise<void> {
  const { tx, findings, now } = conclusion
  const ids = accounts.map(({ id }) => id)
  const booked = groupBy(await sumBooked(tx, ids, environment), ({ accountId }) => accountId)
  const gaps = groupBy(await loadPositionGaps(tx, ids), ({ accountId }) => accountId)
  const sent = await listSentOrders(tx, ids, now)
  const moving = new Set([
    ...incomplete.accounts,
    ...sent.flatMap(({ accountId, isInFlight }) => (isInFlight ? [accountId] : [])),
  ])
  const compared = accounts.flatMap((account) => {
    const positions = findings.snapshots.get(account.id)?.positions ?? new Map<string, string>()
    const ours = new Map((booked.get(account.id) ?? []).map((row) => [row.symbol, dec(row.quantity)]))
    const seen = new Map((gaps.get(account.id) ?? []).map((row) => [row.symbol, row]))
    return [...new Set([...positions.keys(), ...ours.keys(), ...seen.keys()])].map((symbol): Compared => {
      const [book, before] = [ours.get(symbol) ?? zero, seen.get(symbol)]
      const accepted = dec(before?.accepted ?? 0)
      const broker = dec(positions.get(symbol) ?? 0)
      const difference = broker.minus(book).minus(accepted)
      return { account, accountId: account.id, symbol, book, broker, accepted, difference, before }
    })
  })
  const differing = compared.filter(({ difference }) => !difference.isZero())
  const effectsOn = await loadNearEffects(tx, differing, now)
  for (const one of compared) {
    const { account, symbol, book, broker, accepted, difference, before } = one
    const isMissing = moving.has(account.id) || incomplete.positions.has(`${account.id} ${symbol}`)
    const isMoving = isMissing || isLag(book.plus(accepted), difference, effectsOn(one))
    const gap = positionGap(one, isMoving, now)
    if (!gap) continue
    conclusion.positions.push(gap)
    if (!gap.isConfirmed || before?.isConfirmed === true) continue
    const detail = { symbol, broker: broker.toFixed(), booked: book.toFixed() }
    raise(conclusion, 'PositionMismatch', account.id, `${symbol}:${now}`, detail)
    if (account.isSyncEnabled) conclusion.mismatched.push(account.id)
  }
}

/** One symbol in one account, in the books and at the broker. */
interface Compared {
  readonly account: ReconciledAccount
  readonly accountId: number
  readonly symbol: string
  readonly book: Decimal
  readonly broker: Decimal
  /** What the owner was told of and let stand. */
  readonly accepted: Decimal
  /** What neither explains. */
  readonly difference: Decimal
  readonly before: PositionGapRow | undefined
}

/** What is to be remembered of one symbol; null where nothing differs and nothing was accepted. */
function positionGap(
  { account, symbol, book, broker, accepted, difference, before }: Compared,
  isMoving: boolean,
  now: Instant,
): PositionGapChange | null {
  const isSame = before !== undefined && difference.equals(before.difference)
  const isConfirmed = isSame && before.isConfirmed
  const since = isSame && (isConfirmed || !isMoving) ? before.since : now
  const reason = externalActivity({
    prefix: '',
    executions: [],
    ledgers: [book, accepted],
    brokerPosition: broker,
    isInFlight: isMoving,
    mismatchAgeSeconds: (now - since) / second,
    graceSeconds: patience / second,
    ignoreManualOrders: account.ignoresManualOrders,
  })
  if (difference.isZero() && accepted.isZero()) return null
  const row = { accountId: account.id, symbol, difference, accepted, since }
  return { ...row, isConfirmed: !difference.isZero() && (isConfirmed || reason !== null) }
}
