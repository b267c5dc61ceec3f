/**
 * Applies what brokers reported, account by account: orders, executions, sub-ledgers and cash move in one
 * transaction or not at all, so a crash leaves the reports to be applied again. An execution is booked once,
 * by its id; what no order of ours explains is booked as the account's own and told to the operator.
 */

import { isLive } from '../../domain/codes.ts'
import { type Decimal, dec, one, roundTo, zero } from '../../domain/decimal.ts'
import { type ClientOrderKey, clientOrderId } from '../../domain/orders/client-order-id.ts'
import {
  addTurnover,
  fillCommission,
  noTurnover,
  type OrderTurnover,
} from '../../domain/positions/commission.ts'
import {
  applyFill,
  cashTakenBack,
  flat,
  isPaidInFull,
  type Position,
  type PositionChange,
  takeBack,
} from '../../domain/positions/position.ts'
import { commissionPlans } from '../../domain/positions/tables/commission-plans.ts'
import { type Instant, minute } from '../../domain/time.ts'
import {
  type LedgerChange,
  type LedgerKey,
  type LedgerRow,
  ledgerName,
  loadLedgers,
  saveLedgers,
} from '../../storage/accounts/ledgers.ts'
import { settleAgain } from '../../storage/actions/contract-ends.ts'
import { carryLate } from '../../storage/brokers/carried.ts'
import { loadStanding } from '../../storage/brokers/inferred-fills.ts'
import { loadPassedActions } from '../../storage/brokers/late-executions.ts'
import {
  areReportsWaiting,
  type BustedExecution,
  claimReportedAccounts,
  insertExecutions,
  listReportedAccounts,
  loadBusted,
  loadReports,
  lockReportedOrders,
  type NewExecution,
  type ReportedAccount,
  type ReportedOrder,
  type ReportRow,
  saveReportedOrders,
  settleReports,
} from '../../storage/brokers/reports.ts'
import type { Transaction } from '../../storage/database/sql.ts'
import { loadRateTable } from '../../storage/market/quotes.ts'
import { markSetups } from '../../storage/mirror/sync-due.ts'
import type { Among } from '../../storage/work/among.ts'
import type { Step, WorkContext } from '../context.ts'
import { isolated } from '../isolation.ts'
import {
  inUnitsOfToday,
  LateExecutions,
  momentsOf,
  type ToldExecution,
  type TradeOfToday,
} from './late-executions.ts'
import { applyBatch, type Batch, type BatchExecution, nameOf, orderKeyOf } from './report-batch.ts'
import { followBatch } from './report-effects.ts'
import { type BookedMoney, TakenBack } from './taken-back.ts'

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
  const present = late.inPresentUnits(given, ordersByName(environment, orders))
  const batch = applyBatch(environment, present.reports, present.orders, present)
  const now = ctx.clock.now()
  const [ofToday] = await Promise.all([
    book(ctx, tx, batch.executions, { accounts, late }),
    saveReportedOrders(tx, batch.changes),
    carryLate(tx, batch.changes),
    settleReports(
      tx,
      reports.map(({ id }) => id),
      now,
    ),
  ])
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
    const key = orderKeyOf(environment, report)
    return key ? named.get(nameOf(report.accountId, key)) : undefined
  }
}

type OrderNamed = ClientOrderKey & { readonly accountId: number }

/** The orders that reports name, and those whose executions they take back, each once. */
function namesOf(
  environment: string,
  reports: readonly ReportRow[],
  busted: readonly BustedExecution[],
): OrderNamed[] {
  const names = new Map<string, OrderNamed>()
  for (const report of reports) {
    const key = orderKeyOf(environment, report)
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
      report.kind === 'cancelReject' ? [] : (orderKeyOf(environment, report)?.setupId ?? []),
    ),
    ...orders.flatMap(({ id, setupId }) => (ended.has(id) ? [setupId] : [])),
    ...executions.flatMap(({ order }) => order?.setupId ?? []),
  ])
  const [heard, rest] = [new Set<number>(), new Set<number>()]
  for (const { setupId } of orders) (news.has(setupId) ? heard : rest).add(setupId)
  return { news: [...heard], rest: [...rest] }
}

/** A ledger's row while executions are booked on it. */
interface Ledger {
  readonly position: Position
  readonly openedAt: Instant | null
}

