/** What white-label sites resell: their catalogs, their plans and who pays for Autotrade there. */
import type { CatalogFacts } from '../../domain/billing/catalog.ts'
import type { Sql, Transaction } from '../database/sql.ts'
import { instant } from '../database/wire.ts'

/** Whether a site is a white-label site. */
export const isWhiteLabelSite = async (sql: Sql, siteId: number | bigint): Promise<boolean> =>
  (
    await sql.one<{ found: boolean }>`
      select exists (select from site where id = ${siteId}::bigint and kind = 'whitelabel') as found`
  ).found

export interface CatalogRow {
  id: number
  strategyId: number
  originalName: string
  displayName: string
  basePrice: string
  markup: string
  shortDescription: string | null
  isAlive: boolean
}

/** The catalog of a site, in the order in which it grew. Money is decimal text. */
export const listCatalog = (sql: Sql, siteId: number): Promise<CatalogRow[]> =>
  sql.rows<CatalogRow>`
    select c.id, c.strategy_id as "strategyId", s.name as "originalName",
      coalesce(c.display_name, s.name) as "displayName", round(s.monthly_cost, 2) as "basePrice",
      round(c.markup::numeric / 100, 2) as markup, s.short_description as "shortDescription",
      s.is_alive as "isAlive"
    from site_catalog c join strategy s on s.id = c.strategy_id
    where c.site_id = ${siteId}::bigint order by c.id`

/**
 * Strategies as the site sees them; a private one of others does not exist for it, unless it had it in its catalog. Who
 * acts on the counts holds the strategies' locks, as everybody does who subscribes.
 */
export async function loadCatalogFacts(
  sql: Sql,
  siteId: number,
  strategyIds: readonly (number | bigint)[],
): Promise<Map<number, CatalogFacts>> {
  const rows = await sql.rows<CatalogFacts & { id: number }>`
    select s.id, c.id is not null as "isListed",
      c.id is null and s.is_private and s.site_id <> ${siteId}::bigint as "isHidden", s.is_resellable as "isResellable",
      (select count(*)::int from subscription
        where subscription.strategy_id = s.id and subscription.site_id = ${siteId}::bigint
          and subscription.status in ('active', 'pending') and subscription.person_id <> s.owner_person_id
          and (subscription.kind = 'paid' or subscription.base_price + subscription.markup > 0)) as "payingSubscribers"
    from strategy s left join site_catalog c on c.strategy_id = s.id and c.site_id = ${siteId}::bigint
      left join site_catalog_past past on past.strategy_id = s.id and past.site_id = ${siteId}::bigint
    where s.id = any(${strategyIds}::bigint[])
      and (c.id is not null or past.strategy_id is not null or not s.is_private or s.site_id = ${siteId}::bigint)`
  return new Map(rows.map((row) => [row.id, row]))
}

/** Puts strategies into a catalog: under their own names and prices, or under those that the site had given them. */
export async function addToCatalog(
  sql: Sql,
  siteId: number,
  strategyIds: readonly (number | bigint)[],
  addedAt: number,
): Promise<void> {
  await sql.run`
    insert into site_catalog (site_id, strategy_id, display_name, markup, added_at)
    select ${siteId}::bigint, id, past.display_name, coalesce(past.markup, 0), ${instant(addedAt)}::timestamptz
    from unnest(${strategyIds}::bigint[]) id
      left join site_catalog_past past on past.site_id = ${siteId}::bigint and past.strategy_id = id
    on conflict (site_id, strategy_id) do nothing`
}

/** Takes strategies out of a catalog; what the site calls and asks for them is kept, should they come back. */
export async function removeFromCatalog(
  sql: Sql,
  siteId: number,
  strategyIds: readonly (number | bigint)[],
): Promise<void> {
  await sql.run`
    with removed as (
      delete from site_catalog where site_id = ${siteId}::bigint and strategy_id = any(${strategyIds}::bigint[])
      returning site_id, strategy_id, display_name, markup
    )
    insert into site_catalog_past (site_id, strategy_id, display_name, markup) select * from removed
    on conflict (site_id, strategy_id) do update set display_name = excluded.display_name, markup = excluded.markup`
}

