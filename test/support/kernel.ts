/**
 * The pure rules of the product behind one door of plain JSON, for vectors written by other people.
 * Nothing is decided here: every op adapts its input, calls the function the product runs, and prints.
 */
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
import { shapes } from './kernel/shapes.ts'
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

/** Runs one op over plain JSON. Throws on an op that does not exist, and on a member that cannot be what it holds. */
export function kernel(op: string, input: unknown): unknown {
  const run = Object.hasOwn(ops, op) ? ops[op] : undefined
  if (!run) throw new Error(`unknown kernel op ${op}; known: ${Object.keys(ops).sort().join(', ')}`)
  const given = withoutNulls(input)
  try {
    shapes.get(op)?.(given, '')
    return run(given as never)
  } catch (error) {
    throw error instanceof Error ? new Error(`${op}: ${error.message}`, { cause: error }) : error
  }
}