/** Books executions on ledgers and on the accounts' cash; answers what those that were told late come to today. */
async function book(
  ctx: WorkContext,
  tx: Transaction,
  executions: readonly BatchExecution[],
  { accounts, late }: { readonly accounts: readonly ReportedAccount[]; readonly late: LateExecutions },
): Promise<ReadonlyMap<BatchExecution, TradeOfToday>> {
  const ofToday = new Map<BatchExecution, TradeOfToday>()
  if (executions.length === 0) return ofToday
  const rates = await ratesOf(tx, executions, accounts)
  const keys = executions.map(ledgerOf)
  await late.load(tx, keys)
  const stored = await loadLedgers(tx, distinct(keys))
  const takenBack = await TakenBack.load(tx, executions, keys)
  const ledgers = new Map<string, LedgerChange>()
  const booked: NewExecution[] = []
  for (const execution of executions) {
    const key = ledgerOf(execution)
    const name = ledgerName(key)
    const original = execution.busts && (execution.busts.known ?? findBooked(booked, execution))
    const told = late.told(execution)
    const present = termsOf(execution.report, rates.get(execution.report.accountId))
    const terms = told ? present : atItsRate(execution, original, { key, present, takenBack })
    const before = heldIn(ledgers.get(name) ?? stored.get(name), terms)
    const commission = original
      ? dec(original.commission).negated()
      : commissionOf(ctx, execution, terms, told)
    takenBack.add(key, { ...execution, ...told }, terms)
    const change = moved(before.position, execution, { told, late, terms, takenBack, key })
    const cash = isGivenBack(execution, terms)
      ? dec(original?.cashChange ?? 0).negated()
      : change.cash.minus(commission)
    booked.push(executionOf({ ...execution, ...told }, commission, roundTo(cash, 12)))
    const { quantity, avgPx } = change.position
    if (told) ofToday.set(execution, inUnitsOfToday(told, quantity.minus(before.position.quantity)))
    const openedAt = change.openedAt ?? openedAtAfter(before, change, (told ?? execution).report.occurredAt)
    ledgers.set(name, { ...key, quantity, avgPx, openedAt })
  }
  const changed = [...ledgers.values()]
  const traded = [...new Set(changed.map(({ instrumentId }) => instrumentId))]
  await Promise.all([
    insertExecutions(tx, booked),
    saveLedgers(tx, changed),
    late.save(tx),
    settleAgain(tx, traded, ctx.clock.now()),
  ])
  return ofToday
}

/** What takes an execution back, or its place, is of the moment of that one: at its rate, as far as that is known. */
function atItsRate(
  { report }: BatchExecution,
  original: BookedMoney | null,
  { key, present, takenBack }: { key: LedgerKey; present: Terms; takenBack: TakenBack },
): Terms {
  if (!present.isForeign) return present
  const target = original?.execId ?? report.corrects
  const fx = target && takenBack.rateOf(key, target, original)
  return fx ? { ...present, fx } : present
}

/** Under what an execution moves its ledger. */
interface Circumstances {
  readonly told: ToldExecution | undefined
  readonly late: LateExecutions
  readonly terms: Terms
  readonly takenBack: TakenBack
  readonly key: LedgerKey
}

type Moved = Pick<PositionChange, 'position' | 'opened' | 'cash'> & { readonly openedAt?: Instant }

/** What an execution makes of a position; one that was told late, with what was booked meanwhile. */
function moved(position: Position, execution: BatchExecution, given: Circumstances): Moved {
  const { told, late, terms, takenBack, key } = given
  const { side, quantity, px: price, busts } = execution
  const fill = { side, quantity, price }
  if (!busts)
    return told ? late.apply(position, execution, { told, terms }) : applyFill(position, fill, terms)
  const undone = told ? late.apply(position, execution, { told, terms }).position : takeBack(position, fill)
  const left = takenBack.heldIn(key, undone.quantity, late) ?? { position: undone }
  return { ...left, opened: zero, cash: cashTakenBack(position, left.position, fill, terms) }
}

/** The cash of one that takes another back is that of the other, where all of it was paid or received. */
const isGivenBack = ({ busts }: BatchExecution, { securityType }: Terms): boolean =>
  busts !== null && isPaidInFull(securityType)

