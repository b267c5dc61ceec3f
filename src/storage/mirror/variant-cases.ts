/**
 * What a variant's next orders are decided from: both strategies' positions and orders, arranged as AutoSync reads an
 * account and its strategy. The caller holds the locks of both strategies.
 */
import { dec } from '../../domain/decimal.ts'
import { groupBy } from '../../domain/group.ts'
import { insufficientBuyingPower, positionTooLarge } from '../../domain/margin/model-account.ts'
import type { Refusal } from '../../domain/mirror/mirror-sync-plan.ts'
import type { SyncInput, SyncOrder } from '../../domain/mirror/mirror-sync-state.ts'
import { variantSettings } from '../../domain/mirror/variant.ts'
import type { Instant } from '../../domain/time.ts'
import { ended, live } from '../database/order-statuses.ts'
import { type Fragment, fragment, type Sql, type Transaction } from '../database/sql.ts'
import type { ClaimedVariant } from '../strategies/variants.ts'
import { notTried, type TradingEnds, tradingEnds } from './not-tried.ts'
import { driftGraceSeconds, finishedSignals, type OrderFacts, orderOf, signalOf } from './sync-cases.ts'
import {
  type HeldRow,
  listInstruments,
  listSignals,
  listStrategyPositions,
  type SyncInstrumentRow,
  type SyncOrderRow,
  type SyncSignalRow,
} from './sync-facts.ts'

/** An order that a variant has made by itself; of a correction `sourceId` is 0. */
export interface VariantOrderRow
  extends OrderFacts,
    Pick<
      SyncOrderRow,
      'sourceId' | 'instrumentId' | 'timeInForce' | 'signalStatus' | 'signalEndedAt' | 'signalDoNotSyncToOpen'
    > {
  readonly variantId: number
  readonly replaces: number | null
  /** The variant's own group of exits that it is in. */
  readonly ocaGroupId: number | null
}

/** A variant with the rows behind the names that its plan uses. */
export interface VariantCase {
  readonly variant: ClaimedVariant
  readonly input: SyncInput
  /**
   * Symbols whose last order the variant's own book rejected, and in which the parent has done nothing since, and those
   * whose trading ends.
   */
  readonly rejected: ReadonlyMap<string, Refusal>
  /** By symbol. */
  readonly instruments: ReadonlyMap<string, SyncInstrumentRow>
  /** By the id that the plan names. */
  readonly orders: ReadonlyMap<string, VariantOrderRow>
  readonly signals: ReadonlyMap<number, SyncSignalRow>
}

/** Copies of signals that were replaced are copies of what replaced them. */
async function followReplacements(tx: Transaction, variantIds: readonly number[]): Promise<void> {
  for (;;) {
    const moved = await tx.run`
      update variant_order o set copied_signal_id = s.id from signal s
      where s.replaces_signal_id = o.copied_signal_id and o.variant_id = any(${variantIds}::bigint[])
        and s.status <> '8' and not exists (
          select from variant_order other where other.variant_id = o.variant_id and other.copied_signal_id = s.id)`
    if (moved === 0) return
  }
}

/** Orders at work, and finished copies of signals at work, oldest first. */
const listOrders = (
  sql: Sql,
  variantIds: readonly number[],
  signalIds: readonly number[],
): Promise<VariantOrderRow[]> =>
  sql.rows<VariantOrderRow>`
    select o.variant_id as "variantId", s.id, case when o.copied_signal_id is null then 'Y' else 'S' end as source,
      coalesce(o.copied_signal_id, 0) as "sourceId", s.instrument_id as "instrumentId", s.side,
      s.ord_type as "ordType", s.time_in_force as "timeInForce", s.position_effect as "positionEffect",
      s.order_qty as "orderQty", s.cum_qty as "cumQty", s.limit_px as "limitPx", s.stop_px as "stopPx", s.status,
      s.signal_type as "signalType", o.filled_before as "signalFilledBefore", s.replaces_signal_id as replaces,
      s.oca_group_id as "ocaGroupId",
      copied.status as "signalStatus", copied.ended_at as "signalEndedAt", false as "signalDoNotSyncToOpen"
    from variant_order o join signal s on s.id = o.signal_id left join signal copied on copied.id = o.copied_signal_id
    where o.variant_id = any(${variantIds}::bigint[])
      and (s.status in ${live} or o.copied_signal_id = any(${signalIds}::bigint[]))
    order by s.id`

interface RejectionRow extends Refusal {
  readonly variantId: number
  readonly instrumentId: number
}

/** What the parent has ordered since; live and ended signals have an index each. */
const laterOfParent = (statuses: Fragment): Fragment => fragment`
  select from signal p where p.strategy_id = v.parent_id and p.instrument_id = last.instrument_id
    and p.id > last.id and p.status in ${statuses}`

/** The last order of each symbol, where the account could not bear it and the parent has done nothing since. */
const listRejections = (sql: Sql, variantIds: readonly number[]) =>
  sql.rows<RejectionRow>`
    select v.strategy_id as "variantId", last.instrument_id as "instrumentId",
      coalesce(last.reject_text, 'rejected') as text, last.position_effect = 'C' as closes
    from variant v cross join lateral (
      select distinct on (s.instrument_id) s.* from variant_order o join signal s on s.id = o.signal_id
      where o.variant_id = v.strategy_id order by s.instrument_id, s.id desc
    ) last
    where v.strategy_id = any(${variantIds}::bigint[]) and (last.status = '8' or last.info = any(${[insufficientBuyingPower, positionTooLarge]}))
      and not exists (${laterOfParent(live)}) and not exists (${laterOfParent(ended)})`

