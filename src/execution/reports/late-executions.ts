/**
 * Executions that are told only after a dividend or a split of what they traded, as when a broker was not reachable
 * over night. The order is in new units where it was alive at the split, the ledger always; the execution itself stays
 * as it was told. What takes an execution back, or corrects it, after such an action counts as of that execution: it
 * was told in its units, and what the action has brought for it goes back as well.
 */
import { isLive } from '../../domain/codes.ts'
import {
  type Decimal,
  dec,
  ledgerPlaces,
  max,
  min,
  one,
  quantityPlaces,
  roundTo,
  sign,
  zero,
} from '../../domain/decimal.ts'
import { type Adjustment, distinctly, type Traded } from '../../domain/positions/late-execution.ts'
import {
  applyFill,
  type Conversion,
  flat,
  type Position,
  type PositionChange,
  takeBack,
} from '../../domain/positions/position.ts'
import type { Restated } from '../../domain/positions/split.ts'
import type { Instant } from '../../domain/time.ts'
import type { LedgerKey } from '../../storage/accounts/ledgers.ts'
import type { StandingExecution } from '../../storage/brokers/inferred-fills.ts'
import type { BookedAction } from '../../storage/brokers/late-executions.ts'
import {
  type BustedExecution,
  type ReportedAccount,
  type ReportedOrder,
  type ReportRow,
  targetOf,
} from '../../storage/brokers/reports.ts'
import type { Transaction } from '../../storage/database/sql.ts'
import type { OwnTrade } from '../../storage/mirror/transmissions.ts'
import { PassedActions } from '../passed-actions.ts'
import type { BatchExecution, BatchInput } from './report-batch.ts'

const factorsOf = (actions: readonly BookedAction[]): Restated =>
  actions.reduce(
    ({ units, price }, { newUnits, oldUnits, resizes }) => ({
      units: resizes ? units : units.times(newUnits).div(oldUnits),
      price: price.times(oldUnits).div(newUnits),
    }),
    { units: one, price: one },
  )

/** An execution as it was told, what was booked since, and what became of its units in the order that had it. */
export interface ToldExecution extends Pick<BatchExecution, 'quantity' | 'px' | 'report'> {
  readonly since: readonly BookedAction[]
  readonly inOrder: Restated
}

/** What an execution comes to for whoever has heard nothing of it and holds units of today. */
export type TradeOfToday = Pick<OwnTrade, 'side' | 'quantity' | 'px' | 'executedAt'>

/** One that has `moved` a ledger so far, in the units of the last split since; what takes it back, when that was said. */
export function inUnitsOfToday(
  { px, since }: ToldExecution,
  { report }: BatchExecution,
  moved: Decimal,
): TradeOfToday {
  const lastSplit = since.findLast(({ kind }) => kind === 'split')
  return {
    side: moved.isNegative() ? '2' : '1',
    quantity: moved.abs(),
    px: roundTo(px.times(factorsOf(since).price), ledgerPlaces),
    executedAt: Math.max(report.occurredAt, lastSplit?.at ?? 0),
  }
}

/** A report as it was told, with what was booked since. */
type LateReport = Pick<ToldExecution, 'report' | 'since' | 'inOrder'>

/** The execution that a report cancels or corrects: when it was made, and of what. */
type Origin = Pick<BustedExecution, 'at'> &
  Pick<ReportRow, 'instrumentId'> & { readonly [K in 'quantity' | 'px']: string | null }

/** Of those reports that cancel or correct an execution which is booked, or told before them in the batch. */
function originsOf({ reports, busted }: Pick<BatchInput, 'reports' | 'busted'>): ReadonlyMap<number, Origin> {
  const known = new Map<string, Origin>(busted.map((row) => [`${row.accountId} ${row.execId}`, row]))
  const origins = new Map<number, Origin>()
  for (const report of reports) {
    const { id, kind, accountId, reportKey, occurredAt, instrumentId, quantity, px } = report
    const origin = known.get(`${accountId} ${targetOf(report)}`)
    if (origin) origins.set(id, origin)
    const name = `${accountId} ${reportKey}`
    if (kind === 'fill' && !known.has(name))
      known.set(name, {
        instrumentId,
        quantity,
        px,
        ...origin,
        at: Math.min(occurredAt, origin?.at ?? occurredAt),
      })
  }
  return origins
}