/**
 * Changes what is given of an entry, from the next terms on: its name, and its markup in dollars. False without an
 * entry. The strategy is locked: who subscribes at the same moment is charged what he has agreed to.
 */
export async function changeCatalogEntry(
  tx: Transaction,
  siteId: number,
  strategyId: number,
  entry: { readonly name: string | undefined; readonly markup: string | undefined },
): Promise<boolean> {
  await tx.run`select from strategy where id = ${strategyId}::bigint for no key update`
  const changed = await tx.run`
    update site_catalog set display_name = coalesce(${entry.name}::text, display_name),
      markup = coalesce((${entry.markup}::numeric * 100)::bigint, markup)
    where site_id = ${siteId}::bigint and strategy_id = ${strategyId}::bigint`
  return changed > 0
}

export interface PlanRow {
  id: number
  name: string
  termDays: 30 | 365
  strategiesIncluded: number
  price: string
  currency: string
}

/** The investor plans that a site offers, the cheapest first. */
export const listPlans = (sql: Sql, siteId: number): Promise<PlanRow[]> =>
  sql.rows<PlanRow>`
    select id, name, term_days as "termDays", strategies_included as "strategiesIncluded",
      price::numeric / 100 as price, currency
    from plan where site_id = ${siteId}::bigint and kind = 'investor' and is_offered order by price, id`

export interface FeePolicy {
  payer: 'customer' | 'site' | 'none'
  tiers: { fromAccounts: number; toAccounts: number | null; price: string; currency: string }[]
}

/** Who pays for Autotrade at a site, and by which tiers, as both stand together. */
export async function findFeePolicy(sql: Sql, siteId: number): Promise<FeePolicy> {
  const rows = await sql.rows<{ payer: FeePolicy['payer'] } & (FeePolicy['tiers'][number] | NoTier)>`
    select coalesce(p.payer, 'none') as payer, t.from_accounts as "fromAccounts", t.to_accounts as "toAccounts",
      t.price_per_account::numeric / 100 as price, t.currency
    from (select ${siteId}::bigint as id) site left join site_fee_policy p on p.site_id = site.id
    left join site_fee_tier t on t.site_id = site.id order by t.from_accounts`
  const tiers = rows.flatMap(({ payer: _, ...tier }) => (tier.fromAccounts === null ? [] : [tier]))
  return { payer: rows[0]?.payer ?? 'none', tiers }
}

/** The one row of a site without tiers. */
type NoTier = { readonly [Name in keyof FeePolicy['tiers'][number]]: null }

/** Says who pays for Autotrade at a site, with its tiers in dollars for each account. */
export async function saveFeePolicy(
  tx: Transaction,
  siteId: number,
  {
    payer,
    tiers,
  }: {
    readonly payer: FeePolicy['payer']
    readonly tiers: readonly Pick<FeePolicy['tiers'][number], 'fromAccounts' | 'toAccounts' | 'price'>[]
  },
): Promise<void> {
  await tx.run`
    insert into site_fee_policy (site_id, payer) values (${siteId}::bigint, ${payer})
    on conflict (site_id) do update set payer = excluded.payer`
  await tx.run`delete from site_fee_tier where site_id = ${siteId}::bigint`
  await tx.run`
    insert into site_fee_tier (site_id, from_accounts, to_accounts, price_per_account)
    select ${siteId}::bigint, t.from_accounts, t.to_accounts, (t.price * 100)::bigint
    from unnest(${tiers.map(({ fromAccounts }) => fromAccounts)}::int[],
      ${tiers.map(({ toAccounts }) => toAccounts)}::int[], ${tiers.map(({ price }) => price)}::numeric[])
      t (from_accounts, to_accounts, price)`
}
