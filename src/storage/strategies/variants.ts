/**
 * Families of strategies: which strategy is whose variant, and which of them have to be looked at. A mark is written
 * under the lock of the variant or of its parent and taken away under both.
 */
import type { SecurityType } from '../../domain/codes.ts'
import { dec } from '../../domain/decimal.ts'
import { hundredth } from '../../domain/mirror/mirror-target.ts'
import type { Instant } from '../../domain/time.ts'
import { firstMoment, hasCome } from '../database/moments.ts'
import { type Fragment, fragment, type Sql, type Transaction, uncounted } from '../database/sql.ts'
import { instant } from '../database/wire.ts'
import { type Among, isAmong } from '../work/among.ts'
import { claimStrategies } from '../work/matching.ts'
import { insertStrategy } from './strategies.ts'

export interface NewVariant {
  readonly parentId: number
  /** A person of the white-label site that the variant belongs to. */
  readonly ownerPersonId: number
  readonly name: string
  readonly scalingPercentage: number
  readonly securityTypes: readonly SecurityType[]
  /** Absent: the parent's, scaled. */
  readonly startingCash: string | undefined
  readonly createdAt: Instant
}

/** Makes a strategy that follows its parent from now on; answers its id, or what is missing for that. */
export async function insertVariant(
  tx: Transaction,
  variant: NewVariant,
): Promise<number | 'parent' | 'owner'> {
  const { parentId, ownerPersonId, scalingPercentage, createdAt } = variant
  const parent = await tx.maybe<{ startingCash: string }>`
    select starting_cash as "startingCash" from strategy
    where id = ${parentId}::bigint and is_alive
      and not exists (select from variant where strategy_id = strategy.id and ended_at is null)
    for no key update`
  if (!parent) return 'parent'
  // Nobody removes the owner until the strategy is there to be seen.
  const owner = await tx.maybe<{ siteId: number }>`
    select site_id as "siteId" from person join site on site.id = person.site_id
    where person.id = ${ownerPersonId}::bigint and person.is_alive and site.kind = 'whitelabel'
    for key share of person`
  if (!owner) return 'owner'
  const scaled = dec(parent.startingCash).times(scalingPercentage).times(hundredth)
  const id = await insertStrategy(tx, {
    startingCash: variant.startingCash ?? scaled.toFixed(),
    siteId: owner.siteId,
    ownerPersonId,
    name: variant.name,
    startedAt: instant(createdAt),
  })
  await tx.run`
    insert into variant (strategy_id, parent_id, scaling_percentage, security_types, created_at)
    values (${id}::bigint, ${parentId}::bigint, ${scalingPercentage}::int, ${variant.securityTypes}::text[],
      ${instant(createdAt)}::timestamptz)`
  await markVariants(tx, [id])
  return id
}

/** Lets a variant go on by itself; false when it is none any more. Its copies are withdrawn by a worker. */
export async function endVariant(tx: Transaction, strategyId: number, now: Instant): Promise<boolean> {
  await tx.run`select from strategy where id = ${strategyId}::bigint for no key update`
  await markVariants(tx, [strategyId])
  const ended = await tx.run`
    update variant set ended_at = ${instant(now)}::timestamptz, look_at = null
    where strategy_id = ${strategyId}::bigint and ended_at is null`
  return ended > 0
}

export interface VariantRow {
  readonly strategyId: number
  readonly name: string
  readonly parentId: number
  readonly siteId: number
  readonly scalingPercentage: number
  readonly securityTypes: readonly SecurityType[]
  readonly createdAt: Instant
}

const columns = fragment`
  v.strategy_id as "strategyId", strategy.name, v.parent_id as "parentId", strategy.site_id as "siteId",
  v.scaling_percentage as "scalingPercentage", v.security_types as "securityTypes", v.created_at as "createdAt"`

/** Variants that follow their parents, by parent; those of a site, a family or one alone where these are given. */
export const listVariants = (
  sql: Sql,
  { siteId, parentId, strategyId }: Partial<Record<'siteId' | 'parentId' | 'strategyId', number | bigint>>,
): Promise<VariantRow[]> => sql.rows<VariantRow>`
  select ${columns} from variant v join strategy on strategy.id = v.strategy_id
  where v.ended_at is null and strategy.site_id = coalesce(${siteId}::bigint, strategy.site_id)
    and v.parent_id = coalesce(${parentId}::bigint, v.parent_id)
    and v.strategy_id = coalesce(${strategyId}::bigint, v.strategy_id)
  order by v.parent_id, v.strategy_id`

