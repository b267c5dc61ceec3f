/**
 * The plan in whole numbers, for the followers whose numbers allow it: doubles are exact on whole numbers up to
 * 2^53, and floor(a / b) of two of them is exact as long as a stays below 2^53. Fractions of the strategy's quantities
 * and of the price are scaled up by a power of ten first. A row that does not fit answers false and is left
 * to the decimal definition, which this form must equal.
 */
import { directionOf } from '../codes.ts'
import { type Decimal, max, zero } from '../decimal.ts'
import {
  blockOf,
  codeNumber,
  type FollowerColumns,
  noMaximum,
  type PlanColumns,
  permissionBits,
  type SignalFacts,
} from './mirror-columns.ts'
import { blocks, skipCodes } from './skip.ts'

/** A signal in whole numbers: quantities times `unit`, the price times `priceUnit` (0 where there is no price). */
export type WholeSignal = {
  stock: boolean
  forex: boolean
  opens: boolean
  direction: 1 | -1
  unit: number
  /** The strategy's position without this signal's own fills, and what the signal still adds (signed). */
  position: number
  change: number
  /** What an exit leaves of its entry, unsigned. */
  kept: number
  price: number
  priceUnit: number
  /** For each number of the block column: whether it stops this signal. */
  stops: readonly boolean[]
}

/** A size and the number of its reason. */
type WholeSize = { quantity: number; reason: number }

/** Where a row's numbers are read. */
type Place = { whole: WholeSignal; columns: FollowerColumns; row: number }

const roundedToZero = codeNumber('RoundedToZero')
const raisedToMinimum = codeNumber('RaisedToMinimum')
const cappedToMaximum = codeNumber('CappedToMaximum')
const noReferencePrice = codeNumber('NoReferencePrice')
const assetClassDisabled = codeNumber('AssetClassDisabled')
const longNotAllowed = codeNumber('LongNotAllowed')
const shortNotAllowed = codeNumber('ShortNotAllowed')
const closingOrdersOnly = codeNumber('ClosingOrdersOnly')
const nothingHeld = codeNumber('NothingHeld')
const noIncrease = codeNumber('NoIncrease')

const limitOfExactness = 2 ** 53

/** Keeps every sum and difference of two of them exact. */
const largestWhole = 2 ** 51

const isWhole = (value: number): boolean => Number.isInteger(value) && Math.abs(value) <= largestWhole

const isWholeOrNone = (value: number): boolean => Number.isNaN(value) || isWhole(value)

function stopsSignal(number: number, { positionEffect }: SignalFacts): boolean {
  const block = blockOf(number)
  return block !== null && blocks(block, positionEffect)
}

/** The smallest power of ten that makes all of them whole. */
const unitOf = (values: readonly Decimal[]): number =>
  10 ** values.reduce((places, value) => Math.max(places, value.decimalPlaces()), 0)

/** The signal in whole numbers, or null where they would not be exact. */
export function wholeSignal(signal: SignalFacts): WholeSignal | null {
  const direction = directionOf(signal.side)
  const position = signal.strategyPosition.minus(signal.filled.minus(signal.filledBefore).times(direction))
  const change = max(zero, signal.quantity.minus(signal.filledBefore)).times(direction)
  const price = signal.assetClass === 'CS' ? max(zero, signal.referencePrice ?? zero) : zero
  const unit = unitOf([position, change, signal.entryKept])
  const priceUnit = unitOf([price])
  const whole: WholeSignal = {
    stock: signal.assetClass === 'CS',
    forex: signal.assetClass === 'FOR',
    opens: signal.positionEffect === 'O',
    direction,
    unit,
    position: position.times(unit).toNumber(),
    change: change.times(unit).toNumber(),
    kept: signal.entryKept.times(unit).toNumber(),
    price: price.times(priceUnit).toNumber(),
    priceUnit,
    stops: [null, ...skipCodes].map((_, number) => stopsSignal(number, signal)),
  }
  return [whole.position, whole.change, whole.kept, whole.price].every(isWhole) ? whole : null
}

/** Whether every number of the row and every product made of it is exact. */
function fits(whole: WholeSignal, columns: FollowerColumns, row: number): boolean {
  const scaling = columns.scalingPercentage[row]!
  const ahead = columns.filledAhead[row]! * whole.unit
  const reach = Math.abs(whole.position) + Math.abs(whole.change) + Math.abs(ahead) + whole.kept
  const dollars = columns.maximumDollars[row]! * whole.priceUnit
  return (
    isWhole(columns.position[row]!) &&
    isWhole(columns.executed[row]!) &&
    Number.isInteger(columns.filledAhead[row]!) &&
    isWhole(columns.closingLeaves[row]!) &&
    isWholeOrNone(columns.entryExecuted[row]!) &&
    reach * scaling < limitOfExactness &&
    100 * whole.unit * columns.lot[row]! < limitOfExactness &&
    dollars < limitOfExactness
  )
}

const step = (from: WholeSize, quantity: number, reason: number): WholeSize =>
  quantity === from.quantity ? from : { quantity, reason }

