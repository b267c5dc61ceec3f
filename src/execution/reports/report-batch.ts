/**
 * A batch of broker reports against the orders they name. Pure: the state machine moves the orders, executions
 * and incidents are collected for whoever writes them down. Every execution is booked, also one of a finished
 * order, above the quantity or of nobody: what a broker executed is a fact.
 */

import { isLive, oppositeOf, type Side } from '../../domain/codes.ts'
import { type Decimal, dec, decOrNull, max, zero } from '../../domain/decimal.ts'
import type { ClientOrderKey } from '../../domain/orders/client-order-id.ts'
import {
  applyToChain,
  type ChainOrder,
  lastOfChain,
  pendingReplacement,
} from '../../domain/orders/order-chain.ts'
import { isComplete, type OrderState, type Outcome } from '../../domain/orders/order-state.ts'
import type { Instant } from '../../domain/time.ts'
import type { StandingExecution } from '../../storage/brokers/inferred-fills.ts'
import type {
  BookedExecution,
  BustedExecution,
  OrderChange,
  ReportedOrder,
  ReportKind,
  ReportRow,
} from '../../storage/brokers/reports.ts'
import type { IncidentKind, NewIncident } from '../../storage/work/incidents.ts'
import { isOurs, ourOrderKey } from '../own-orders.ts'
import { changeOf, lateOf, type TrackedOrder } from './report-changes.ts'
import { chainOrderOf, eventOf } from './report-events.ts'
import { foretold, inferred, replacedBy, type StandingFill, standingFill } from './standing-fills.ts'

/** An execution to book; without an order it is nobody's. */
export interface BatchExecution {
  readonly report: ReportRow
  readonly order: ReportedOrder | null
  readonly side: Side
  readonly quantity: Decimal
  readonly px: Decimal
  /** What the order's chain had executed before, for its commission. */
  readonly before: OrderState | null
  /** The execution that this one takes back; `known` where it was booked before this batch. */
  readonly busts: { readonly execId: string; readonly known: BookedExecution | null } | null
  /** Made of the broker's total; no report has told of it. */
  readonly isInferred: boolean
}

export interface Batch {
  readonly executions: readonly BatchExecution[]
  readonly changes: readonly OrderChange[]
  readonly incidents: readonly NewIncident[]
  /** Accounts in which somebody else has traded. */
  readonly foreign: ReadonlySet<number>
  /** Accounts that their broker has closed to us, and why. */
  readonly closures: ReadonlyMap<number, string>
}

type Chain = readonly ChainOrder<number>[]

/** An order's name among those of all accounts. */
export const nameOf = (accountId: number, key: Omit<ClientOrderKey, 'environment'>): string =>
  `${accountId} ${key.setupId} ${key.source} ${key.sourceId} ${key.revision}`

/** What is taken out of an order again, and as of when that counts. */
type Unfilled = Pick<StandingFill, 'quantity' | 'px' | 'at' | 'inLast'>

const asOf = (report: ReportRow): Instant => report.asOf ?? report.occurredAt

/** What a batch is decided from: its reports, and what is booked already, as far as they may concern it. */
export interface BatchInput {
  readonly reports: readonly ReportRow[]
  readonly orders: readonly ReportedOrder[]
  /** Executions that are taken back. */
  readonly busted: readonly BustedExecution[]
  /** All of the orders that have a total to compare with, or inferred fills to replace. */
  readonly standing: readonly StandingExecution[]
}

/** Applies the reports in their order. */
export function applyBatch(environment: string, input: BatchInput): Batch {
  const batch = new BatchState(input)
  for (const report of input.reports) {
    if (batch.close(report) || batch.isVoid(report)) continue
    const key = ourOrderKey(environment, report.clientOrderId)
    const order = key ? batch.find(nameOf(report.accountId, key)) : undefined
    if (!order) batch.strange(report, isOurs(environment, report.clientOrderId))
    else if (isOfAnother(report, order)) batch.strange(report, true)
    else batch.apply(report, order)
  }
  return batch.result()
}

