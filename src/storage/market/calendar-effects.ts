/** What splits and the ends of contracts do in these days to what accounts hold, as far as brokers may not agree yet. */

import { dec, zero } from '../../domain/decimal.ts'
import { calendarNames, nextOpen } from '../../domain/market/calendar.ts'
import { parseSymbol } from '../../domain/market/symbol.ts'
import type { NearEffects } from '../../domain/positions/broker-lag.ts'
import { dayLength, type Instant } from '../../domain/time.ts'
import { type Fragment, fragment, type Sql } from '../database/sql.ts'
import { instant } from '../database/wire.ts'

/** From the close of a Friday to the opening after a long weekend. */
const lag = 4 * dayLength

/**
 * Whether an action `a` on what the instrument `i` trades as may be done at brokers by now, in the night before its
 * opening at the earliest: as long as a session runs before that, they count in the units of then.
 */
export const mayBeDone = (now: Instant): Fragment => fragment`(
  a.takes_effect_at <= (
    select opens_at from unnest(${calendarNames}::text[],
      ${calendarNames.map((name) => instant(nextOpen(name, now)))}::timestamptz[]) c (name, opens_at)
    where c.name = i.calendar))`

/** A broker may take a delisted stock `i` out of an account, and pay for it, weeks before or after that is known here. */
const isDelisted = fragment`(i.security_type = 'CS' and i.ended_at is not null)`

interface EndedRow {
  readonly accountId: number
  readonly symbol: string
  readonly added: string
  readonly taken: string
}

interface SplitRow {
  readonly symbol: string
  readonly newUnits: string
  readonly oldUnits: string
  readonly isBooked: boolean
}

/** Answers what the calendar does in these days to an account's position in a symbol. */
export async function loadNearEffects(
  sql: Sql,
  positions: readonly { readonly accountId: number; readonly symbol: string }[],
  now: Instant,
): Promise<(position: { readonly accountId: number; readonly symbol: string }) => NearEffects> {
  if (positions.length === 0) return () => ({ added: zero, taken: zero, splits: [], isListedAnew: false })
  const accountIds = [...new Set(positions.map(({ accountId }) => accountId))]
  const symbols = [...new Set(positions.map(({ symbol }) => symbol))]
  const ended = await sql.rows<EndedRow>`
    select account_id as "accountId", symbol, coalesce(sum(quantity) filter (where quantity > 0), 0) as added,
      coalesce(-sum(quantity) filter (where quantity < 0), 0) as taken
    from (
      select e.account_id, i.symbol, case e.side when '1' then e.quantity else -e.quantity end as quantity
      from execution e join instrument i on i.id = e.instrument_id
      where e.account_id = any(${accountIds}::bigint[]) and e.order_id is null and starts_with(e.exec_id, 'END-')
        and (e.executed_at > ${instant(now - lag)}::timestamptz or ${isDelisted}) and i.symbol = any(${symbols}::text[])
      union all
      select p.account_id, i.symbol, p.quantity from account_position p join instrument i on i.id = p.instrument_id
      where p.account_id = any(${accountIds}::bigint[]) and ${isDelisted} and i.symbol = any(${symbols}::text[])
    ) effect
    group by 1, 2`
  const splits = await sql.rows<SplitRow>`
    select i.symbol, a.new_units as "newUnits", a.old_units as "oldUnits", a.booked_at is not null as "isBooked"
    from corporate_action a join instrument i on i.id = a.instrument_id
    where a.kind = 'split' and not a.resizes and i.symbol = any(${[...symbols, ...symbols.flatMap(stocksOf)]}::text[])
      and a.takes_effect_at between ${instant(now - lag)}::timestamptz and ${instant(now + lag)}::timestamptz`
  const byPosition = new Map(ended.map((row) => [`${row.accountId} ${row.symbol}`, row]))
  return ({ accountId, symbol }) => {
    const { added, taken } = byPosition.get(`${accountId} ${symbol}`) ?? { added: 0, taken: 0 }
    return {
      added: dec(added),
      taken: dec(taken),
      isListedAnew: splits.some((row) => stocksOf(symbol).includes(row.symbol)),
      splits: splits
        .filter((row) => row.symbol === symbol)
        .map((row) => ({ new: dec(row.newUnits), old: dec(row.oldUnits), isBooked: row.isBooked })),
    }
  }
}

/** What an option of this symbol may be on: the clearing house puts a digit behind the root of some. */
function stocksOf(symbol: string): string[] {
  const parts = parseSymbol(symbol, 'OPT', 0)
  if (typeof parts === 'string' || parts.securityType !== 'OPT') return []
  return [parts.root, parts.root.replace(/\d$/, '')]
}
