/** Whoever types a command, as the audit log names him. */
import { userInfo } from 'node:os'
import { type Acting, insertAuditNotes } from '../storage/database/audit-log.ts'
import type { Sql } from '../storage/database/sql.ts'

/** Enters a command that changes no row of settings, once for each object. */
export const noteCommand = (sql: Sql, ...objects: string[]): Promise<void> =>
  insertAuditNotes(
    sql,
    objects.map((object) => ({ ...operator(), object })),
  )

/** Enters such a command about one object with what was said of it: facts without secrets and without personal data. */
export const noteSaid = (sql: Sql, object: string, after: object): Promise<void> =>
  insertAuditNotes(sql, [{ ...operator(), object, after }])

/** Who types, and the words of the command; what follows them may be a secret. */
export function operator(): Acting & { readonly operation: string } {
  const words = process.argv.slice(2, 4).filter((word) => /^[a-z]+$/.test(word))
  return { actor: 'operator', who: nameOfUser(), operation: words.join(' ') }
}

/** A container may run as a user that its system has no name for. */
function nameOfUser(): string {
  try {
    return userInfo().username
  } catch {
    return `user ${process.getuid?.()}`
  }
}