/** What reports are about, from the earliest moment on as of which they may count. */
export function momentsOf(
  given: Pick<BatchInput, 'reports' | 'busted' | 'standing'>,
): Pick<ReportRow, 'instrumentId' | 'occurredAt'>[] {
  const origins = [...originsOf(given).values(), ...given.standing]
  return [...given.reports, ...origins.map(({ at, instrumentId }) => ({ instrumentId, occurredAt: at }))]
}

/** The late executions of a batch. */
export class LateExecutions {
  readonly #actions: readonly BookedAction[]
  readonly #late = new Map<number, LateReport>()
  /** Executions that are taken back or may give way, as they were told; those of this batch once they are booked. */
  readonly #booked = new Map<string, Pick<ToldExecution, 'quantity' | 'px'> & { readonly at: Instant }>()
  #passed: PassedActions | undefined

  /** `actions`: what was booked since the earliest of the reports and of what they are about. */
  constructor(
    actions: readonly BookedAction[],
    { busted, standing }: Pick<BatchInput, 'busted' | 'standing'>,
  ) {
    this.#actions = actions
    if (actions.length === 0) return
    for (const { accountId, execId, quantity, px, at } of [...busted, ...standing])
      this.#booked.set(`${accountId} ${execId}`, { quantity: dec(quantity), px: dec(px), at })
  }

