/**
 * Executions that are told only after a dividend or a split of what they traded, as when a broker was not reachable
 * over night. The order is in new units where it was alive at the split, the ledger always; the execution itself stays
 * as it was told.
 */
import { isLive } from '../domain/codes.ts'
import { type Decimal, dec, one, quantityPlaces, roundTo, zero } from '../domain/decimal.ts'
import { passAction, type Traded } from '../domain/late-execution.ts'
import {
  applyFill,
  type Conversion,
  type Position,
  type PositionChange,
  takeBack,
} from '../domain/position.ts'
import type { Instant } from '../domain/time.ts'
import type { StandingExecution } from '../storage/inferred-fills.ts'
import {
  type BookedAction,
  type BookedBefore,
  type LedgerAdjustment,
  loadAdjustments,
  loadBookedBefore,
  saveAdjustments,
} from '../storage/late-executions.ts'
import type { LedgerKey } from '../storage/ledgers.ts'
import type { BustedExecution, ReportedOrder, ReportRow } from '../storage/reports.ts'
import type { Transaction } from '../storage/sql.ts'
import type { BatchExecution } from './report-batch.ts'

/** What became of a unit and of a price. */
interface Factors {
  readonly units: Decimal
  readonly price: Decimal
}

const factorsOf = (actions: readonly BookedAction[]): Factors =>
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
  readonly inOrder: Factors
}

/** A report as it was told, with what was booked since. */
type LateReport = Pick<ToldExecution, 'report' | 'since' | 'inOrder'>

/** What a batch is applied to. */
interface Given {
  readonly reports: readonly ReportRow[]
  readonly orders: readonly ReportedOrder[]
  /** Executions that reports take back, or may take the place of. */
  readonly busted: readonly BustedExecution[]
  readonly standing: readonly StandingExecution[]
}

/** The late executions of a batch. */
export class LateExecutions {
  readonly #actions: readonly BookedAction[]
  readonly #late = new Map<number, LateReport>()
  /** Executions that are taken back or may give way, as they were told; those of this batch once they are booked. */
  readonly #booked = new Map<string, Omit<BookedBefore, 'accountId' | 'execId'>>()
  readonly #known = new Map<string, LedgerAdjustment>()
  readonly #adjusted = new Map<string, LedgerAdjustment>()

  constructor(actions: readonly BookedAction[], booked: readonly BookedBefore[]) {
    this.#actions = actions
    for (const row of booked) this.#booked.set(`${row.accountId} ${row.execId}`, row)
  }

