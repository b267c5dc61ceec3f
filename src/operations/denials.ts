/**
 * What was asked for without a right to it. Nothing was changed that could tell of it, so it is entered in the audit log
 * by itself: who looks for doors can be seen afterwards, and which of them were tried.
 */
import { LRUCache } from 'lru-cache'
import { insertAuditNotes } from '../storage/database/audit-log.ts'
import type { Sql } from '../storage/database/sql.ts'
import { type ActedCall, actingOf } from './acting.ts'
import type { Clock } from './context.ts'

/** The object of these entries. */
const denied = 'denied'

/** A program that asks again and again is told of once in this time by each process. */
const anewMs = 3_600_000
const rememberedMax = 10_000
/** A list that was sent may name a thousand: so many are told and remembered of a call, or floods fill log and memory. */
const namedMax = 20

/** Enters a call that was denied; resolves when that is done. Throws DatabaseUnavailable. */
export function createDenials(sql: Sql, clock: Clock): (call: ActedCall) => Promise<void> {
  const entered = new LRUCache<string, number>({ max: rememberedMax })
  return async (call) => {
    const now = clock.now()
    const named = told(idsIn('', call.params))
    const what = `${call.caller.keyId} ${call.caller.personId} ${call.operation} ${named}`
    const last = entered.get(what)
    if (last !== undefined && now - last < anewMs) return
    entered.set(what, now)
    try {
      await insertAuditNotes(sql, [{ object: denied, after: named, ...actingOf(call, now) }])
    } catch (error) {
      entered.delete(what)
      throw error
    }
  }
}

const told = (ids: readonly string[]): string =>
  ids.length <= namedMax
    ? ids.join(' ')
    : `${ids.slice(0, namedMax).join(' ')} and ${ids.length - namedMax} more`

/** The ids that were asked for, with their names; what else was sent may be secret or tell who somebody is. */
function idsIn(name: string, value: unknown): string[] {
  if (typeof value === 'number' || typeof value === 'bigint')
    return /Ids?(\[\d+\])?$/.test(name) ? [`${name}=${value}`] : []
  if (typeof value !== 'object' || value === null) return []
  if (Array.isArray(value)) return value.flatMap((item, at) => idsIn(`${name}[${at}]`, item))
  return Object.entries(value).flatMap(([member, item]) =>
    idsIn(name === '' ? member : `${name}.${member}`, item),
  )
}