/**
 * Something has happened to these strategies: their variants, and those among them that are some, are looked at. `wakes`:
 * workers are told in the same statement that there is something to do.
 */
export async function markVariants(
  sql: Sql,
  strategyIds: readonly number[],
  { wakes = false }: { readonly wakes?: boolean } = {},
): Promise<void> {
  if (strategyIds.length === 0) return
  const moved = fragment`any(${uncounted(strategyIds, 'bigint')}::bigint[])`
  const marked = fragment`
    insert into variant_mark (variant_id) select strategy_id from variant
    where ended_at is null and (strategy_id = ${moved} or parent_id = ${moved})`
  await (wakes ? sql.run`with marked as (${marked}) select pg_notify('work', '')` : sql.run`${marked}`)
}

const due = (now: Instant): Fragment => fragment`(
  select variant_id as id from variant_mark
  union select strategy_id from variant where ${hasCome(fragment`look_at`, now)})`

/** Condition: a variant has to be looked at. */
export const isVariantDue = (now: Instant): Fragment => fragment`exists (select from ${due(now)} due)`

/** When time alone makes the next variant worth a look. */
export const findNextVariantLook = firstMoment`select min(look_at) from variant`

/** A variant that is looked at, with both its strategies locked. */
export interface ClaimedVariant extends VariantRow {
  /** It follows nobody any more, or opens nothing. */
  readonly isEnded: boolean
  /** It takes orders. */
  readonly isAlive: boolean
}

/** Variants that have to be looked at, with their parents. */
export const listDueVariants = (
  sql: Sql,
  now: Instant,
  among: Among,
  limit: number,
): Promise<{ id: number; parentId: number }[]> =>
  sql.rows`
    select strategy_id as id, parent_id as "parentId" from variant
    where strategy_id in (select id from ${due(now)} due) and ${isAmong(fragment`strategy_id`, among)}
    order by strategy_id limit ${limit}::int`

/** Locks such variants with their parents and takes their marks away; what others hold stays due. */
export async function claimVariants(
  tx: Transaction,
  now: Instant,
  among: Among,
  limit: number,
): Promise<ClaimedVariant[]> {
  const named = await listDueVariants(tx, now, among, limit)
  if (named.length === 0) return []
  const isOurs = await claimStrategies(
    tx,
    named.flatMap(({ id, parentId }) => [id, parentId]),
  )
  const ids = named.filter(({ id, parentId }) => isOurs.has(id) && isOurs.has(parentId)).map(({ id }) => id)
  await tx.run`delete from variant_mark where variant_id = any(${ids}::bigint[])`
  return tx.rows<ClaimedVariant>`
    update variant v set look_at = null from strategy
    where strategy.id = v.strategy_id and v.strategy_id = any(${ids}::bigint[])
    returning ${columns}, v.ended_at is not null or not strategy.is_alive as "isEnded", strategy.is_alive as "isAlive"`
}

/** When claimed variants are looked at again without being asked. */
export async function saveLooks(
  tx: Transaction,
  looks: readonly { readonly strategyId: number; readonly at: Instant }[],
): Promise<void> {
  if (looks.length === 0) return
  await tx.run`
    update variant v set look_at = l.at
    from unnest(${looks.map(({ strategyId }) => strategyId)}::bigint[],
      ${looks.map(({ at }) => instant(at))}::timestamptz[]) l (id, at)
    where v.strategy_id = l.id`
}

/** An order that a variant has made by itself; the copied signal is null for a correction. */
export interface NewVariantOrder {
  readonly signalId: number
  readonly variantId: number
  readonly copiedSignalId: number | null
  readonly filledBefore: string
}

/** Notes whose copies new signals are. A copy that is there already makes it fail. */
export async function insertVariantOrders(
  tx: Transaction,
  orders: readonly NewVariantOrder[],
): Promise<void> {
  if (orders.length === 0) return
  const column = <K extends keyof NewVariantOrder>(name: K): NewVariantOrder[K][] =>
    orders.map((order) => order[name])
  await tx.run`
    insert into variant_order (signal_id, variant_id, copied_signal_id, filled_before, revision)
    select n.*, (select count(*) from variant_order o
      where o.variant_id = n.variant_id and o.copied_signal_id = n.copied_signal_id)
    from unnest(${column('signalId')}::bigint[], ${column('variantId')}::bigint[],
      ${column('copiedSignalId')}::bigint[], ${column('filledBefore')}::numeric[])
      n (signal_id, variant_id, copied_signal_id, filled_before)`
}
