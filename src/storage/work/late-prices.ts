/** Prices that came when their day may have been closed, until those who hold the instrument are told. */
import type { Instant } from '../../domain/time.ts'
import { type Fragment, fragment, type Sql, type Transaction, uncounted } from '../database/sql.ts'
import { instant } from '../database/wire.ts'

/** A price that counts into the day of its moment. */
export interface LatePrice {
  readonly instrumentId: number
  readonly at: Instant
}

/** Those of an instrument that wait, the earliest moment first, and the price that was its last when they were read. */
export interface WaitingPrice extends LatePrice {
  readonly lastAt: Instant
  readonly bid: string
  readonly ask: string
}

/** Notes the prices, one of each instrument, as far as no later one has come. Its quote is locked. */
export const noteLatePrices = (tx: Transaction, prices: readonly LatePrice[]): Promise<number> => tx.run`
  update quote q set late_at = least(q.late_at, late.at)
  from unnest(${uncounted(
    prices.map(({ instrumentId }) => instrumentId),
    'bigint',
  )}, ${prices.map(({ at }) => instant(at))}::timestamptz[]) late (id, at)
  where q.instrument_id = late.id and q.quoted_at <= late.at`

/** True while some of them wait. */
export const areLatePricesWaiting: Fragment = fragment`exists (select from quote where late_at is not null)`

/** Those that wait, one row for an instrument. */
export const listLatePrices = (sql: Sql, limit: number): Promise<WaitingPrice[]> => sql.rows<WaitingPrice>`
  select instrument_id as "instrumentId", late_at as at, quoted_at as "lastAt", bid, ask
  from quote where late_at is not null order by instrument_id limit ${limit}::int`

/** Takes those away of which all is told; one that has been followed by another meanwhile waits on with it. */
export const settleLatePrices = (sql: Sql, told: readonly WaitingPrice[]): Promise<number> => sql.run`
  update quote q set late_at = null
  from unnest(${uncounted(
    told.map(({ instrumentId }) => instrumentId),
    'bigint',
  )}, ${told.map(({ at }) => instant(at))}::timestamptz[], ${told.map(({ lastAt }) => instant(lastAt))}::timestamptz[],
    ${told.map(({ bid }) => bid)}::numeric[], ${told.map(({ ask }) => ask)}::numeric[]) t (id, at, last_at, bid, ask)
  where q.instrument_id = t.id and q.late_at = t.at and q.quoted_at = t.last_at and q.bid = t.bid and q.ask = t.ask`
