/**
 * Books executions one after another: what each makes of its ledger, of the money of its account and, where it was told
 * late, of the units of today.
 */

import { type Decimal, dec, ledgerPlaces, one, roundTo, zero } from '../../domain/decimal.ts'
import { oneOfEach } from '../../domain/group.ts'
import { bookedDay, endOfDay } from '../../domain/market/trading-day.ts'
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
  openedAtAfter,
  type Position,
  type PositionChange,
  takeBack,
} from '../../domain/positions/position.ts'
import type { Day, Instant } from '../../domain/time.ts'
import {
  type LedgerChange,
  type LedgerKey,
  type LedgerRow,
  ledgerName,
  loadLedgers,
  saveLedgers,
} from '../../storage/accounts/ledgers.ts'
import { settleAgain } from '../../storage/actions/contract-ends.ts'
import {
  insertExecutions,
  type NewExecution,
  type ReportedAccount,
  type ReportRow,
} from '../../storage/brokers/reports.ts'
import type { Transaction } from '../../storage/database/sql.ts'
import { tellUnrated, unratedIn } from '../../storage/market/missing-rates.ts'
import { loadRateTable } from '../../storage/market/quotes.ts'
import { ratesOf, type WorkContext } from '../context.ts'
import {
  inUnitsOfToday,
  type LateExecutions,
  type ToldExecution,
  type TradeOfToday,
} from './late-executions.ts'
import type { BatchExecution } from './report-batch.ts'
import { TakenBack } from './taken-back.ts'

/** A ledger's row while executions are booked on it. */
interface Ledger {
  readonly position: Position
  readonly openedAt: Instant | null
}

