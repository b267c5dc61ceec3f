/**
 * What a write begins with, asked for together with its callers' rights: one way to the database less. It takes locks, so
 * it is asked for those alone who had the right the last time: nobody holds up what is not his. A guess is all this is;
 * what the rights are now decides.
 */
import { LRUCache } from 'lru-cache'
import type { Row } from '../contract/index.ts'
import type { Sql } from '../storage/database/sql.ts'
import { type Asked, subjectOf } from './access.ts'

export interface Ahead {
  /** Nothing where somebody's right is not known. */
  ask(sql: Sql, calls: readonly Asked[]): Promise<unknown> | undefined
  /** Learns from what access has decided, in the order of the calls. */
  learn(calls: readonly Asked[], verdicts: readonly unknown[]): void
}

const rememberedMax = 10_000

/** For an operation whose handler asks ahead. */
export function createAhead(row: Row, ask: Ahead['ask']): Ahead {
  const admitted = new LRUCache<string, true>({ max: rememberedMax })
  const nameOf = ({ ctx, params }: Asked): string => `${ctx.caller.personId} ${subjectOf(row, params)}`
  return {
    ask: (sql, calls) => (calls.every((call) => admitted.get(nameOf(call))) ? ask(sql, calls) : undefined),
    learn: (calls, verdicts) => {
      calls.forEach((call, at) => {
        if (verdicts[at] === undefined) admitted.set(nameOf(call), true)
        else admitted.delete(nameOf(call))
      })
    },
  }
}
