/**
 * What ledgers hold their positions at where a split is entered only now and they have traded since: bought in old units,
 * sold in new ones and the other way round, down to flat and beyond. Their executions are read again in the units of today.
 */
import type { Side } from '../domain/codes.ts'
import { type Decimal, dec, one } from '../domain/decimal.ts'
import { groupBy } from '../domain/group.ts'
import { applyFill, flat, type Position } from '../domain/position.ts'
import type { SplitRatio } from '../domain/split.ts'
import type { Instant } from '../domain/time.ts'
import { fragment, type Transaction } from './sql.ts'
import { sinceSplits } from './units-since-splits.ts'
import { instant } from './wire.ts'

export interface LateAverage {
  readonly accountId: number
  readonly setupId: number | null
  readonly avgPx: Decimal
  readonly openedAt: Instant
}

interface LateSplit {
  readonly instrumentId: number
  readonly ratio: SplitRatio
  readonly multiplies: boolean
  readonly at: Instant
}

interface Traded extends Pick<LateAverage, 'accountId' | 'setupId'> {
  readonly side: Side
  readonly quantity: string
  readonly px: string
  readonly at: Instant
}

/** Of ledgers that have traded since a split that is about to be booked. */
export async function loadLateAverages(tx: Transaction, split: LateSplit): Promise<LateAverage[]> {
  const { instrumentId, at } = split
  const traded = await tx.rows<Traded>`
    select e.account_id as "accountId", e.setup_id as "setupId", e.side, round(e.quantity * since.units, 8) as quantity,
      e.px * since.price as px, e.executed_at as at
    from execution e
    ${sinceSplits(fragment`e.instrument_id`, fragment`e.executed_at`, fragment`true`)}
    where e.instrument_id = ${instrumentId}::bigint and e.busts is null and not exists (
        select from execution b
        where b.broker_id = e.broker_id and b.account_id = e.account_id and b.busts = e.exec_id)
      and exists (select from execution n where n.account_id = e.account_id and n.instrument_id = e.instrument_id
        and n.setup_id is not distinct from e.setup_id and n.executed_at >= ${instant(at)}::timestamptz)
    order by e.executed_at, e.id`
  const ledgers = groupBy(traded, ({ accountId, setupId }) => `${accountId} ${setupId ?? 'own'}`)
  return [...ledgers.values()].flatMap((rows) => averageOf(rows, split) ?? [])
}

function averageOf(rows: readonly Traded[], { ratio, multiplies, at }: LateSplit): LateAverage | undefined {
  let position: Position = flat
  let openedAt: Instant | undefined
  for (const row of rows) {
    const told = { side: row.side, quantity: dec(row.quantity), price: dec(row.px) }
    const quantity = multiplies ? told.quantity.times(ratio.new).div(ratio.old) : told.quantity
    const fill = row.at < at ? { ...told, quantity, price: told.price.times(ratio.old).div(ratio.new) } : told
    const change = applyFill(position, fill, { securityType: 'CS', pointValue: one, fx: one })
    if (change.position.quantity.abs().equals(change.opened)) openedAt = row.at
    position = change.position
  }
  const [first] = rows
  if (!first || position.avgPx === null || openedAt === undefined) return undefined
  return { accountId: first.accountId, setupId: first.setupId, avgPx: position.avgPx, openedAt }
}
