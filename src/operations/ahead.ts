/**
 * What a write of strategy owners begins with, asked for before anybody has looked at its callers' rights: one way to
 * the database less, and the rights come with it. It takes locks, so it is asked for those alone who had the right the
 * last time: nobody holds up what is not his. A guess is all this is; what the rights are now decides.
 */
import { LRUCache } from 'lru-cache'
import type { Row } from '../contract/index.ts'
import type { Sql } from '../storage/database/sql.ts'
import { type Asked, checkAccess, ownersVerdicts, subjectOf, type Verdict } from './access.ts'
import type { OwnedFacts } from './handler.ts'

/** Who may go on, in the order of the calls, and what was asked for at the same time. */
export interface Admission {
  readonly verdicts: readonly Verdict[]
  readonly facts?: OwnedFacts | undefined
}

/** Decides who of a batch may go on. */
export type Admit = (sql: Sql, calls: readonly Asked[]) => Promise<Admission>

/** By a question of its own. */
export const admitFirst =
  (row: Row): Admit =>
  async (sql, calls) => ({ verdicts: await checkAccess(sql, row, calls) })

const rememberedMax = 10_000

/** Nothing for calls that have nothing to ask for. */
export type Ask = (sql: Sql, calls: readonly Asked[]) => Promise<OwnedFacts> | undefined

/** For an operation whose handler asks ahead. */
export function admitAhead(row: Row, ask: Ask): Admit {
  const admitted = new LRUCache<string, true>({ max: rememberedMax })
  const nameOf = ({ ctx, params }: Asked): string => `${ctx.caller.personId} ${subjectOf(row, params)}`
  const first = admitFirst(row)
  return async (sql, calls) => {
    const names = calls.map(nameOf)
    const asked = names.every((name) => admitted.get(name)) ? ask(sql, calls) : undefined
    const admission = asked
      ? await asked.then((facts) => ({ facts, verdicts: ownersVerdicts(row, calls, facts.strategies) }))
      : await first(sql, calls)
    names.forEach((name, at) => {
      if (admission.verdicts[at] === undefined) admitted.set(name, true)
      else admitted.delete(name)
    })
    return admission
  }
}
