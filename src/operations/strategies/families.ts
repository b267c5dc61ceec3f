/** Whether the variants of a site's strategy families hold what their parents imply, and if not, since when. */
import { directionOf } from '../../domain/codes.ts'
import { type Decimal, dec } from '../../domain/decimal.ts'
import { groupBy } from '../../domain/group.ts'
import {
  differsSince,
  expectedQuantity,
  type FamilyFill,
  type FamilySplit,
  type VariantTerms,
} from '../../domain/mirror/variant.ts'
import { type Instant, second } from '../../domain/time.ts'
import type { Sql } from '../../storage/database/sql.ts'
import {
  listFamilyFills,
  listFamilySplits,
  listVariantPositions,
  type VariantPositionRow,
} from '../../storage/mirror/variant-positions.ts'
import { findSite } from '../../storage/people/sites.ts'
import { listVariants, type VariantRow } from '../../storage/strategies/variants.ts'
import { isRefused } from '../context.ts'
import type { Handler } from '../handler.ts'
import { whiteLabelSiteOf } from '../white-label.ts'

/** One symbol of a variant; `since` is null while it holds what is expected. */
interface Compared {
  readonly row: VariantPositionRow
  readonly expected: Decimal
  readonly since: Instant | null
}

/** Whether variants hold what their parent asks of them, and for how many seconds they have not. */
export const getStrategyMuxStatus: Handler<'GetStrategyMuxStatus'> = async (ctx, params) => {
  const siteId = await whiteLabelSiteOf(ctx, params.WhiteLabelSiteId)
  if (isRefused(siteId)) return siteId
  const { FamilyGuid, VariantGuid, DriftGrace } = params
  const isAll = Number(VariantGuid) === 0
  const [site, variants] = await Promise.all([
    findSite(ctx.sql, siteId),
    listVariants(ctx.sql, {
      siteId,
      ...(Number(FamilyGuid) !== 0 && { parentId: FamilyGuid }),
      ...(!isAll && { strategyId: VariantGuid }),
    }),
  ])
  const compared = await compare(ctx.sql, variants)
  const age = ({ since }: Compared): number => (since === null ? 0 : (ctx.now - since) / second)
  const synced = variants.map(({ strategyId }) => {
    const own = compared.filter(({ row }) => row.strategyId === strategyId)
    return {
      VariantGuid: strategyId,
      InSync: own.every(({ since }) => since === null),
      DriftSecs: Math.max(0, ...own.map(age)),
    }
  })
  const exceptions = compared.filter((one) => one.since !== null && age(one) > Number(DriftGrace))
  return {
    results: [
      {
        WhiteLabelSiteName: site?.name ?? '',
        Ok: exceptions.length === 0 ? '1' : '0',
        DriftGraceSecs: Number(DriftGrace),
        Summary: {
          VariantRows: variants.length,
          ActiveExceptionCount: exceptions.length,
          VariantsWithInSync: synced.filter(({ InSync }) => InSync).length,
        },
        ExceptionSummary: { ActiveExceptionCount: exceptions.length },
        SyncSummary: synced,
        SyncDetails: isAll ? [] : compared.map(shown),
        Exceptions: exceptions.map(shown),
        FamilyGuid,
        VariantGuid,
        WhiteLabelSiteId: siteId,
      },
    ],
  }
}

const shown = ({ row, expected }: Compared) => ({
  VariantGuid: row.strategyId,
  Symbol: row.symbol,
  ParentQuantity: row.parentQuantity,
  VariantQuantity: row.quantity,
  ExpectedQuantity: expected.toFixed(),
})

const termsOf = ({ scalingPercentage, securityTypes }: VariantRow): VariantTerms => ({
  scalingPercentage: dec(scalingPercentage),
  securityTypes,
})

/** Every symbol that a variant or its parent holds; only of those that differ the past is read. */
async function compare(sql: Sql, variants: readonly VariantRow[]): Promise<Compared[]> {
  const known = new Map(variants.map((variant) => [variant.strategyId, variant]))
  const positions = await listVariantPositions(sql, [...known.keys()])
  const rows = positions.map((row) => {
    const terms = termsOf(known.get(row.strategyId) as VariantRow)
    const held = { parent: dec(row.parentQuantity), variant: dec(row.quantity) }
    return { row, terms, held, expected: expectedQuantity(terms, row.securityType, held.parent) }
  })
  const different = rows.filter(({ held, expected }) => !expected.equals(held.variant))
  const pasts = await readPasts(
    sql,
    different.map(({ row }) => row),
  )
  const beginnings = new Map(
    different.map(({ row, terms, held }, index) => {
      const past = pasts[index] ?? []
      return [row, differsSince(terms, row.securityType, held, past, row.since)] as const
    }),
  )
  return rows.map(({ row, expected }) => ({ row, expected, since: beginnings.get(row) ?? null }))
}

/** What moved each of these positions since the variant is there, the newest first. */
async function readPasts(sql: Sql, rows: readonly VariantPositionRow[]) {
  const [fills, splits] = await Promise.all([listFamilyFills(sql, rows), listFamilySplits(sql, rows)])
  const filled = groupBy(fills, ({ place }) => place)
  const split = groupBy(splits, ({ place }) => place)
  return rows.map((_, index): (FamilyFill | FamilySplit)[] => {
    const own = (filled.get(index + 1) ?? []).map(({ isParent, side, quantity, at }) => ({
      quantity: dec(quantity).times(directionOf(side)),
      isParent,
      at,
    }))
    const changes = (split.get(index + 1) ?? []).map(({ parentChange, variantChange, at }) => ({
      parentChange: dec(parentChange),
      variantChange: dec(variantChange),
      at,
    }))
    // The sort is stable: what was traded in the moment of a split came after it, so it is taken back first.
    return [...own, ...changes].sort((one, other) => other.at - one.at)
  })
}