/** No order trades another instrument than its own, or the other way: who says so means something else. */
const isOfAnother = ({ kind, instrumentId, side }: ReportRow, order: ReportedOrder): boolean =>
  instrumentId !== order.instrumentId || (kind === 'fill' && side !== null && side !== order.side)

const untouched = { rejectText: null, endedAt: null, isAskedAgain: false, late: [] }

/** The orders of a batch while its reports are applied. */
class BatchState {
  readonly #orders = new Map<number, TrackedOrder>()
  readonly #byName = new Map<string, ReportedOrder>()
  readonly #chains = new Map<number, { chain: Chain }>()
  readonly #executions: BatchExecution[] = []
  readonly #incidents: NewIncident[] = []
  readonly #foreign = new Set<number>()
  readonly #closures = new Map<number, string>()
  readonly #booked: ReadonlyMap<string, BustedExecution>
  #standing: readonly StandingFill[]
  /** Executions that were canceled before they were told. */
  readonly #void = new Set<string>()
  /** Executions that this batch took back. */
  readonly #takenBack = new Set<string>()

  constructor({ orders, busted, standing }: BatchInput) {
    this.#booked = new Map(busted.map((row) => [`${row.accountId} ${row.execId}`, row]))
    this.#standing = standing.map(standingFill)
    for (const row of [...orders].sort((one, other) => one.id - other.id)) {
      const state = chainOrderOf(row)
      this.#orders.set(row.id, { row, before: state, ...untouched })
      this.#byName.set(nameOf(row.accountId, row), row)
      const holder = (row.replacesOrderId !== null && this.#chains.get(row.replacesOrderId)) || { chain: [] }
      holder.chain = [...holder.chain, state]
      this.#chains.set(row.id, holder)
    }
  }

  find(name: string): ReportedOrder | undefined {
    return this.#byName.get(name)
  }

  apply(report: ReportRow, order: ReportedOrder, isInferred = false): void {
    if (report.kind === 'bust') {
      this.#bust(report, order)
      return
    }
    if (report.kind === 'total') {
      this.#infer(report, order)
      return
    }
    const holder = this.#chains.get(order.id)
    const event = eventOf(report)
    if (!holder || !event) {
      this.#raise(report, 'MalformedReport', { orderId: order.id })
      return
    }
    if (event.event === 'FILL' && !isInferred) this.#makeRoom(report, order, holder.chain, event.quantity)
    const before = holder.chain
    const own = before.find(({ id }) => id === order.id)!
    const pending = pendingReplacement(before, own)
    // What is complete is refused for that, and the answer to its replacement is what is left to ask for.
    const isUnclear = own.status === '6' && pending?.held === false && !isComplete(own)
    if (event.event === 'CANCEL_REJECT' && isUnclear) {
      this.#orders.set(order.id, { ...this.#orders.get(order.id)!, isAskedAgain: true })
      return
    }
    const { chain, outcome } = applyToChain(before, order.id, event)
    holder.chain = chain
    if (event.event === 'FILL') {
      this.#execute(report, order, own, isInferred)
    }
    this.#note(report, before, chain, asOf(report))
    if (isIncident(outcome)) this.#raise(report, incidentKinds[outcome], { orderId: order.id })
  }

  /** Whether the report closes the account to us; of several the first says why. */
  close({ kind, accountId, text }: ReportRow): boolean {
    const reason = closureReasons[kind]
    if (reason === undefined) return false
    if (!this.#closures.has(accountId)) this.#closures.set(accountId, text ? `${reason}: ${text}` : reason)
    return true
  }

  /** An execution that had been canceled before it arrived never was. */
  isVoid({ kind, isBusted, accountId, reportKey }: ReportRow): boolean {
    return kind === 'fill' && (isBusted || this.#void.has(`${accountId} ${reportKey}`))
  }

  /**
   * Takes an execution back, from the order that had it: a broker may name another order of the chain, or none. One
   * that is not known yet will be ignored when it comes.
   */
  #bust(report: ReportRow, named: ReportedOrder | null): void {
    const { accountId } = report
    const execId = report.text ?? ''
    const name = `${accountId} ${execId}`
    const known = this.#booked.get(name) ?? null
    const fill = this.#executions.find(
      (execution) => execution.report.reportKey === execId && execution.report.accountId === accountId,
    )
    const had = known && (this.#orders.get(known.orderId ?? 0)?.row ?? null)
    const order = fill ? fill.order : known ? had : named
    this.#raise(report, 'ExecutionBusted', { execId, orderId: order?.id ?? null })
    if (known?.isBusted || this.#takenBack.has(name)) return
    const original = fill ?? known
    if (!original) {
      this.#void.add(name)
      return
    }
    this.#takenBack.add(name)
    const quantity = dec(original.quantity)
    const px = dec(original.px)
    const side = oppositeOf(original.side)
    const { at, inLast } = fill ? { ...fill.report, at: asOf(fill.report) } : known!
    if (order) this.#unfill(report, order, { quantity, px, at, inLast })
    this.#standing = this.#standing.filter((one) => one.orderId !== order?.id || one.execId !== execId)
    const told = { ...report, instrumentId: fill ? fill.report.instrumentId : (known?.instrumentId ?? null) }
    const busts = { execId, known }
    this.#executions.push({ report: told, order, side, quantity, px, before: null, busts, isInferred: false })
  }

  /** Books what the broker's total claims beyond the executions that were told. */
  #infer(report: ReportRow, order: ReportedOrder): void {
    const fills = this.#standing.filter(({ orderId }) => orderId === order.id)
    const { quantity, px } = report
    const missing = quantity === null || px === null ? null : inferred(fills, dec(quantity), dec(px))
    if (!missing) return
    if (!missing.price.greaterThan(zero)) {
      this.#raise(report, 'MalformedReport', { orderId: order.id })
      return
    }
    for (const fill of fills) if (fill.isInferred) this.#takeOut(report, order, fill)
    const told = { quantity: missing.quantity.toFixed(), px: missing.price.toFixed() }
    this.apply({ ...report, ...told, kind: 'fill' }, order, true)
    this.#raise(report, 'InferredFill', { orderId: order.id, ...told })
  }

  /** Inferred fills give way to an execution that was told, as far as it may be one of theirs. */
  #makeRoom(report: ReportRow, order: ReportedOrder, chain: Chain, quantity: Decimal): void {
    const fills = this.#standing.filter(
      ({ orderId, isInferred, at }) => isInferred && orderId === order.id && at >= (report.splitAt ?? at),
    )
    if (fills.length === 0) return
    const all = chain.reduce((most, { filledQuantity }) => max(most, filledQuantity), zero)
    const booked = all.minus(order.carriedQty)
    const known = foretold(quantity, booked, decOrNull(report.cumQty))
    for (const { fill, rest } of replacedBy(fills, known)) {
      this.#takeOut(report, order, fill)
      if (!rest.greaterThan(zero)) continue
      const { side, px } = fill
      const kept = {
        side,
        px: px.toFixed(),
        quantity: rest.toFixed(),
        reportKey: `${fill.execId}/rest:${report.reportKey}`,
        corrects: fill.execId,
      }
      this.apply({ ...report, ...kept, kind: 'fill' }, order, true)
    }
  }

