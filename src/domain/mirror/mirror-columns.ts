/**
 * The plan of one signal in columns: what is read of many followers at once and what is decided for them. A
 * column holds the double nearest to each decimal; read back by its shortest text it is that decimal again (up
 * to 15 digits). NaN stands for null.
 */
import type { PositionEffect, SecurityType, Side } from '../codes.ts'
import { type Decimal, dec } from '../decimal.ts'
import { type BlockCode, type SkipCode, skipCodes } from './skip.ts'

/** What a signal brings to every follower. */
export type SignalFacts = {
  assetClass: SecurityType
  side: Side
  positionEffect: PositionEffect
  quantity: Decimal
  /** The signal's filled quantity within `strategyPosition`, and when the copies are made (0 when at the same commit). */
  filled: Decimal
  filledBefore: Decimal
  /** The strategy's signed position in the symbol now. */
  strategyPosition: Decimal
  referencePrice: Decimal | null
  /** Of a bracket exit: what it leaves of the strategy's entry, unsigned; 0 for any other. */
  entryKept: Decimal
}

/** Stands in a column for a cap that the follower did not set. */
export const noMaximum = -1

/** Bits of the `permissions` column. */
export const permissionBits = { enabled: 1, long: 2, short: 4, closingOrdersOnly: 8 } as const

/** One row per follower; the settings are those of the signal's asset class. */
export type FollowerColumns = {
  count: number
  scalingPercentage: Uint16Array
  permissions: Uint8Array
  /** Settings are whole numbers; `noMaximum` where there is none. */
  minimum: Int32Array
  maximum: Int32Array
  maximumDollars: Int32Array
  lot: Int32Array
  /** `codeNumber` of the follower's BlockCode, 0 for none. */
  block: Uint8Array
  /** Signed quantity the account holds, and how much of it live copies of the symbol executed. */
  position: Float64Array
  executed: Float64Array
  /** Signed fills of the other live signals of the symbol since their copies here exist. */
  filledAhead: Float64Array
  /** Unsigned leaves of older closing copies outside the signal's OCA group, a group counted once. */
  closingLeaves: Float64Array
  /** A bracket exit's entry: what the account's copy of it executed. */
  entryExecuted: Float64Array
}

/** `quantity` above 0: an order, whose `code` says why it is not the plain scaled size. 0: a skip with its code. */
export type PlanColumns = {
  quantity: Float64Array
  code: Uint8Array
  /** The strategy position the size was taken of, signed: the base with the whole signal. */
  strategyQuantity: Float64Array
  /** The minimum or maximum that applies. */
  limit: Float64Array
}

const numberOf = new Map<SkipCode, number>(skipCodes.map((code, index) => [code, index + 1]))

/** The number a code has in a column; 0 is no code. */
export const codeNumber = (code: SkipCode | null): number => (code === null ? 0 : numberOf.get(code)!)

/** The code a column's number stands for; null for 0. */
export const codeOf = (number: number): SkipCode | null => (number === 0 ? null : skipCodes[number - 1]!)

/** The block column's code. Only BlockCodes are ever written there. */
export const blockOf = (number: number): BlockCode | null => codeOf(number) as BlockCode | null

/** A quantity column's value, null for NaN. */
export const readQuantity = (column: Float64Array, row: number): Decimal | null =>
  Number.isNaN(column[row]!) ? null : dec(column[row]!)

/** A cap's value, null for none. */
export const readMaximum = (column: Int32Array, row: number): Decimal | null =>
  column[row] === noMaximum ? null : dec(column[row]!)

/** Columns for `count` followers at the defaults: 100 %, everything permitted, no minimum, no cap, nothing held. */
export function followerColumns(count: number): FollowerColumns {
  const { enabled, long, short } = permissionBits
  return {
    count,
    scalingPercentage: new Uint16Array(count).fill(100),
    permissions: new Uint8Array(count).fill(enabled | long | short),
    minimum: new Int32Array(count),
    maximum: new Int32Array(count).fill(noMaximum),
    maximumDollars: new Int32Array(count).fill(noMaximum),
    lot: new Int32Array(count).fill(1),
    block: new Uint8Array(count),
    position: new Float64Array(count),
    executed: new Float64Array(count),
    filledAhead: new Float64Array(count),
    closingLeaves: new Float64Array(count),
    entryExecuted: new Float64Array(count).fill(Number.NaN),
  }
}

/** Room for the plans of so many followers. */
export const planColumns = (count: number): PlanColumns => ({
  quantity: new Float64Array(count),
  code: new Uint8Array(count),
  strategyQuantity: new Float64Array(count),
  limit: new Float64Array(count).fill(Number.NaN),
})
