/**
 * Executions that are told only after a dividend or a split of what they traded, as when a broker was not reachable
 * over night. The order is in new units where it was alive at the split, the ledger always; the execution itself stays
 * as it was told.
 */
import { isLive } from '../domain/codes.ts'
import { type Decimal, dec, one, quantityPlaces, roundTo, zero } from '../domain/decimal.ts'
import { passAction, type Traded } from '../domain/late-execution.ts'
import { applyFill, type Conversion, type Position, type PositionChange } from '../domain/position.ts'
import {
  type BookedAction,
  loadAdjustments,
  loadPassedActions,
  type SetupAdjustment,
  saveAdjustments,
} from '../storage/late-executions.ts'
import type { ReportedOrder, ReportRow } from '../storage/reports.ts'
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

type Late = Pick<BatchExecution, 'report' | 'order' | 'side'>

/** The late executions of a batch. */
export class LateExecutions {
  readonly #actions: readonly BookedAction[]
  readonly #told = new Map<string, ToldExecution>()
  readonly #known = new Map<string, SetupAdjustment>()
  readonly #adjusted = new Map<string, SetupAdjustment>()

  constructor(actions: readonly BookedAction[]) {
    this.#actions = actions
  }

  /** Reports and orders as the orders count them now; the same where nothing is late. */
  inPresentUnits(
    reports: readonly ReportRow[],
    orders: readonly ReportedOrder[],
    orderOf: (report: ReportRow) => ReportedOrder | undefined,
  ): { readonly reports: readonly ReportRow[]; readonly orders: readonly ReportedOrder[] } {
    if (this.#actions.length === 0) return { reports, orders }
    const added = new Map<number, Decimal>()
    const restated = reports.map((report) => {
      const order = orderOf(report)
      const since = order ? this.#since(report) : []
      if (!order || since.length === 0) return report
      const restating = since.filter((action) => hasRestated(action, order))
      // An order that a split has restated did not end before it.
      const occurredAt = restating.at(-1)?.at ?? report.occurredAt
      if (report.kind !== 'fill' || report.quantity === null || report.px === null)
        return { ...report, occurredAt }
      const told = { report, quantity: dec(report.quantity), px: dec(report.px), since }
      const inOrder = factorsOf(restating)
      this.#told.set(nameOf(report), { ...told, inOrder })
      const quantity = roundTo(told.quantity.times(inOrder.units), quantityPlaces)
      const px = roundTo(told.px.times(inOrder.price), 12)
      added.set(order.id, (added.get(order.id) ?? zero).plus(quantity))
      return { ...report, occurredAt, quantity: quantity.toFixed(), px: px.toFixed() }
    })
    return { reports: restated, orders: orders.map((order) => roomFor(order, added.get(order.id))) }
  }

  /** What was told of an execution; undefined where it is in present units. */
  told({ report }: Late): ToldExecution | undefined {
    return this.#told.get(nameOf(report))
  }

  /** What its row keeps. */
  asTold(execution: BatchExecution): BatchExecution {
    const { report, quantity, px } = this.told(execution) ?? execution
    return { ...execution, report, quantity, px }
  }

  /** Reads what the actions have done to the ledgers of these orders. */
  async load(tx: Transaction, orders: readonly ReportedOrder[]): Promise<void> {
    if (this.#told.size === 0) return
    const actions = this.#actions.map(({ id }) => id)
    const rows = await loadAdjustments(tx, actions, [...new Set(orders.map(({ setupId }) => setupId))])
    for (const row of rows) this.#known.set(`${row.actionId} ${row.setupId}`, row)
  }

  /** The position with the execution and what has become of it since; cash is that of the execution alone. */
  apply(
    position: Position,
    { order, side }: Late,
    { told, terms }: { readonly told: ToldExecution; readonly terms: Conversion },
  ): Pick<PositionChange, 'position' | 'opened' | 'cash'> {
    const { since } = told
    const { units, price } = factorsOf(since)
    const plain = { side, quantity: told.quantity.times(units), price: told.px.times(price) }
    const { cash } = applyFill(position, plain, terms)
    const signed = side === '1' ? told.quantity : told.quantity.negated()
    let traded: Traded = { quantity: signed, price: told.px }
    for (const action of since) traded = this.#pass(traded, action, { order, terms, px: traded.price })
    if (traded.quantity.isZero()) return { position, opened: zero, cash }
    const fill = { side, quantity: traded.quantity.abs(), price: traded.price }
    const { position: after, opened } = applyFill(position, fill, terms)
    return { position: after, opened, cash }
  }

  #pass(
    traded: Traded,
    action: BookedAction,
    { order, terms, px }: { order: Late['order']; terms: Conversion; px: Decimal },
  ): Traded {
    if (!order) return traded
    const { setupId, accountId } = order
    const name = `${action.id} ${setupId}`
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
    this.#adjusted.set(name, { actionId: action.id, setupId, accountId, ...result.adjusted })
    return result.traded
  }

  save(tx: Transaction): Promise<void> {
    return saveAdjustments(tx, [...this.#adjusted.values()])
  }

  #since({ instrumentId, occurredAt }: ReportRow): readonly BookedAction[] {
    return this.#actions.filter((action) => action.instrumentId === instrumentId && action.at > occurredAt)
  }
}

export const loadLateExecutions = async (
  tx: Transaction,
  reports: readonly ReportRow[],
): Promise<LateExecutions> => new LateExecutions(await loadPassedActions(tx, reports))

const nameOf = ({ accountId, reportKey }: ReportRow): string => `${accountId} ${reportKey}`

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