/** Books executions on ledgers and on the accounts' cash; answers what those that were told late come to today. */
export async function bookExecutions(
  ctx: WorkContext,
  tx: Transaction,
  executions: readonly BatchExecution[],
  { accounts, late }: { readonly accounts: readonly ReportedAccount[]; readonly late: LateExecutions },
): Promise<ReadonlyMap<BatchExecution, TradeOfToday>> {
  const ofToday = new Map<BatchExecution, TradeOfToday>()
  if (executions.length === 0) return ofToday
  const toldLate = executions.map((execution) => late.told(execution))
  const moments = executions.map(({ report }, place) => (toldLate[place]?.report ?? report).occurredAt)
  const rates = await exchangeRates(ctx, tx, { executions, moments, accounts })
  const keys = executions.map(ledgerOf)
  await late.load(tx, accounts)
  const stored = await loadLedgers(tx, oneOfEach(keys, ledgerName))
  const takenBack = await TakenBack.load(tx, executions, keys)
  const ledgers = new Map<string, LedgerChange>()
  const booked: NewExecution[] = []
  for (const [place, execution] of executions.entries()) {
    const key = ledgerOf(execution)
    const name = ledgerName(key)
    const original = execution.busts && (execution.busts.known ?? findBooked(booked, execution))
    const told = toldLate[place]
    const present = termsOf(execution.report, rates[place])
    const terms = atItsRate(execution, original, { key, present, takenBack })
    const before = heldIn(ledgers.get(name) ?? stored.get(name), terms)
    const commission = original
      ? dec(original.commission).negated()
      : commissionOf(ctx, execution, terms, told)
    const change = moved(before.position, execution, { told, late, terms, takenBack, key })
    const cash = isGivenBack(execution, terms)
      ? dec(original?.cashChange ?? 0).negated()
      : change.cash.minus(commission)
    const money = { fx: terms.fx, commission, cashChange: roundTo(cash, ledgerPlaces) }
    booked.push(executionOf({ ...execution, ...told }, money))
    const { quantity, avgPx } = change.position
    const moves = quantity.minus(before.position.quantity)
    if (told) ofToday.set(execution, inUnitsOfToday(told, execution, moves))
    const openedAt = change.openedAt ?? openedAtAfter(before.openedAt, change, moments[place]!)
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
  original: Pick<NewExecution, 'execId'> | null,
  { key, present, takenBack }: { key: LedgerKey; present: Terms; takenBack: TakenBack },
): Terms {
  if (!present.isForeign) return present
  const target = original?.execId ?? report.corrects
  const fx = target && takenBack.rateOf(key, target)
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

type Moved = Pick<PositionChange, 'position' | 'opened' | 'cash'> & { readonly openedAt?: Instant | null }

/** What an execution makes of a position; one that was told late, with what was booked meanwhile. */
function moved(position: Position, execution: BatchExecution, given: Circumstances): Moved {
  const { told, late, terms, takenBack, key } = given
  const { side, quantity, px: price, busts } = execution
  const fill = { side, quantity, price }
  const paid = busts && takenBack.cashOf(key, late)
  takenBack.add(key, { ...execution, ...told }, terms)
  if (!busts)
    return told ? late.apply(position, execution, { told, terms }) : applyFill(position, fill, terms)
  const undone = told
    ? late.apply(position, execution, { told, terms }).position
    : takeBack(position, fill, terms)
  const left = takenBack.heldIn(key, undone.quantity, late)
  const cash =
    left?.cash && paid
      ? left.cash.minus(paid)
      : cashTakenBack(position, left?.position ?? undone, fill, terms)
  return { position: undone, ...left, opened: zero, cash }
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

/**
 * Its account's rates for each execution: its currency per unit of the others. One that is told on a later day is of the
 * rates of its own; on the same day the last quotes are the nearest that are known. What has no rate is told.
 */
async function exchangeRates(
  ctx: WorkContext,
  tx: Transaction,
  given: {
    readonly executions: readonly BatchExecution[]
    readonly moments: readonly Instant[]
    readonly accounts: readonly ReportedAccount[]
  },
): Promise<(ReadonlyMap<string, Decimal> | undefined)[]> {
  const { executions, moments, accounts } = given
  const now = ctx.clock.now()
  const currencies = accounts.map(({ currency }) => currency)
  const quoted = executions.flatMap(({ report }) => report.currency ?? [])
  const today = bookedDay(now)
  const days = moments.map((at) => Math.min(today, bookedDay(at)))
  const currencyOf = new Map(accounts.map(({ id, currency }) => [id, currency]))
  const tables = new Map<Day, Map<string, ReadonlyMap<string, Decimal>>>()
  for (const day of new Set(days)) {
    const past = day < today ? { at: endOfDay(day), day } : undefined
    const table = await loadRateTable(tx, currencies, quoted, past)
    tables.set(day, table)
    const pairs = executions.flatMap(({ report: { accountId, currency } }, place) => {
      const account = currencyOf.get(accountId)
      return days[place] === day && account && currency ? [{ account, currency }] : []
    })
    await tellUnrated(tx, unratedIn(table, pairs), now)
  }
  return executions.map(({ report }, place) =>
    tables.get(days[place] ?? today)?.get(currencyOf.get(report.accountId) ?? ''),
  )
}

function heldIn(row: LedgerRow | LedgerChange | undefined, { pointValue, fx }: Terms): Ledger {
  if (!row || row.avgPx === null) return { position: flat, openedAt: null }
  const avgPx = dec(row.avgPx)
  // The cost in account currency is not kept beside the position: no cash depends on it.
  const position = { quantity: dec(row.quantity), avgPx, avgCost: avgPx.times(pointValue).times(fx) }
  return { position, openedAt: row.openedAt }
}

/** The plan prices the order's whole chain after each fill; what nobody ordered costs nothing here. */
function commissionOf(
  ctx: WorkContext,
  { before, quantity, px, order }: BatchExecution,
  terms: Terms,
  told: ToldExecution | undefined,
): Decimal {
  const rates = ratesOf(ctx)
  if (rates === null || !order) return zero
  const pointValue = terms.pointValue.times(terms.fx)
  // An order that was restated since is charged for the units that it traded.
  const filled = told ? before?.filledQuantity.div(told.inOrder.units) : before?.filledQuantity
  const traded: OrderTurnover = before
    ? { quantity: filled ?? zero, notional: before.filledValue.abs().times(pointValue) }
    : noTurnover
  const price = told ? px.times(quantity).div(told.quantity) : px
  const after = addTurnover(traded, { quantity: told?.quantity ?? quantity, price, pointValue })
  return fillCommission(rates[terms.securityType], traded, after)
}

const executionOf = (
  { report, order, side, quantity, px, busts, isInferred }: BatchExecution,
  money: Pick<NewExecution, 'fx' | 'commission' | 'cashChange'>,
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
  ...money,
  busts: busts?.execId ?? null,
  isInferred,
  executedAt: report.occurredAt,
})