  /** Everything as the orders count it now; the same where nothing is late. */
  inPresentUnits(given: BatchInput, orderOf: (report: ReportRow) => ReportedOrder | undefined): BatchInput {
    if (this.#actions.length === 0) return given
    const added = new Map<number, Decimal>()
    const rows = given.reports.map((row) => this.#fromOpening(row))
    const origins = originsOf({ ...given, reports: rows })
    const reports = rows.map((row) => {
      const order = orderOf(row)
      const told = this.#inUnitsOf(origins.get(row.id), row)
      const report = this.#asOf(told, origins.get(told.id))
      const { instrumentId } = report
      const since = this.#since(instrumentId, report.occurredAt)
      if (!order) {
        if (since.length > 0) this.#late.set(report.id, { report, since, inOrder: factorsOf([]) })
        return told
      }
      // An order that a split has restated did not end before it, and what is told of a replaced one may end the last.
      const last = lastOf(order, given.orders)
      const ends = this.#actions.filter(
        (action) => action.instrumentId === instrumentId && hasRestated(action, last),
      )
      const occurredAt = Math.max(told.occurredAt, ends.at(-1)?.at ?? 0)
      const counts = { asOf: report.occurredAt, inLast: this.#inLast(order, report.occurredAt, given.orders) }
      if (since.length === 0) return { ...told, ...counts, occurredAt, splitAt: ends.at(-1)?.at }
      const inOrder = factorsOf(since.filter((action) => hasRestated(action, order)))
      this.#late.set(report.id, { report, since, inOrder })
      if (report.kind !== 'fill' || report.quantity === null || report.px === null)
        return { ...told, ...counts, occurredAt }
      const restated = restatedBy(report.quantity, report.px, inOrder)
      // What is corrected had its room.
      if (report.corrects === null) added.set(order.id, (added.get(order.id) ?? zero).plus(restated.quantity))
      // Its broker's count is one of its own units: it says nothing of what is booked in new ones.
      const cumQty = inOrder.units.equals(one) ? report.cumQty : null
      return { ...told, ...counts, occurredAt, ...restated, cumQty }
    })
    const orders = new Map(given.orders.map((order) => [`${order.accountId} ${order.id}`, order]))
    const inUnitsOfOrder = <Row extends BustedExecution | StandingExecution>(row: Row): Row => {
      const order = orders.get(`${row.accountId} ${row.orderId}`)
      return order ? this.#restated(row, order, given.orders) : row
    }
    return {
      reports,
      busted: given.busted.map(inUnitsOfOrder),
      standing: given.standing.map(inUnitsOfOrder),
      orders: given.orders.map((order) => roomFor(order, added.get(order.id))),
    }
  }

  /** An execution in the units that its order counts in. */
  #restated<Row extends BustedExecution | StandingExecution>(
    row: Row,
    order: ReportedOrder,
    orders: readonly ReportedOrder[],
  ): Row {
    const inLast = this.#inLast(order, row.at, orders)
    const restating = this.#since(order.instrumentId, row.at).filter((action) => hasRestated(action, order))
    return restating.length > 0
      ? { ...row, inLast, ...restatedBy(row.quantity, row.px, factorsOf(restating)) }
      : { ...row, inLast }
  }

  /** What splits since an execution of a replaced order have made of its units, in the order that was alive at them. */
  #inLast(order: ReportedOrder, at: Instant, orders: readonly ReportedOrder[]): Restated | undefined {
    if (order.status !== '5') return undefined
    const last = lastOf(order, orders)
    const since = this.#actions.filter(
      (action) =>
        action.instrumentId === order.instrumentId &&
        action.at > at &&
        hasRestated(action, last) &&
        !hasRestated(action, order),
    )
    return since.length > 0 ? factorsOf(since) : undefined
  }

  /** What was told of an execution that is booked now; undefined where it is in present units. */
  told({ report, busts, quantity, px, isInferred }: BatchExecution): ToldExecution | undefined {
    const late = this.#late.get(report.id)
    if (!late) return undefined
    const { inOrder } = late
    const own = { ...report, occurredAt: late.report.occurredAt }
    if (busts) {
      const booked = this.#booked.get(`${report.accountId} ${busts.execId}`)
      if (!booked) return undefined
      // It was there until it was taken back, and before it was booked it was not.
      const occurredAt = Math.max(own.occurredAt, booked.at)
      const since = this.#since(report.instrumentId, occurredAt)
      return { ...booked, report: { ...own, occurredAt }, since, inOrder }
    }
    // What is left of an inferred fill has nothing that was told.
    const numbers = isInferred
      ? { quantity: quantity.div(inOrder.units), px: px.div(inOrder.price) }
      : { quantity: dec(late.report.quantity ?? 0), px: dec(late.report.px ?? 0) }
    this.#booked.set(`${report.accountId} ${report.reportKey}`, { ...numbers, at: own.occurredAt })
    return { ...late, ...numbers, report: own }
  }

  /** Reads what the actions have done to the ledgers of these accounts. */
  async load(tx: Transaction, accounts: readonly ReportedAccount[]): Promise<void> {
    if (this.#late.size === 0) return
    const holders = accounts.map(({ id: accountId, currency }) => ({ accountId, currency }))
    this.#passed = await PassedActions.load(tx, this.#actions, holders)
  }

  /** The position with the execution and what has become of it since; cash is that of the execution alone. */
  apply(
    position: Position,
    execution: BatchExecution,
    { told, terms }: { readonly told: ToldExecution; readonly terms: Conversion },
  ): Pick<PositionChange, 'position' | 'opened' | 'cash'> {
    const { side, order, busts, report } = execution
    const ledger = { setupId: order?.setupId ?? null, accountId: report.accountId }
    const { units, price } = factorsOf(told.since)
    const plain = { side, quantity: told.quantity.times(units), price: told.px.times(price) }
    const { cash } = applyFill(position, plain, terms)
    const signed = side === '1' ? told.quantity : told.quantity.negated()
    let traded: Traded = { quantity: signed, price: told.px }
    let paidOff = zero
    const passed = this.#passed
    if (!passed) throw new Error('what the actions have done was not read')
    for (const action of told.since) {
      paidOff = paidOffBy(action, passed.adjustment(action, ledger), paidOff)
      traded = passed.pass(traded, action, ledger, terms.pointValue)
    }
    const quantity = position.quantity.plus(traded.quantity)
    if (quantity.isZero()) return { position: flat, opened: zero, cash }
    // An average is that of all units: a fraction that was paid for was one of them.
    const isPart = sign(paidOff) === sign(position.quantity)
    const whole = isPart ? { ...position, quantity: position.quantity.plus(paidOff) } : position
    const change = busts
      ? { position: takeBack(whole, plain, terms), opened: zero }
      : applyFill(whole, plain, terms)
    // What is left where nothing should be was bought by this.
    const { avgPx, avgCost } =
      change.position.avgPx === null ? applyFill(flat, plain, terms).position : change.position
    return {
      position: { quantity, avgPx, avgCost },
      opened: min(change.opened, quantity.abs()),
      cash,
    }
  }

  /** What actions have done to a ledger as far as executions that were told since have changed it. */
  adjustmentsOf(key: LedgerKey): ReturnType<PassedActions['changed']> {
    return this.#passed?.changed(key) ?? []
  }

  async save(tx: Transaction): Promise<void> {
    await this.#passed?.save(tx)
  }

  /** What an action came before counts as of the execution that it cancels or corrects. */
  #asOf(report: ReportRow, origin: Origin | undefined): ReportRow {
    if (!origin) return report
    const instrumentId = report.kind === 'bust' ? origin.instrumentId : report.instrumentId
    const [before, since] = [origin.at, report.occurredAt].map((at) => this.#since(instrumentId, at))
    const occurredAt = before?.length === since?.length ? report.occurredAt : origin.at
    return { ...report, instrumentId, occurredAt }
  }

  /** What is told of the day of an action counts from its opening: it is in new units, and paid nothing, before that too. */
  #fromOpening(report: ReportRow): ReportRow {
    const { instrumentId, occurredAt } = report
    const opened = this.#actions.find(
      ({ at, dayFrom, ...action }) =>
        action.instrumentId === instrumentId && dayFrom <= occurredAt && at > occurredAt,
    )
    return opened ? { ...report, occurredAt: opened.at } : report
  }

  /** A correction in the units of what it corrects: some brokers tell it in those of today. */
  #inUnitsOf(origin: Origin | undefined, report: ReportRow): ReportRow {
    if (!origin || report.kind !== 'fill' || report.quantity === null || report.px === null) return report
    const { units, price } = factorsOf(this.#since(report.instrumentId, origin.at))
    if (price.equals(one) || origin.quantity === null || origin.px === null) return report
    const before = { quantity: dec(origin.quantity), px: dec(origin.px) }
    const told = { quantity: dec(report.quantity), px: dec(report.px) }
    const now = { quantity: before.quantity.times(units), px: before.px.times(price) }
    if (!apart(told, now).times(distinctly).lessThan(apart(told, before))) return report
    // What is left of a unit is paid for, and no part of what the broker tells.
    const isWhole = told.quantity.minus(now.quantity).abs().lessThan(one)
    const quantity = isWhole ? before.quantity : roundTo(told.quantity.div(units), quantityPlaces)
    return {
      ...report,
      quantity: quantity.toFixed(),
      px: roundTo(told.px.div(price), ledgerPlaces).toFixed(),
    }
  }

  /** What was told before the opening, on the day of an action too, the action has found there. */
  #since(instrumentId: number | null, at: Instant): readonly BookedAction[] {
    return this.#actions.filter((action) => action.instrumentId === instrumentId && action.at > at)
  }
}

