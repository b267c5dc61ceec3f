/** The brokers that Autotrade can use. */
import { type BrokerRow, listBrokers } from '../../storage/accounts/accounts.ts'
import type { Handler } from '../handler.ts'

const shownBroker = (row: BrokerRow) => ({
  Id: row.id,
  Name: row.name,
  IsEnabled: row.isEnabled,
  ConnectionName: row.connectionName,
})

/** Brokers in the order of their ids. */
export const getBrokers: Handler<'GetBrokers'> = async (ctx, { IncludeDisabled }) => ({
  results: (await listBrokers(ctx.sql, IncludeDisabled)).map(shownBroker),
})
