/** Statuses of orders as statements ask for them: spelled out, as partial indexes spell them. */
import { endedStatuses, liveStatuses, type OrdStatus } from '../../domain/codes.ts'
import type { Fragment } from './sql.ts'

const spelled = (statuses: readonly OrdStatus[]): Fragment => ({
  strings: [`('${statuses.join("', '")}')`],
  values: [],
})

/** Those of an order that may still trade. */
export const live: Fragment = spelled(liveStatuses)

/** Those of an order that has come to an end. */
export const ended: Fragment = spelled(endedStatuses)
