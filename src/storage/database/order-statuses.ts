/** Statuses of orders as statements ask for them: spelled out, as partial indexes spell them. */
import { liveStatuses } from '../../domain/codes.ts'
import type { Fragment } from './sql.ts'

/** Those of an order that may still trade. */
export const live: Fragment = { strings: [`('${liveStatuses.join("', '")}')`], values: [] }
