/** Who has come to the platform, and how: handshakes, not views of pages. */
import type { Instant } from '../../domain/time.ts'
import type { Sql } from '../database/sql.ts'
import { instant } from '../database/wire.ts'

export interface Arrival {
  readonly requestId: string
  readonly personId: number
  readonly siteId: number
  readonly ipAddress: string
  readonly at: Instant
}

/** A customer is led here by his site, by the address of a request. What comes by it again is no new sign-in. */
export const saveArrival = (sql: Sql, arrival: Arrival): Promise<number> =>
  sql.run`
    insert into sign_in (site_id, person_id, kind, outcome, ip_address, occurred_at, approval_request_id)
    values (${arrival.siteId}::bigint, ${arrival.personId}::bigint, 'sso', 'success', ${arrival.ipAddress},
      ${instant(arrival.at)}::timestamptz, ${arrival.requestId}::uuid)
    on conflict (approval_request_id) do nothing`
