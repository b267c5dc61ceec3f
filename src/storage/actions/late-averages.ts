/**
 * What ledgers hold their positions at where a split is entered only now and they have traded since: bought in old units,
 * sold in new ones and the other way round, down to flat and beyond. Their executions are read again in the units of today.
 */
import type { Side } from '../../domain/codes.ts'
import { type Decimal, dec, one } from '../../domain/decimal.ts'
import { chunked, groupBy } from '../../domain/group.ts'
import { applyFill, flat, type Position } from '../../domain/positions/position.ts'
import { priceAfter, type SplitRatio, unitsAfter } from '../../domain/positions/split.ts'
import type { Instant } from '../../domain/time.ts'
import { fragment, type Transaction } from '../database/sql.ts'
import { instant } from '../database/wire.ts'
import { sinceSplits } from '../market/units-since-splits.ts'

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

/** A ledger may have traded for years: read and averaged in parts, none takes longer than a transaction may rest. */
const accountsAtOnce = 200

/** Of ledgers that have traded since a split that is about to be booked. */
export async function loadLateAverages(tx: Transaction, split: LateSplit): Promise<LateAverage[]> {
  const traders = await tx.rows<Pick<Traded, 'accountId' | 'setupId'>>`
    select distinct account_id as "accountId", setup_id as "setupId" from execution
    where instrument_id = ${split.instrumentId}::bigint and executed_at >= ${instant(split.at)}::timestamptz
    order by 1`
  const names = new Set(traders.map(nameOf))
  const averages: LateAverage[] = []
  for (const ids of chunked([...new Set(traders.map(({ accountId }) => accountId))], accountsAtOnce)) {
    const cuts = groupBy(await loadCuts(tx, split, ids), nameOf)
    const ledgers = groupBy(await loadTraded(tx, split, ids), nameOf)
    for (const [name, rows] of ledgers)
      if (names.has(name)) averages.push(...averageOf(rows, cuts.get(name) ?? [], split))
  }
  return averages
}

const nameOf = ({ accountId, setupId }: Pick<Traded, 'accountId' | 'setupId'>): string =>
  `${accountId} ${setupId ?? 'own'}`

/** What these accounts executed and was not taken back, in units of today. */
async function loadTraded(
  tx: Transaction,
  { instrumentId }: LateSplit,
  accountIds: readonly number[],
): Promise<Traded[]> {
  const rows = await tx.rows<Traded & { readonly execId: string; readonly busts: string | null }>`
    select e.account_id as "accountId", e.setup_id as "setupId", e.exec_id as "execId", e.busts, e.side,
      round(e.quantity * since.units, 8) as quantity, e.px * since.price as px, e.executed_at as at
    from execution e
    ${sinceSplits(fragment`e.instrument_id`, fragment`e.executed_at`, fragment`true`)}
    where e.account_id = any(${accountIds}::bigint[]) and e.instrument_id = ${instrumentId}::bigint
    order by e.executed_at, e.id`
  const busted = new Set(rows.flatMap(({ accountId, busts }) => (busts ? [`${accountId} ${busts}`] : [])))
  return rows.filter(({ accountId, execId, busts }) => !busts && !busted.has(`${accountId} ${execId}`))
}

/** What a split paid for instead of units; signed as the position. */
interface Cut extends Pick<LateAverage, 'accountId' | 'setupId'> {
  readonly quantity: string
  readonly at: Instant
}

/** What splits that were booked before have cut off of these accounts' ledgers, in units of today. */
const loadCuts = (
  tx: Transaction,
  { instrumentId }: LateSplit,
  accountIds: readonly number[],
): Promise<Cut[]> =>
  tx.rows<Cut>`
    select j.account_id as "accountId", j.setup_id as "setupId", c.takes_effect_at as at,
      round((j.quantity_before * c.new_units / c.old_units - j.quantity_before - j.quantity_change) * since.units, 8)
        as quantity
    from corporate_action c join account_adjustment j on j.action_id = c.id
    ${sinceSplits(fragment`c.instrument_id`, fragment`c.takes_effect_at`, fragment`true`)}
    where c.instrument_id = ${instrumentId}::bigint and c.kind = 'split' and not c.resizes
      and j.account_id = any(${accountIds}::bigint[]) and j.quantity_before <> 0
    order by c.takes_effect_at`

function averageOf(
  rows: readonly Traded[],
  cuts: readonly Cut[],
  { ratio, multiplies, at }: LateSplit,
): LateAverage[] {
  const unitsOf = (told: { readonly quantity: string; readonly at: Instant }): Decimal =>
    multiplies && told.at < at ? unitsAfter(dec(told.quantity), ratio) : dec(told.quantity)
  let position: Position = flat
  let openedAt: Instant | undefined
  let passed = 0
  for (const row of rows) {
    for (let cut = cuts[passed]; cut && cut.at <= row.at; cut = cuts[++passed])
      position = withoutCut(position, unitsOf(cut))
    const px = dec(row.px)
    const price = row.at < at ? priceAfter(px, ratio) : px
    const fill = { side: row.side, quantity: unitsOf(row), price }
    const change = applyFill(position, fill, { securityType: 'CS', pointValue: one, fx: one })
    if (change.position.quantity.abs().equals(change.opened)) openedAt = row.at
    position = change.position
  }
  const [first] = rows
  if (!first || position.avgPx === null || openedAt === undefined) return []
  return [{ accountId: first.accountId, setupId: first.setupId, avgPx: position.avgPx, openedAt }]
}

function withoutCut(position: Position, cut: Decimal): Position {
  const quantity = position.quantity.minus(cut)
  return quantity.isZero() ? flat : { ...position, quantity }
}
