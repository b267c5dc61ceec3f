/**
 * Applies what brokers reported, account by account: orders, executions, sub-ledgers and cash move in one
 * transaction or not at all, so a crash leaves the reports to be applied again. An execution is booked once,
 * by its id; what no order of ours explains is booked as the account's own and told to the operator.
 */

import { isLive } from '../../domain/codes.ts'
import { clientOrderId } from '../../domain/orders/client-order-id.ts'
import { minute } from '../../domain/time.ts'
import { carryLate } from '../../storage/brokers/carried.ts'
import { loadStanding } from '../../storage/brokers/inferred-fills.ts'
import { loadPassedActions } from '../../storage/brokers/late-executions.ts'
import { type EndedOrder, watchEnds } from '../../storage/brokers/reconciliation.ts'
import {
  areReportsWaiting,
  type BustedExecution,
  claimReportedAccounts,
  endKinds,
  listReportedAccounts,
  loadBusted,
  loadReports,
  lockReportedOrders,
  type ReportedOrder,
  type ReportRow,
  saveReportedOrders,
  settleReports,
} from '../../storage/brokers/reports.ts'
import type { NamedOrder } from '../../storage/brokers/sent-orders.ts'
import type { Transaction } from '../../storage/database/sql.ts'
import { markSetups } from '../../storage/mirror/sync-due.ts'
import type { Among } from '../../storage/work/among.ts'
import type { Step, WorkContext } from '../context.ts'
import { isolated } from '../isolation.ts'
import { ourOrderKey } from '../own-orders.ts'
import { bookExecutions } from './book-executions.ts'
import { LateExecutions, momentsOf } from './late-executions.ts'
import { applyBatch, type Batch, nameOf } from './report-batch.ts'
import { followBatch } from './report-effects.ts'

const accountsAtOnce = 1_000
const reportsAtOnce = 4_000
const statementTimeoutMs = 30_000

/** Applies every report that has arrived; answers how many. What cannot be applied holds up its own account alone. */
export const applyReports = (ctx: WorkContext): Promise<number> =>
  isolated(ctx, {
    name: 'reports of an account',
    work: (accounts) => applyAll(ctx, accounts),
    list: (accounts, limit) => listReportedAccounts(ctx.db.read, accounts, limit),
  })

/** Applies what has arrived in these accounts. */
async function applyAll(ctx: WorkContext, among: Among): Promise<number> {
  let applied = 0
  while (!ctx.ending?.aborted) {
    const apply = (tx: Transaction) => applyNext(ctx, tx, among)
    const { count, isLast } = await ctx.db.transaction(apply, { statementTimeoutMs })
    applied += count
    // What others hold, or an opening that is not booked yet, is not waited for: it stays due.
    if (isLast || count === 0) break
  }
  return applied
}

interface Applied {
  readonly count: number
  readonly isLast: boolean
}

async function applyNext(ctx: WorkContext, tx: Transaction, among: Among): Promise<Applied> {
  const accounts = await claimReportedAccounts(tx, among, accountsAtOnce)
  if (accounts.length === 0) return { count: 0, isLast: true }
  const reports = await loadReports(
    tx,
    accounts.map(({ id }) => id),
    reportsAtOnce,
  )
  const { environment } = ctx.settings
  const busted = await loadBusted(tx, reports)
  const keys = namesOf(environment, reports, busted)
  const orders = keys.length > 0 ? await lockReportedOrders(tx, keys) : []
  const hasTotals = reports.some(({ kind }) => kind === 'total')
  const [standing, passed] = await Promise.all([
    loadStanding(tx, orders, hasTotals ? orders : []),
    loadPassedActions(tx, momentsOf({ reports, busted, standing: [] })),
  ])
  const given = { reports, orders, busted, standing }
  const actions = standing.length === 0 ? passed : await loadPassedActions(tx, momentsOf(given))
  const late = new LateExecutions(actions, given)
  const orderOf = ordersByName(environment, orders)
  const present = late.inPresentUnits(given, orderOf)
  const batch = applyBatch(environment, present)
  const now = ctx.clock.now()
  const [ofToday] = await Promise.all([
    bookExecutions(ctx, tx, batch.executions, { accounts, late }),
    saveReportedOrders(tx, batch.changes),
    carryLate(tx, batch.changes),
    settleReports(
      tx,
      reports.map(({ id }) => id),
      now,
    ),
  ])
  await watchEnds(tx, endsOf(reports, orderOf), now)
  await followBatch(tx, batch, { accounts, ofToday }, now)
  const { news, rest } = setupsOf(environment, reports, orders, batch)
  await tx.withCommit(() => Promise.all([markSetups(tx, news, now), markSetups(tx, rest, now + minute)]))
  const isLast = accounts.length < accountsAtOnce && reports.length < reportsAtOnce
  return { count: reports.length, isLast }
}

