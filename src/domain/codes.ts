/**
 * The closed code sets of the field, spelled as FIX spells them. The wire carries the same codes, so no
 * floor translates them.
 */

/** FIX 39. 5 is the terminal status of a replaced order; its replacement is an order of its own. */
export type OrdStatus = 'A' | '0' | '1' | '2' | '4' | '5' | '6' | '8' | 'C' | 'E'
/** FIX 54: 1 buy, 2 sell. */
export type Side = '1' | '2'
/** FIX 40: 1 market, 2 limit, 3 stop (becomes a market order when triggered). */
export type OrdType = '1' | '2' | '3'
/** FIX 59: 0 day, 1 good till canceled. */
export type TimeInForce = '0' | '1'
/** FIX 77: O open, C close. */
export type PositionEffect = 'O' | 'C'
/** FIX 167: stocks, futures, options, forex. */
export type SecurityType = 'CS' | 'FUT' | 'OPT' | 'FOR'
/** FIX 201: 0 put, 1 call. */
export type PutOrCall = '0' | '1'
/** 1 strategy, 4 manual, 5 strategy with manual override, 6 auto stop loss. */
export type SignalType = 1 | 4 | 5 | 6

/** Statuses in which an order may still trade. */
export const liveStatuses: readonly OrdStatus[] = ['A', '0', '1', '6', 'E']

/** The others: what has come to an end. */
export const endedStatuses: readonly OrdStatus[] = ['2', '4', '5', '8', 'C']

/** Whether an order of this status may still be executed. */
export const isLive = (status: OrdStatus): boolean => liveStatuses.includes(status)

/** +1 for a buy, -1 for a sell. */
export const directionOf = (side: Side): 1 | -1 => (side === '1' ? 1 : -1)

/** The side that takes back what this one did. */
export const oppositeOf = (side: Side): Side => (side === '1' ? '2' : '1')