/** Dollar cap of a stock: stops increases above what is held along the position. */
function dollarCapped(from: WholeSize, held: number, whole: WholeSignal, dollars: number): WholeSize {
  if (dollars === noMaximum) return from
  if (whole.price === 0) return step(from, Math.min(from.quantity, held), noReferencePrice)
  const cap = Math.max(Math.floor((dollars * whole.priceUnit) / whole.price), held)
  return step(from, Math.min(from.quantity, cap), cappedToMaximum)
}

/** The size of a position of `quantity` (above 0, times the unit) before permissions; `held` along the position. */
function size(quantity: number, held: number, { whole, columns, row }: Place): WholeSize {
  const lot = whole.forex ? columns.lot[row]! : 1
  const scaled = Math.floor((quantity * columns.scalingPercentage[row]!) / (100 * whole.unit * lot)) * lot
  const rounded = { quantity: scaled, reason: scaled === 0 ? roundedToZero : 0 }
  if (whole.stock) return dollarCapped(rounded, held, whole, columns.maximumDollars[row]!)
  const minimum = columns.minimum[row]!
  const raised = scaled < minimum ? step(rounded, Math.ceil(minimum / lot) * lot, raisedToMinimum) : rounded
  const maximum = columns.maximum[row]!
  if (maximum === noMaximum) return raised
  return step(raised, Math.min(raised.quantity, Math.floor(maximum / lot) * lot), cappedToMaximum)
}

/** The number of the reason why the account may not increase in the signal's direction, 0 where it may. */
function missingPermission({ whole, columns, row }: Place): number {
  const bits = columns.permissions[row]!
  if ((bits & permissionBits.enabled) === 0) return assetClassDisabled
  if (whole.direction === 1 && (bits & permissionBits.long) === 0) return longNotAllowed
  if (whole.direction === -1 && (bits & permissionBits.short) === 0) return shortNotAllowed
  return (bits & permissionBits.closingOrdersOnly) === 0 ? 0 : closingOrdersOnly
}

const nothing: WholeSize = { quantity: 0, reason: 0 }

/** The target of a position counted along the signal's direction; nothing where it lies on the other side. */
function target(along: number, held: number, missing: number, place: Place): WholeSize {
  if (along <= 0) return nothing
  const wanted = size(along, held, place)
  return missing === 0 ? wanted : step(wanted, Math.min(wanted.quantity, held), missing)
}

function opening(base: number, held: number, place: Place): WholeSize {
  const { direction, change } = place.whole
  const heldAlong = Math.max(0, held * direction)
  const missing = missingPermission(place)
  const before = target(base * direction, heldAlong, missing, place)
  const after = target((base + change) * direction, heldAlong, missing, place)
  const rise = Math.max(0, after.quantity - before.quantity)
  if (missing !== 0) return { quantity: 0, reason: rise > 0 ? missing : after.reason || missing }
  return { quantity: rise, reason: after.reason || (rise === 0 ? noIncrease : 0) }
}

/** What an exit covers of the account's own entry; `held` along the position. */
function coveredOfEntry(held: number, place: Place): number {
  const executed = place.columns.entryExecuted[place.row]!
  if (Number.isNaN(executed)) return 0
  const { kept } = place.whole
  return kept === 0 ? executed : executed - size(kept, held, place).quantity
}

function closing(base: number, held: number, place: Place): WholeSize {
  const { whole, columns, row } = place
  const along = -held * whole.direction
  const left = -(base + whole.change) * whole.direction
  const kept = along > 0 && left > 0 ? size(left, along, place) : nothing
  const total = along > 0 ? Math.max(0, along - kept.quantity) : 0
  const leaves = Math.max(total, coveredOfEntry(Math.max(0, along), place))
  const free = Math.max(0, -columns.position[row]! * whole.direction - columns.closingLeaves[row]!)
  const quantity = Math.min(leaves, free)
  if (quantity > 0) return { quantity, reason: kept.reason }
  return { quantity, reason: leaves === 0 && along > 0 ? kept.reason || noIncrease : nothingHeld }
}

/** Writes the row's decision into the plan; false, and nothing written, where whole numbers would not be exact. */
export function planWhole(
  whole: WholeSignal,
  columns: FollowerColumns,
  row: number,
  plan: PlanColumns,
): boolean {
  if (!fits(whole, columns, row)) return false
  const base = whole.position - columns.filledAhead[row]! * whole.unit
  const block = columns.block[row]!
  let reason = block
  if (!whole.stops[block]) {
    const held = columns.position[row]! - columns.executed[row]!
    const decided = (whole.opens ? opening : closing)(base, held, { whole, columns, row })
    reason = decided.reason
    plan.quantity[row] = decided.quantity
  }
  plan.code[row] = reason
  plan.strategyQuantity[row] = (base + whole.change) / whole.unit
  const cap = whole.stock ? columns.maximumDollars[row]! : columns.maximum[row]!
  const limit = cap === noMaximum ? Number.NaN : cap
  plan.limit[row] = reason === raisedToMinimum ? columns.minimum[row]! : limit
  return true
}