/** Finds the order that a report names. */
function ordersByName(environment: string, orders: readonly ReportedOrder[]) {
  const named = new Map(orders.map((order) => [nameOf(order.accountId, order), order]))
  return (report: ReportRow): ReportedOrder | undefined => {
    const key = ourOrderKey(environment, report.clientOrderId)
    return key ? named.get(nameOf(report.accountId, key)) : undefined
  }
}

/** Orders of which a report tells the end, with the broker's count. */
const endsOf = (
  reports: readonly ReportRow[],
  orderOf: (report: ReportRow) => ReportedOrder | undefined,
): EndedOrder[] =>
  reports.flatMap((report) => {
    const { accountId, kind, cumQty } = report
    const order = kind === 'replace' || endKinds.includes(kind) ? orderOf(report) : undefined
    return order && cumQty !== null ? [{ accountId, orderId: order.id, cumQty }] : []
  })

/** The orders that reports name, and those whose executions they take back, each once. */
function namesOf(
  environment: string,
  reports: readonly ReportRow[],
  busted: readonly BustedExecution[],
): NamedOrder[] {
  const names = new Map<string, NamedOrder>()
  for (const report of reports) {
    const key = ourOrderKey(environment, report.clientOrderId)
    if (key) names.set(`${report.accountId} ${report.clientOrderId}`, { accountId: report.accountId, ...key })
  }
  for (const { accountId, setupId, source, sourceId, revision } of busted) {
    if (setupId === null || source === null || sourceId === null || revision === null) continue
    const key = { environment, setupId, source, sourceId, revision }
    names.set(`${accountId} ${clientOrderId(key)}`, { accountId, ...key })
  }
  return [...names.values()]
}

/**
 * The setups of these orders. The rest has heard only that orders which go on cannot be canceled: that gives
 * AutoSync nothing to do but to ask the same again, over and over, as long as the broker says no.
 */
function setupsOf(
  environment: string,
  reports: readonly ReportRow[],
  orders: readonly ReportedOrder[],
  { changes, executions }: Batch,
): { readonly news: readonly number[]; readonly rest: readonly number[] } {
  const ended = new Set(changes.flatMap(({ id, status }) => (isLive(status) ? [] : [id])))
  const news = new Set([
    ...reports.flatMap((report) =>
      report.kind === 'cancelReject' ? [] : (ourOrderKey(environment, report.clientOrderId)?.setupId ?? []),
    ),
    ...orders.flatMap(({ id, setupId }) => (ended.has(id) ? [setupId] : [])),
    ...executions.flatMap(({ order }) => order?.setupId ?? []),
  ])
  const [heard, rest] = [new Set<number>(), new Set<number>()]
  for (const { setupId } of orders) (news.has(setupId) ? heard : rest).add(setupId)
  return { news: [...heard], rest: [...rest] }
}

/** Reports wait to be applied. */
export const reportStep: Step = {
  name: 'applyReports',
  due: () => areReportsWaiting,
  run: applyReports,
}
