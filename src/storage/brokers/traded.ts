/** What brokers trade, as their adapters say it: written down by workers, since nobody else knows the adapters. */
import type { Trades } from '../../domain/mirror/tradable.ts'
import { type Fragment, fragment, type Sql } from '../database/sql.ts'

export type TradesByAdapter = readonly { readonly adapter: string; readonly trades: Trades | null }[]

/** The broker `b` is served by an adapter that trades something else than is written down. */
const said = (all: TradesByAdapter): Fragment => fragment`unnest(${all.map(({ adapter }) => adapter)}::text[],
  ${all.map(({ trades }) => trades?.securityTypes.join(',') ?? null)}::text[],
  ${all.map(({ trades }) => trades?.currency ?? null)}::text[]) said (adapter, types, currency)
  where said.adapter = b.adapter
    and (b.traded_types, b.traded_currency) is distinct from (string_to_array(said.types, ','), said.currency)`

/** True while that is so of a broker. */
export const isTradesUnknown = (all: TradesByAdapter): Fragment =>
  fragment`exists (select from broker b, ${said(all)})`

/** Writes down what they trade; answers of how many brokers. */
export const saveTrades = (sql: Sql, all: TradesByAdapter): Promise<number> => sql.run`
  update broker b set traded_types = string_to_array(said.types, ','), traded_currency = said.currency
  from ${said(all)}`