  /** Everything as the orders count it now; the same where nothing is late. */
  inPresentUnits(given: Given, orderOf: (report: ReportRow) => ReportedOrder | undefined): Given {
    if (this.#actions.length === 0) return given
    const added = new Map<number, Decimal>()
    const reports = given.reports.map((report) => {
      const order = orderOf(report)
      const { instrumentId } = report
      if (!order) {
        const since = this.#since(instrumentId, report.occurredAt)
        if (since.length > 0) this.#late.set(report.id, { report, since, inOrder: factorsOf([]) })
        return report
      }
      // An order that a split has restated did not end before it.
      const ends = this.#actions.filter(
        (action) => action.instrumentId === instrumentId && hasRestated(action, order),
      )
      const occurredAt = Math.max(report.occurredAt, ends.at(-1)?.at ?? 0)
      const since = this.#since(instrumentId, report.occurredAt)
      if (since.length === 0) return { ...report, occurredAt }
      const inOrder = factorsOf(since.filter((action) => hasRestated(action, order)))
      this.#late.set(report.id, { report, since, inOrder })
      if (report.kind !== 'fill' || report.quantity === null || report.px === null)
        return { ...report, occurredAt }
      const restated = restatedBy(report.quantity, report.px, inOrder)
      added.set(order.id, (added.get(order.id) ?? zero).plus(restated.quantity))
      // Its broker's count is one of its own units: it says nothing of what is booked in new ones.
      const cumQty = inOrder.units.equals(one) ? report.cumQty : null
      return { ...report, occurredAt, ...restated, cumQty }
    })
    const orders = new Map(given.orders.map((order) => [`${order.accountId} ${order.id}`, order]))
    const standing = given.standing.map((row) => {
      const order = orders.get(`${row.accountId} ${row.orderId}`)
      const { at } = this.#booked.get(`${row.accountId} ${row.execId}`) ?? {}
      if (!order || at === undefined) return row
      const restating = this.#since(order.instrumentId, at).filter((action) => hasRestated(action, order))
      return restating.length > 0
        ? { ...row, ...restatedBy(row.quantity, row.px, factorsOf(restating)) }
        : row
    })
    const withRoom = given.orders.map((order) => roomFor(order, added.get(order.id)))
    return { ...given, reports, standing, orders: withRoom }
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
      const since = this.#since(report.instrumentId, Math.max(own.occurredAt, booked.at))
      return { ...booked, report: own, since, inOrder }
    }
    // What is left of an inferred fill has nothing that was told.
    const numbers = isInferred
      ? { quantity: quantity.div(inOrder.units), px: px.div(inOrder.price) }
      : { quantity: dec(late.report.quantity ?? 0), px: dec(late.report.px ?? 0) }
    this.#booked.set(`${report.accountId} ${report.reportKey}`, { ...numbers, at: own.occurredAt })
    return { ...late, ...numbers, report: own }
  }

  /** Reads what the actions have done to these ledgers. */
  async load(tx: Transaction, ledgers: readonly LedgerKey[]): Promise<void> {
    if (this.#late.size === 0) return
    const actions = this.#actions.map(({ id }) => id)
    const accounts = [...new Set(ledgers.map(({ accountId }) => accountId))]
    for (const row of await loadAdjustments(tx, actions, accounts)) this.#known.set(adjustmentName(row), row)
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
    for (const action of told.since) traded = this.#pass(traded, action, { ledger, terms, px: traded.price })
    if (traded.quantity.isZero()) return { position, opened: zero, cash }
    const fill = { side, quantity: traded.quantity.abs(), price: traded.price }
    if (busts) return { position: takeBack(position, fill), opened: zero, cash }
    const { position: after, opened } = applyFill(position, fill, terms)
    return { position: after, opened, cash }
  }

  #pass(
    traded: Traded,
    action: BookedAction,
    { ledger, terms, px }: { ledger: Omit<LedgerKey, 'instrumentId'>; terms: Conversion; px: Decimal },
  ): Traded {
    const name = adjustmentName({ actionId: action.id, ...ledger })
    const known = this.#adjusted.get(name) ??
      this.#known.get(name) ?? { before: zero, change: zero, cash: zero }
    const worth = terms.pointValue.times(terms.fx)
    const { kind, newUnits, oldUnits, resizes, amount, close } = action
    const passed =
      kind === 'dividend'
        ? ({ kind, amount: amount.times(terms.fx) } as const)
        : ({
            ...{ kind, ratio: { new: newUnits, old: oldUnits }, multiplies: !resizes },
            close: (close ?? px).times(worth),
          } as const)
    const result = passAction(traded, passed, known)
    this.#adjusted.set(name, { actionId: action.id, ...ledger, at: action.at, ...result.adjusted })
    return result.traded
  }

  save(tx: Transaction): Promise<void> {
    return saveAdjustments(tx, [...this.#adjusted.values()])
  }

  #since(instrumentId: number | null, at: Instant): readonly BookedAction[] {
    return this.#actions.filter((action) => action.instrumentId === instrumentId && action.dayFrom > at)
  }
}

/** The late executions of a batch, by what was booked since the earliest of its reports. */
export async function lateExecutions(
  tx: Transaction,
  actions: readonly BookedAction[],
  { busted, standing }: Given,
): Promise<LateExecutions> {
  const booked = actions.length === 0 ? [] : await loadBookedBefore(tx, [...busted, ...standing])
  return new LateExecutions(actions, booked)
}

const restatedBy = (quantity: string, px: string, { units, price }: Factors) => ({
  quantity: roundTo(dec(quantity).times(units), quantityPlaces).toFixed(),
  px: roundTo(dec(px).times(price), 12).toFixed(),
})

const adjustmentName = ({
  actionId,
  setupId,
  accountId,
}: Omit<LedgerKey, 'instrumentId'> & { actionId: number }): string =>
  `${actionId} ${accountId} ${setupId ?? 'own'}`

/** What is alive at a split is restated by it. */
const hasRestated = (action: BookedAction, { status, endedAt }: ReportedOrder): boolean =>
  action.kind === 'split' && (isLive(status) || endedAt === null || endedAt >= action.at)

/** What a split cut off of an order that had executed already is no overfill. */
function roomFor(order: ReportedOrder, added: Decimal | undefined): ReportedOrder {
  const total = dec(order.cumQty).plus(added ?? zero)
  const beyond = total.minus(order.orderQty)
  return added && beyond.greaterThan(0) && beyond.lessThan(1)
    ? { ...order, orderQty: total.toFixed() }
    : order
}