/** The execution that is taken back, booked in the same batch. */
const findBooked = (booked: readonly NewExecution[], { busts, report }: BatchExecution): NewExecution => {
  const found = booked.find(
    ({ execId, accountId }) => execId === busts?.execId && accountId === report.accountId,
  )
  if (!found) throw new Error(`execution ${busts?.execId} is taken back before it was booked`)
  return found
}

/** Where an execution is booked; what nobody here ordered is the owner's own. */
const ledgerOf = ({ order, report }: BatchExecution) => ({
  setupId: order?.setupId ?? null,
  strategyId: order?.strategyId ?? null,
  accountId: report.accountId,
  instrumentId: report.instrumentId ?? 0,
})

const distinct = (keys: readonly LedgerKey[]): LedgerKey[] => [
  ...new Map(keys.map((key) => [ledgerName(key), key])).values(),
]

interface Terms {
  readonly securityType: NonNullable<ReportRow['securityType']>
  readonly pointValue: Decimal
  readonly fx: Decimal
  readonly isForeign: boolean
}

function termsOf(
  { securityType, pointValue, currency }: ReportRow,
  rates?: ReadonlyMap<string, Decimal>,
): Terms {
  return {
    securityType: securityType ?? 'CS',
    pointValue: dec(pointValue ?? 1),
    fx: rates?.get(currency ?? '') ?? one,
    isForeign: rates?.has(currency ?? '') ?? false,
  }
}

/** Each account's rates: its currency per unit of the currencies that its executions are quoted in. */
async function ratesOf(
  tx: Transaction,
  executions: readonly BatchExecution[],
  accounts: readonly ReportedAccount[],
): Promise<Map<number, ReadonlyMap<string, Decimal>>> {
  const byCurrency = await loadRateTable(
    tx,
    accounts.map(({ currency }) => currency),
    executions.flatMap(({ report }) => report.currency ?? []),
  )
  return new Map(accounts.map(({ id, currency }) => [id, byCurrency.get(currency) ?? new Map()]))
}

function heldIn(row: LedgerRow | LedgerChange | undefined, { pointValue, fx }: Terms): Ledger {
  if (!row || row.avgPx === null) return { position: flat, openedAt: null }
  const avgPx = dec(row.avgPx)
  // The cost in account currency is not kept beside the position: no cash depends on it.
  const position = { quantity: dec(row.quantity), avgPx, avgCost: avgPx.times(pointValue).times(fx) }
  return { position, openedAt: row.openedAt }
}

/** A position is as old as the fill that opened it from flat, or that carried it through zero. */
function openedAtAfter(
  before: Ledger,
  { position, opened }: { readonly position: Position; readonly opened: Decimal },
  at: Instant,
): Instant | null {
  if (position.quantity.isZero()) return null
  return position.quantity.abs().equals(opened) ? at : (before.openedAt ?? at)
}

/** The plan prices the order's whole chain after each fill; what nobody ordered costs nothing here. */
function commissionOf(
  ctx: WorkContext,
  { before, quantity, px, order }: BatchExecution,
  terms: Terms,
  told: ToldExecution | undefined,
): Decimal {
  if (ctx.settings.commissionPlan === 'none' || !order) return zero
  const pointValue = terms.pointValue.times(terms.fx)
  // An order that was restated since is charged for the units that it traded.
  const filled = told ? before?.filledQuantity.div(told.inOrder.units) : before?.filledQuantity
  const traded: OrderTurnover = before
    ? { quantity: filled ?? zero, notional: before.filledValue.abs().times(pointValue) }
    : noTurnover
  const price = told ? px.times(quantity).div(told.quantity) : px
  const after = addTurnover(traded, { quantity: told?.quantity ?? quantity, price, pointValue })
  return fillCommission(commissionPlans[0][terms.securityType], traded, after)
}

const executionOf = (
  { report, order, side, quantity, px, busts, isInferred }: BatchExecution,
  commission: Decimal,
  cashChange: Decimal,
): NewExecution => ({
  brokerId: report.brokerId,
  accountId: report.accountId,
  execId: report.reportKey,
  orderId: order?.id ?? null,
  setupId: order?.setupId ?? null,
  instrumentId: report.instrumentId ?? 0,
  side,
  quantity,
  px,
  commission,
  cashChange,
  busts: busts?.execId ?? null,
  isInferred,
  executedAt: report.occurredAt,
})

/** Reports wait to be applied. */
export const reportStep: Step = {
  name: 'applyReports',
  due: () => areReportsWaiting,
  run: applyReports,
}
