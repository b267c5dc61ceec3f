/**
 * The pure rules of the product behind one door of plain JSON, for vectors written by other people.
 * Nothing is decided here: every op adapts its input, calls the function the product runs, and prints.
 */
import { noNumbers, watched } from './kernel/asked.ts'
import { bookOps } from './kernel/book.ts'
import { calendarOps } from './kernel/calendar.ts'
import { corporateOps } from './kernel/corporate.ts'
import { desiredOps } from './kernel/desired.ts'
import { feeOps } from './kernel/fees.ts'
import { fillOps } from './kernel/fills.ts'
import { marginOps } from './kernel/margin.ts'
import { mirrorOps } from './kernel/mirror.ts'
import { moneyOps } from './kernel/money.ts'
import { orderOps } from './kernel/orders.ts'
import { statisticsOps } from './kernel/statistics.ts'
import type { KernelOp } from './kernel/types.ts'

const ops: Record<string, KernelOp> = {
  ...orderOps,
  ...bookOps,
  ...fillOps,
  ...moneyOps,
  ...mirrorOps,
  ...calendarOps,
  ...marginOps,
  ...corporateOps,
  ...desiredOps,
  ...statisticsOps,
  ...feeOps,
}

/** A member that is null is one that is not there. */
function withoutNulls(json: unknown): unknown {
  if (Array.isArray(json)) return json.map(withoutNulls)
  if (typeof json !== 'object' || json === null) return json
  const members = Object.entries(json).filter(([, member]) => member !== null)
  return Object.fromEntries(members.map(([name, member]) => [name, withoutNulls(member)]))
}

/** Runs one op over plain JSON. Throws on an op that does not exist. */
export function kernel(op: string, input: unknown): unknown {
  const run = ops[op]
  if (!run) throw new Error(`unknown kernel op ${op}; known: ${Object.keys(ops).sort().join(', ')}`)
  const given = withoutNulls(input)
  try {
    return run(given as never)
  } catch (error) {
    throw explained(error, op, run, given)
  }
}

/**
 * The failure of an op by its name, with the members that hold what no decimal can be made from, and those that it
 * asked for in vain: one that it cannot do without is among them.
 */
function explained(error: unknown, op: string, run: KernelOp, given: unknown): unknown {
  const absent = new Set<string>()
  try {
    run(watched(given, absent) as never)
  } catch {
    // The same failure again: the ops are pure.
  }
  if (!(error instanceof Error)) return error
  const hints = [hint('no number', noNumbers(given, error.message)), hint('not in the input', [...absent])]
  return new Error(`${op}: ${error.message}${hints.join('')}`, { cause: error })
}

const hint = (what: string, names: readonly string[]): string =>
  names.length === 0 ? '' : ` (${what}: ${names.join(', ')})`
