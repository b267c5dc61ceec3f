/** What accounts hold: a sub-ledger for each setup, and one of what the owner trades himself. */
import type { Decimal } from '../../domain/decimal.ts'
import type { Instant } from '../../domain/time.ts'
import { fragment, type Transaction } from '../database/sql.ts'
import { instant } from '../database/wire.ts'

/** One instrument in one ledger. */
export interface LedgerKey {
  /** Null for what is the owner's own. */
  readonly setupId: number | null
  readonly accountId: number
  readonly instrumentId: number
}

/** A name of the key. */
export const ledgerName = ({ setupId, accountId, instrumentId }: LedgerKey): string =>
  `${accountId} ${setupId ?? 'own'} ${instrumentId}`

export interface LedgerRow extends LedgerKey {
  readonly quantity: string
  readonly avgPx: string | null
  readonly openedAt: Instant | null
}

const ledgerColumns = fragment`
  p.setup_id as "setupId", p.account_id as "accountId", p.instrument_id as "instrumentId", p.quantity,
  p.avg_px as "avgPx", p.opened_at as "openedAt"`

/** The rows of these ledgers, as far as they exist, by their names. Their accounts are locked. */
export async function loadLedgers(
  tx: Transaction,
  keys: readonly LedgerKey[],
): Promise<Map<string, LedgerRow>> {
  const setups = keys.filter(({ setupId }) => setupId !== null)
  const owners = keys.filter(({ setupId }) => setupId === null)
  const rows = await tx.rows<LedgerRow>`
    select ${ledgerColumns}
    from unnest(${setups.map(({ setupId }) => setupId)}::bigint[],
      ${setups.map(({ instrumentId }) => instrumentId)}::bigint[]) k (setup_id, instrument_id)
    join account_position p on p.setup_id = k.setup_id and p.instrument_id = k.instrument_id`
  const own =
    owners.length === 0
      ? []
      : await tx.rows<LedgerRow>`
          select ${ledgerColumns}
          from unnest(${owners.map(({ accountId }) => accountId)}::bigint[],
            ${owners.map(({ instrumentId }) => instrumentId)}::bigint[]) k (account_id, instrument_id)
          join account_position p on p.account_id = k.account_id and p.instrument_id = k.instrument_id
            and p.setup_id is null`
  return new Map([...rows, ...own].map((row) => [ledgerName(row), row]))
}

export interface LedgerChange extends LedgerKey {
  /** Null beside a setup that is. */
  readonly strategyId: number | null
  readonly quantity: Decimal
  readonly avgPx: Decimal | null
  readonly openedAt: Instant | null
}

/** Writes ledgers as they are now. A stopped setup whose ledger moved again has to be closed again. */
export async function saveLedgers(tx: Transaction, ledgers: readonly LedgerChange[]): Promise<void> {
  if (ledgers.length === 0) return
  const column = <K extends keyof LedgerChange>(name: K): LedgerChange[K][] => ledgers.map((row) => row[name])
  await tx.run`
    with saved as (
      insert into account_position (setup_id, instrument_id, account_id, strategy_id, quantity, avg_px, opened_at)
      select * from unnest(${column('setupId')}::bigint[], ${column('instrumentId')}::bigint[],
        ${column('accountId')}::bigint[], ${column('strategyId')}::bigint[], ${column('quantity')}::numeric[],
        ${column('avgPx')}::numeric[], ${ledgers.map(({ openedAt }) => instant(openedAt))}::timestamptz[])
      on conflict (setup_id, instrument_id, account_id) do update
        set quantity = excluded.quantity, avg_px = excluded.avg_px, opened_at = excluded.opened_at
      returning setup_id
    )
    update setup set closed_at = null
    where id in (select setup_id from saved) and closed_at is not null`
}
