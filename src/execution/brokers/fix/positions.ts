/**
 * What a FIX broker says of an account as a whole: its positions (AO, AP) and its working orders (8 with
 * MassStatusReqID). Pure. A position that cannot be read, or is another account's, makes the whole answer one that
 * nobody can read; it never becomes a flat position.
 */
import { dec } from '../../../domain/decimal.ts'
import { countOf, decimalOf, type FixMessage, idOf, tags, textOf } from './message.ts'

/** Stands for a quantity that could not be read. */
export const unreadable = 'unreadable'

/** Signed quantities by symbol, flat ones left out. */
export function positionsOf(account: string, reports: readonly FixMessage[]): Map<string, string> {
  const positions = new Map<string, string>()
  for (const report of reports) {
    const symbol = textOf(report, tags.symbol) ?? unreadable
    const quantity = idOf(report, tags.account) === account ? quantityOf(report) : unreadable
    const before = positions.get(symbol) ?? '0'
    const isKnown = quantity !== unreadable && before !== unreadable && symbol !== unreadable
    positions.set(symbol, isKnown ? dec(before).plus(quantity).toFixed() : unreadable)
  }
  for (const [symbol, quantity] of positions)
    if (quantity !== unreadable && dec(quantity).isZero()) positions.delete(symbol)
  return positions
}

/** LongQty less ShortQty of the only PositionQty entry. */
function quantityOf(report: FixMessage): string {
  if (report.all(tags.posType).length !== 1) return unreadable
  const sides = [tags.longQty, tags.shortQty].map((tag) =>
    report.all(tag).length === 0 ? '0' : decimalOf(report, tag),
  )
  const [long, short] = sides
  if (
    long == null ||
    short == null ||
    report.all(tags.longQty).length + report.all(tags.shortQty).length === 0
  )
    return unreadable
  return dec(long).minus(short).toFixed()
}

/**
 * Whether the answer to a RequestForPositions is complete; `refused` where the broker says that it will not come.
 * PosReqResult 728: 0 valid, 2 none found.
 */
export function positionsProgress(heard: readonly FixMessage[]): 'waiting' | 'complete' | 'refused' {
  const acknowledged = heard.find(({ type }) => type === 'AO')
  const result = acknowledged ? textOf(acknowledged, tags.posReqResult) : '0'
  if (result === '2') return 'complete'
  if (result !== '0') return 'refused'
  const totals = heard
    .map((message) => countOf(message, tags.totalNumPosReports))
    .filter((total) => total !== null)
  const total = Math.max(-1, ...totals)
  return total >= 0 && heard.filter(({ type }) => type === 'AP').length >= total ? 'complete' : 'waiting'
}

/** Whether the list of working orders is complete: the last one says so, or their total, or that there are none. */
export function workingProgress(heard: readonly FixMessage[]): 'waiting' | 'complete' {
  const last = heard.at(-1)
  if (!last) return 'waiting'
  const total = countOf(last, tags.totNumReports)
  const isLast = textOf(last, tags.lastRptRequested) === 'Y' || (total !== null && heard.length >= total)
  return isLast || isNone(last) ? 'complete' : 'waiting'
}

/** The answer that says that there is no such order at all. */
export const isNone = (report: FixMessage): boolean =>
  textOf(report, tags.ordStatus) === '8' && textOf(report, tags.ordRejReason) === '5'
