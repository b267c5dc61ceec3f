/**
 * Codes as vectors write them, as text or as a number. One that there is not is refused by the name of its member:
 * whatever is not the first of two codes would otherwise be taken for the second, and "buy" would sell.
 */
import type {
  OrdStatus,
  OrdType,
  PositionEffect,
  PutOrCall,
  SecurityType,
  Side,
} from '../../../src/domain/codes.ts'
import { endedStatuses, liveStatuses } from '../../../src/domain/codes.ts'

/** The code that a member gives, out of those there are. */
export function oneOf<Code extends string>(member: string, given: unknown, codes: readonly Code[]): Code {
  const code = codes.find((known) => known === String(given))
  if (code !== undefined) return code
  throw new Error(`${member} is ${JSON.stringify(given) ?? 'missing'}; there are ${codes.join(', ')}`)
}

export const sideOf = (side: unknown): Side => oneOf('side', side, ['1', '2'])
export const typeOf = (type: unknown): OrdType => oneOf('type', type, ['1', '2', '3'])
export const statusOf = (status: unknown, member = 'status'): OrdStatus =>
  oneOf(member, status, [...liveStatuses, ...endedStatuses])
export const classOf = (cls: unknown, member = 'cls'): SecurityType =>
  oneOf(member, cls, ['CS', 'FUT', 'OPT', 'FOR'])

export const effectOf = (openClose: unknown): PositionEffect => oneOf('openClose', openClose, ['O', 'C'])

/** Absent stays absent: open or close may be left to the position. */
export const openCloseOf = (openClose: unknown): PositionEffect | null =>
  openClose === null || openClose === undefined ? null : effectOf(openClose)

/** The right of an option as a letter, a word or its code. */
export function putOrCallOf(right: unknown): PutOrCall {
  const given = typeof right === 'string' ? right.toLowerCase() : right
  const known = oneOf('right', given, ['c', 'p', 'call', 'put', '1', '0'])
  return ['c', 'call', '1'].includes(known) ? '1' : '0'
}