/** One case per variant, in their order. */
export async function loadVariantCases(
  tx: Transaction,
  variants: readonly ClaimedVariant[],
  now: Instant,
): Promise<VariantCase[]> {
  const ids = variants.map(({ strategyId }) => strategyId)
  await followReplacements(tx, ids)
  const parents = [...new Set(variants.map(({ parentId }) => parentId))]
  const [held, signals, rejections] = await Promise.all([
    listStrategyPositions(tx, [...parents, ...ids]),
    listSignals(tx, parents, { alsoUnplanned: true }),
    listRejections(tx, ids),
  ])
  const orders = await listOrders(
    tx,
    ids,
    signals.map(({ id }) => id),
  )
  const named = [...held, ...signals, ...orders]
  const rows = await listInstruments(tx, [...new Set(named.map(({ instrumentId }) => instrumentId))])
  const facts: Facts = {
    instruments: new Map(rows.map((row) => [row.id, row])),
    ends: tradingEnds(rows, now),
    held: groupBy(held, ({ ownerId }) => ownerId),
    signals: groupBy(signals, ({ strategyId }) => strategyId),
    orders: groupBy(orders, ({ variantId }) => variantId),
    rejections: groupBy(rejections, ({ variantId }) => variantId),
  }
  return variants.map((variant) => caseOf(variant, facts, now))
}

interface Facts {
  readonly instruments: ReadonlyMap<number, SyncInstrumentRow>
  readonly ends: TradingEnds
  readonly held: ReadonlyMap<number, readonly HeldRow[]>
  readonly signals: ReadonlyMap<number, readonly SyncSignalRow[]>
  readonly orders: ReadonlyMap<number, readonly VariantOrderRow[]>
  readonly rejections: ReadonlyMap<number, readonly RejectionRow[]>
}

function caseOf(variant: ClaimedVariant, facts: Facts, now: Instant): VariantCase {
  const { strategyId, parentId, securityTypes, scalingPercentage, isEnded, isAlive } = variant
  const { instruments } = facts
  const symbolOf = (id: number): string => instruments.get(id)?.symbol ?? ''
  const isOurs = ({ instrumentId }: { instrumentId: number }): boolean =>
    securityTypes.includes(instruments.get(instrumentId)?.securityType ?? 'CS')
  const positions = (rows: readonly HeldRow[] | undefined) =>
    new Map((rows ?? []).map(({ instrumentId, quantity }) => [symbolOf(instrumentId), dec(quantity)]))
  // What closes a position of one that takes no orders stays at work: no other order could take its place.
  const orders = (facts.orders.get(strategyId) ?? []).filter((row) => isAlive || row.positionEffect === 'O')
  // A variant that has ended withdraws what it still works and keeps what it holds.
  const theirs = isEnded ? [] : (facts.signals.get(parentId) ?? []).filter(isOurs)
  const ours = isEnded ? [] : (facts.held.get(strategyId) ?? [])
  const bySymbol = new Map([...instruments.values()].map((row) => [row.symbol, row]))
  const settings = variantSettings({ securityTypes, scalingPercentage: dec(scalingPercentage) })
  return {
    variant,
    input: {
      strategyPositions: positions(isEnded ? [] : facts.held.get(parentId)?.filter(isOurs)),
      accountPositions: positions(ours),
      // A variant follows every order, also one that accounts shall not open later.
      signals: theirs.map((row) => ({
        ...signalOf(row, symbolOf(row.instrumentId)),
        doNotSyncToOpen: false,
      })),
      finished: isEnded ? new Map() : finishedSignals(orders, now),
      orders: chainsOf(orders, symbolOf),
      termsOf: (symbol) => ({
        assetClass: bySymbol.get(symbol)?.securityType ?? 'CS',
        settings,
        willSyncToOpen: true,
        referencePrice: null,
      }),
      exclusions: new Map(),
      chaseFilled: true,
      isSyncEnabled: true,
      driftGraceSeconds,
    },
    rejected: notTried(
      (facts.rejections.get(strategyId) ?? []).map((refusal) => [symbolOf(refusal.instrumentId), refusal]),
      facts.ends,
    ),
    instruments: bySymbol,
    orders: new Map(orders.map((row) => [`${row.id}`, row])),
    signals: new Map(theirs.map((row) => [row.id, row])),
  }
}

/** Orders that replaced each other are one. */
function chainsOf(rows: readonly VariantOrderRow[], symbolOf: (id: number) => string): SyncOrder[] {
  const roots = new Map<number, number>()
  for (const { id, replaces } of rows) roots.set(id, roots.get(replaces ?? 0) ?? id)
  return [...groupBy(rows, ({ id }) => roots.get(id)).values()].map((chain) => {
    const { sourceId, instrumentId } = chain[0]
    return orderOf(chain, sourceId === 0 ? null : sourceId, symbolOf(instrumentId))
  })
}