/** The one that was at work in the end of those that replaced it. */
function lastOf(order: ReportedOrder, orders: readonly ReportedOrder[]): ReportedOrder {
  if (order.status !== '5') return order
  const found = orders.findLast(
    (one) => one.accountId === order.accountId && one.replacesOrderId === order.id,
  )
  return found ? lastOf(found, orders) : order
}

type Numbers = { readonly [K in 'quantity' | 'px']: Decimal }

/** How far a correction lies from what it corrects: how many times as much, and as dear. */
const apart = (told: Numbers, known: Numbers): Decimal =>
  timesApart(told.quantity, known.quantity).times(timesApart(told.px, known.px))

const timesApart = (one: Decimal, other: Decimal): Decimal => max(one.div(other), other.div(one))

const restatedBy = (quantity: string, px: string, { units, price }: Restated) => ({
  quantity: roundTo(dec(quantity).times(units), quantityPlaces).toFixed(),
  px: roundTo(dec(px).times(price), ledgerPlaces).toFixed(),
})

/** What a ledger was paid for instead of units, after this action too, in units of then. */
function paidOffBy(
  { kind, newUnits, oldUnits, resizes }: BookedAction,
  { before, change }: Adjustment,
  paidOff: Decimal,
): Decimal {
  if (kind !== 'split' || resizes) return paidOff
  return before.plus(paidOff).times(newUnits).div(oldUnits).minus(before).minus(change)
}

/** What is alive at a split is restated by it. */
const hasRestated = (action: BookedAction, { status, endedAt }: ReportedOrder): boolean =>
  action.kind === 'split' && (isLive(status) || endedAt === null || endedAt >= action.at)

/** What a split cut off of an order that had executed already is no overfill. */
function roomFor(order: ReportedOrder, added: Decimal | undefined): ReportedOrder {
  const total = dec(order.cumQty).plus(added ?? zero)
  const beyond = total.minus(order.orderQty)
  // One that is filled has no rest that could come: there it would be lost.
  return added && order.status !== '2' && beyond.greaterThan(0) && beyond.lessThan(1)
    ? { ...order, orderQty: total.toFixed() }
    : order
}
