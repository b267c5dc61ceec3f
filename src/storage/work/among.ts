/** Whom a turn of the worker's is about: everybody who has work but for some, or one alone. */
import { type Fragment, fragment } from '../database/sql.ts'

export type Among = { readonly except: readonly number[] } | { readonly only: number }

/** Everybody who has work. */
export const everybody: Among = { except: [] }

/** True where the id is one of theirs. */
export const isAmong = (id: Fragment, among: Among): Fragment =>
  'only' in among
    ? fragment`${id} = ${among.only}::bigint`
    : // Nobody is left out as a rule: the statement is then planned as if there were no such condition.
      among.except.length === 0
      ? fragment`true`
      : fragment`${id} <> all(${among.except}::bigint[])`