  /** The order is as it was before the inferred fill; an end that was told stands. */
  #takeOut(report: ReportRow, order: ReportedOrder, fill: StandingFill): void {
    const { execId, side, quantity, px, known } = fill
    this.#standing = this.#standing.filter((one) => one.orderId !== order.id || one.execId !== execId)
    this.#unfill(report, order, fill, true)
    this.#executions.push({
      report: { ...report, reportKey: `${execId}/back:${report.reportKey}` },
      order,
      quantity,
      px,
      side: oppositeOf(side),
      before: null,
      busts: { execId, known },
      isInferred: false,
    })
  }

  #unfill(report: ReportRow, order: ReportedOrder, fill: Unfilled, live?: boolean): void {
    const holder = this.#chains.get(order.id)
    if (!holder) return
    const before = holder.chain
    const last = lastOfChain(before, before.find(({ id }) => id === order.id)!)
    // Only a filled order has a rest that may or may not be worked again; any other stays what it is.
    const { quantity, px: price, inLast, at } = fill
    const event = { event: 'BUST', quantity, price, inLast, live: live ?? last.status !== '2' } as const
    holder.chain = applyToChain(before, order.id, event).chain
    this.#note(report, before, holder.chain, at)
  }

  /** A report that no order of ours explains: an execution is booked as nobody's. */
  strange(report: ReportRow, isOurs: boolean): void {
    if (report.kind === 'bust') {
      this.#bust(report, null)
      return
    }
    // Of orders that are not ours only what they execute matters.
    if (report.kind !== 'fill' && !isOurs) return
    if (report.kind === 'fill') this.#execute(report, null, null)
    if (report.kind === 'fill' && !isOurs) this.#foreign.add(report.accountId)
    this.#raise(report, isOurs ? 'UnknownOrder' : 'ExternalExecution', {})
  }

  result(): Batch {
    const changes = [...this.#orders.values()].flatMap((tracked): OrderChange[] => {
      const now = this.#chains.get(tracked.row.id)?.chain.find(({ id }) => id === tracked.row.id)
      return !now || (now === tracked.before && !tracked.isAskedAgain) ? [] : [changeOf(tracked, now)]
    })
    return {
      executions: this.#executions,
      changes,
      incidents: this.#incidents,
      foreign: this.#foreign,
      closures: this.#closures,
    }
  }

  /** Remembers when orders ended and what the broker said about it. */
  #note(report: ReportRow, before: Chain, after: Chain, at: Instant): void {
    for (const order of after) {
      const was = before.find(({ id }) => id === order.id)
      const tracked = this.#orders.get(order.id)
      if (!tracked || !was || was === order) continue
      const endedAt = isLive(was.status) && !isLive(order.status) ? report.occurredAt : tracked.endedAt
      const isRefused = order.status === '8' && was.status !== '8'
      const rejectText = isRefused ? (report.text ?? 'rejected by the broker') : tracked.rejectText
      const late = [...tracked.late, ...lateOf(tracked.before, was, order, at)]
      this.#orders.set(order.id, { ...tracked, endedAt, rejectText, late })
    }
  }

  #execute(
    report: ReportRow,
    order: ReportedOrder | null,
    before: OrderState | null,
    isInferred = false,
  ): void {
    const { side, quantity, px, instrumentId } = report
    if (side === null || quantity === null || px === null || instrumentId === null) {
      this.#raise(report, 'MalformedReport', {})
      return
    }
    const traded = { side, quantity: dec(quantity), px: dec(px), isInferred }
    this.#executions.push({ report, order, before, busts: null, ...traded })
    if (order) {
      const fill = {
        orderId: order.id,
        execId: report.reportKey,
        at: asOf(report),
        inLast: report.inLast,
        known: null,
        ...traded,
      }
      this.#standing = [...this.#standing, fill]
    }
  }

  #raise(report: ReportRow, kind: IncidentKind, detail: Record<string, unknown>): void {
    const { brokerId, accountId, reportKey, clientOrderId, symbol, side, quantity, px, occurredAt } = report
    this.#incidents.push({
      key: `${kind}:${brokerId}:${accountId}:${reportKey}`,
      kind,
      detail: {
        brokerId,
        accountId,
        reportKey,
        clientOrderId,
        report: report.kind,
        symbol,
        side,
        quantity,
        px,
        ...detail,
      },
      occurredAt,
    })
  }
}

const closureReasons: Partial<Record<ReportKind, string>> = {
  delink: 'BrokerDelinked',
  marginCall: 'MarginCall',
  patternDayTrader: 'PatternDayTrader',
  restriction: 'AccountRestricted',
}

const incidentKinds = { lateFill: 'LateFill', overfill: 'Overfill', anomaly: 'OrderAnomaly' } as const

const isIncident = (outcome: Outcome): outcome is keyof typeof incidentKinds => outcome in incidentKinds
